package rule

import (
	"strconv"
	"unicode/utf8"

	"rehome/formats/store"
)

// Finding is one breach of a rule.
type Finding struct {
	Rule string // its id
	// At is where: File is a slash path inside the store, "" for the store
	// itself where that is a file or nothing nearer can be named.
	At      store.Addr
	Pointer string // JSON pointer inside the record; "" for all of it
	// Says what is wrong here, where the rule's title does not say it all. It
	// holds no content of the store but names and numbers that people need to
	// find the place, and never a secret. Foreign names are quoted (%q).
	Says string
}

// Inquiry is what is asked of one store. A codec calls its functions from any
// number of goroutines; what it reports does not depend on how many those are.
type Inquiry struct {
	Layers Layers
	// Found is told of every breach, in any order.
	Found func(Finding)
	// Schema gives what holds documents against a published schema, for one
	// goroutine. It is nil unless the layer is asked for.
	Schema func(name string) Validator
}

// Validator holds one JSON document against its schema. The error names the
// place in the document and the cause, a line each, and repeats no value of it.
type Validator func(doc []byte) error

// Asks reports whether a layer is asked for.
func (q *Inquiry) Asks(l Layer) bool { return q.Layers.Has(l) }

// Breach reports a finding of a rule.
func (q *Inquiry) Breach(id string, at store.Addr, says string) {
	q.Found(Finding{Rule: id, At: at, Says: says})
}

// Many counts in words, for Says: 1 blob, 7 blobs.
func Many(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.FormatInt(n, 10) + " " + noun + "s"
}

// Clip returns the beginning of a foreign word, enough to know it by. It does
// not cut a character in two.
func Clip(s string) string {
	const max = 80
	if len(s) <= max {
		return s
	}
	n := max
	for n > max-utf8.UTFMax && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

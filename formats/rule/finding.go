package rule

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"rehome/formats/store"
)

// Finding is one place where a rule is broken.
type Finding struct {
	Rule string // its id
	// At is the place: File is a slash path inside the store, or "" for the store
	// itself if that is a file or no closer place is known.
	At      store.Addr
	Pointer string // JSON pointer inside the record; "" for all of it
	// Message is the wording of what is wrong here, where the rule's title does not
	// say it all: a format for fmt if there are Args, else the text itself. It may
	// change with any version, so nothing but Text reads it.
	Message string
	// Args are the names and numbers that people need to find the place, and no
	// other content of the store. With rule, address and pointer they identify the
	// finding, except for an Amount, Words and an error. Foreign names are quoted
	// (%q).
	Args []any
}

// Text returns what is wrong here in words, "" if the rule's title says it all.
func (f *Finding) Text() string {
	if len(f.Args) == 0 {
		return f.Message
	}
	return fmt.Sprintf(f.Message, f.Args...)
}

// Detach makes a finding independent of what it was read from, which the codec
// may use again.
func (f *Finding) Detach() {
	f.At.Key = f.At.Key.Clone()
	for i, a := range f.Args {
		if s, ok := a.(string); ok {
			f.Args[i] = strings.Clone(s)
		}
	}
}

// Pass is what to check in one store. A codec may call its functions from any
// number of goroutines; its findings do not depend on that number.
type Pass struct {
	Layers Layers
	// Report takes every finding, in any order.
	Report func(Finding)
	// Schema returns a validator for a published schema, for use by one goroutine.
	// It is nil unless the schema layer is checked.
	Schema func(name string) Validator
}

// Validator checks one JSON document against a schema, and returns why it does not
// match: nothing if it does.
type Validator func(doc []byte) []Cause

// Cause is one reason why a document does not match its schema. It repeats no
// value of the document.
type Cause struct {
	Pointer string // JSON pointer to the value; "" for the whole document
	Message string // what is wrong: a format for fmt if there are Args
	Args    []any
}

// Enabled reports whether a layer is checked.
func (q *Pass) Enabled(l Layer) bool { return q.Layers.Has(l) }

// Reportf reports a finding of a rule.
func (q *Pass) Reportf(id string, at store.Addr, says string, args ...any) {
	q.Report(Finding{Rule: id, At: at, Message: says, Args: args})
}

// Amount is how many there are of something. A finding stays the same when it
// grows, as a store does that is in use.
type Amount struct {
	N    int64
	Noun string // in the singular; "" for the number alone
}

// Words are an argument that is only wording.
type Words string

// Identity returns what identifies the finding besides its rule, address and
// pointer. No wording is in it, so that it is the same in every version.
func (f *Finding) Identity() (out []string) {
	for _, a := range f.Args {
		switch a.(type) {
		case Amount, Words, error:
		default:
			out = append(out, fmt.Sprint(a))
		}
	}
	return out
}

// Count returns an Amount.
func Count(n int64, noun string) Amount { return Amount{n, noun} }

// String is "1 blob", "7 blobs" or "7".
func (a Amount) String() string {
	n := strconv.FormatInt(a.N, 10)
	switch {
	case a.Noun == "":
		return n
	case a.N == 1:
		return n + " " + a.Noun
	}
	return n + " " + a.Noun + "s"
}

// Clip returns the start of a foreign word, enough to recognize it.
func Clip(s string) string {
	if short := Truncate(s, 80); short != s {
		return short + "…"
	}
	return s
}

// Truncate returns at most so many bytes of a text, and no part of a character.
func Truncate(s string, most int) string {
	if len(s) <= most {
		return s
	}
	n := most
	for n > max(most-utf8.UTFMax, 0) && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

package rule

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"rehome/formats/store"
)

// Finding is one place that violates a rule.
type Finding struct {
	Rule string // its id
	// At is the place. File is a slash path inside the store, or "" for the store as
	// a whole.
	At      store.Addr
	Pointer string // JSON pointer inside the record; "" for all of it
	// Message adds to the title of the rule: a format for fmt if there are Args,
	// else plain text. It may change with any version, so only Text reads it.
	Message string
	// Args are the names and numbers that people need to find the place, and no
	// other content of the store. With rule, address and pointer they identify the
	// finding, except for arguments of the types Amount, Words and error. Names
	// from the store are quoted (%q).
	Args []any
	// Session is the id of the session that the place belongs to, "" if that is unknown
	// or several sessions share it.
	Session string
}

// Text returns the message with its arguments, "" if there is none.
func (f *Finding) Text() string {
	if len(f.Args) == 0 {
		return f.Message
	}
	return fmt.Sprintf(f.Message, f.Args...)
}

// Detach copies what the finding shares with buffers that the codec may reuse.
func (f *Finding) Detach() {
	f.At.Key = f.At.Key.Clone()
	f.Session = strings.Clone(f.Session)
	for i, a := range f.Args {
		if s, ok := a.(string); ok {
			f.Args[i] = strings.Clone(s)
		}
	}
}

// Pass is one run of the rules over a store: what to check, and where to report
// findings. Its functions are safe for concurrent use.
type Pass struct {
	Layers Layers
	// Report receives every finding, in any order.
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

// Owned returns a pass that sets the session of each finding that does not name one.
func (p *Pass) Owned(session func(*Finding) string) *Pass {
	out := *p
	out.Report = func(f Finding) {
		if f.Session == "" {
			f.Session = session(&f)
		}
		p.Report(f)
	}
	return &out
}

// OwnedBy returns a pass whose findings belong to one session.
func (p *Pass) OwnedBy(session string) *Pass {
	return p.Owned(func(*Finding) string { return session })
}

// Enabled reports whether to check a layer.
func (p *Pass) Enabled(l Layer) bool { return p.Layers.Has(l) }

// Reportf reports a finding with a formatted message.
func (p *Pass) Reportf(id string, at store.Addr, message string, args ...any) {
	p.Report(Finding{Rule: id, At: at, Message: message, Args: args})
}

// Add reports a finding at a JSON pointer of a record, if the layer of its rule is
// checked.
func (p *Pass) Add(id string, at store.Addr, pointer, message string, args ...any) {
	if p.Enabled(Lookup(id).Layer) {
		p.Report(Finding{Rule: id, At: at, Pointer: pointer, Message: message, Args: args})
	}
}

// Amount is a number of things. It does not identify a finding, because it grows
// in a store in use.
type Amount struct {
	N    int64
	Noun string // singular; "" for the number alone
}

// Words is an argument that is only wording.
type Words string

// Identity returns the arguments that identify the finding, with its rule, address
// and pointer. It has no wording, so that it is the same in every version.
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

// String returns "1 blob", "7 blobs" or "7".
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

// Clip returns the start of a text, enough to recognize it.
func Clip(s string) string {
	if short := Truncate(s, 80); short != s {
		return short + "…"
	}
	return s
}

// Truncate returns at most limit bytes of a text, without splitting a character.
func Truncate(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	n := limit
	for n > max(limit-utf8.UTFMax, 0) && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

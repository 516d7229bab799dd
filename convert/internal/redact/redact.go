package redact

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"regexp"
	"slices"
	"strings"
	"sync"

	"rehome/convert/internal/leaks"
)

// The kinds of values that are not secrets. The kind of a secret is its rule.
const (
	wordKind    = "word"
	patternKind = "pattern"
	userKind    = "user"
)

// Form is how bytes are to be read.
type Form uint8

const (
	Unknown  Form = iota // whatever they look like
	Protobuf             // a message, even if it looks like text
	Text                 // text, whatever characters are in it
)

// Redactor replaces values. First Find and Add, or Learn, are called for all bytes of a
// store, then Value. Find and Value are safe for concurrent use, each by itself.
type Redactor struct {
	scanner      *leaks.Scanner
	placeholders *regexp.Regexp
	patterns     []*regexp.Regexp
	paths        bool
	key          []byte
	known        index
	values       map[string]*value // by normal form
	list         []*value          // in the order in which they were added
	kinds        map[string]int    // number of values
	editors      sync.Pool         // of *editor
	searches     sync.Pool         // of *search
}

// New returns a Redactor that knows the words of a policy.
func New(p Policy) (*Redactor, error) {
	scanner, err := leaks.New()
	if err != nil {
		return nil, err
	}
	r := &Redactor{
		scanner: scanner, placeholders: placeholdersOf(append(scanner.Rules(), wordKind, patternKind, userKind)), patterns: p.Patterns, paths: p.Paths, key: p.Key,
		known: index{byGram: map[uint32][]spelling{}}, values: map[string]*value{}, kinds: map[string]int{},
	}
	for _, w := range p.Words {
		r.Add([]Finding{{wordKind, string(normal(nil, []byte(w)))}})
	}
	return r, nil
}

// punctuation is what clients replace in names of folders.
var punctuation = regexp.MustCompile(`[^0-9A-Za-z]`)

// Finding is a value that was found. Only Add can use it.
type Finding struct{ kind, text string }

// String returns the kind of the value.
func (f Finding) String() string { return f.kind }

// GoString returns the kind of the value.
func (f Finding) GoString() string { return f.kind }

// Learn finds values in bytes, and remembers them.
func (r *Redactor) Learn(ctx context.Context, b []byte, as Form) { r.Add(r.Find(ctx, b, as)) }

// Add remembers values.
func (r *Redactor) Add(found []Finding) {
	for _, f := range found {
		if len(f.text) < gram || r.values[f.text] != nil || r.isPlaceholder(f.kind, []byte(f.text)) {
			continue
		}
		r.kinds[f.kind]++
		v := &value{kind: f.kind, placeholder: number(f.kind, r.kinds[f.kind], r.key, []byte(f.text))}
		r.values[f.text] = v
		r.list = append(r.list, v)
		whole := f.kind == userKind || f.kind != wordKind && f.kind != patternKind && len(f.text) <= maxWhole
		r.known.add(spelling{value: v, text: []byte(f.text), whole: whole})
		if f.kind == userKind { // as clients name the folders of projects
			if name := punctuation.ReplaceAllString(f.text, "-"); name != f.text {
				r.known.add(spelling{value: v, text: []byte(name), whole: true})
			}
		}
		if v.secret() {
			for line := range longLines(f.text) {
				r.known.add(spelling{value: v, text: []byte(line)})
			}
		}
		if other := normal(nil, []byte(`\`+f.text)); len(other) >= gram && string(other) != f.text {
			r.known.add(spelling{value: v, text: other, whole: whole, escaped: true})
		}
	}
}

// minKeyLine is from which length on a line of a secret is a secret of its own.
const minKeyLine = 20

// longLines yields the lines of a secret of several, such as a private key, that nobody can
// guess: a tool can print some of them alone. Text is none, for example in a key that is
// only described: it has more spaces than the normal form of base64.
func longLines(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		if !strings.Contains(text, "\n") {
			return
		}
		for line := range strings.SplitSeq(text, "\n") {
			line = strings.Trim(line, " \r\t")
			other := func(c rune) bool { return c != ' ' && c != '=' && (c > 255 || !isDigit(byte(c))) }
			random := strings.ContainsAny(line, "0123456789") && strings.ToLower(line) != line
			if len(line) >= minKeyLine && random && 12*strings.Count(line, " ") <= len(line) && !strings.ContainsFunc(line, other) && !yield(line) {
				return
			}
		}
	}
}

// Idle reports whether no value was added, so that nothing changes.
func (r *Redactor) Idle() bool { return len(r.list) == 0 }

// Count is how often values of a kind were replaced.
type Count struct {
	Kind           string
	Values, Places int64 // different values, and their places
}

// Secret reports whether a rule for secrets found the values.
func (c Count) Secret() bool { return (&value{kind: c.Kind}).secret() }

// Counts returns what was replaced so far, sorted by kind.
func (r *Redactor) Counts() (out []Count) {
	for _, v := range r.list {
		n := v.count.Load()
		if n == 0 {
			continue
		}
		at := slices.IndexFunc(out, func(c Count) bool { return c.Kind == v.kind })
		if at < 0 {
			at = len(out)
			out = append(out, Count{Kind: v.kind})
		}
		out[at].Values++
		out[at].Places += n
	}
	slices.SortFunc(out, func(a, b Count) int { return strings.Compare(a.Kind, b.Kind) })
	return out
}

// Value returns b without the values that were added. It appends to dst, which may be nil,
// only if something changes; otherwise it returns b itself. onHit, which may be nil, is
// called with the kind of each value that was replaced. The error is an *Opaque.
func (r *Redactor) Value(ctx context.Context, dst, b []byte, as Form, onHit func(kind string)) (out []byte, changed bool, err error) {
	if r.Idle() {
		return b, false, ctx.Err()
	}
	e := r.editor(ctx, onHit)
	defer e.release()
	if out, changed, err = e.value(b, as, 0); err != nil || !changed {
		return b, false, err
	}
	e.count()
	return append(dst, out...), true, nil
}

// Holds reports whether bytes hold a value that was added, in any spelling that Value
// replaces or refuses.
func (r *Redactor) Holds(b []byte, as Form) bool {
	e := r.editor(context.Background(), nil)
	defer e.release()
	_, changed, err := e.value(b, as, 0)
	return changed || err != nil
}

// maxWindow is how much of a file is searched at once, and windowOverlap how much of it is
// searched again with what follows.
const (
	maxWindow     = 1 << 20
	windowOverlap = 64 << 10
)

// HeldBy returns the rule of a secret that is in a file of any kind, "" if there is none. It
// finds secrets as they are, and in escapes; words can also be names in a format.
func (r *Redactor) HeldBy(f io.Reader) (kind string, err error) {
	r.known.sort()
	buf, n := make([]byte, maxWindow), 0
	for {
		more, err := io.ReadFull(f, buf[n:])
		n += more
		kind = r.held(buf[:n], func(m match) bool { return m.secret() && m.to-m.from >= minBinary })
		switch {
		case kind != "" || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
			return kind, nil
		case err != nil:
			return "", err
		}
		n = copy(buf, buf[n-windowOverlap:n])
	}
}

// HeldIn returns the kind of a value that is in a text for people, "" if there is none: of a
// secret, or of anything if words are wanted.
func (r *Redactor) HeldIn(text []byte, words bool) (kind string) {
	r.known.sort()
	return r.held(text, func(m match) bool { return words || m.secret() })
}

// held returns the kind of a wanted match that is not in a placeholder.
func (r *Redactor) held(b []byte, wanted func(match) bool) (kind string) {
	r.known.each(b, false, func(m match) bool {
		if wanted(m) && !r.replaced(b, m) {
			kind = m.kind
		}
		return kind == ""
	})
	return kind
}

// Opaque is the error of bytes that hold a value and cannot be edited.
type Opaque struct {
	Kind string // of the value
	What string // what the bytes are
}

func (o *Opaque) Error() string {
	return fmt.Sprintf("%s holds a value to redact (%s)", o.What, o.Kind)
}

package redact

import (
	"context"
	"errors"
	"hash/maphash"
	"iter"
	"slices"
	"unicode/utf8"

	"rehome/formats"
	"rehome/formats/session"
)

// Sessions redacts the sessions of one store, which is decoded twice.
type Sessions struct {
	*Redactor
	// KeepFolder keeps the folders of sessions, by which a client finds them.
	KeepFolder bool
	// OnUnsigned is called for reasoning that loses its signature, because it changes, with its
	// place; may be nil.
	OnUnsigned func(at string)

	seed maphash.Seed
	sums []uint64 // of the sessions, in the order in which they were learned
	next int
}

// ErrChanged is the error of a store that is not the same the second time.
var ErrChanged = errors.New("the store changed while it was read")

// Places are the places of values in a session.
type Places struct {
	Counts   map[string]int64    // by kind
	Messages map[string][]string // by kind: the ids of the first messages that held it
}

// maxMessages is how many messages are named for each kind.
const maxMessages = 5

// Learn finds the values in sessions. An error with a session is left for the second pass.
func (l *Sessions) Learn(ctx context.Context, all iter.Seq2[*session.Session, error]) error {
	l.seed = maphash.MakeSeed()
	for s, err := range all {
		if err != nil {
			if s == nil {
				return err
			}
			continue
		}
		sum := l.newSum()
		v := visitor{edit: func(_ string, b []byte, as Form) ([]byte, bool) {
			sum.Write(b)
			l.Redactor.Learn(ctx, b, as)
			return nil, false
		}}
		v.visit(s)
		if session.Each(ctx, s.Messages, func(m *session.Message) error { v.visit(m); return nil }) == nil {
			session.Each(ctx, s.Files, func(f *session.File) error { v.visit(f); return nil })
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		l.sums = append(l.sums, sum.Sum64())
	}
	return nil
}

func (l *Sessions) newSum() *maphash.Hash {
	var h maphash.Hash
	h.SetSeed(l.seed)
	return &h
}

// Redact yields sessions without the values that were added. places receives those of
// each session before it is yielded; they are complete when it has been read. Sessions that
// are not wanted are skipped. A session that is not as it was
// learned ends with ErrChanged.
func (l *Sessions) Redact(ctx context.Context, all iter.Seq2[*session.Session, error], wanted func(*session.Session) bool, places func(*Places)) iter.Seq2[*session.Session, error] {
	return func(yield func(*session.Session, error) bool) {
		for s, err := range all {
			if s != nil && err == nil {
				l.next++
			}
			if s != nil && wanted != nil && !wanted(s) {
				continue
			}
			if s != nil && err == nil {
				err = l.session(ctx, s, l.next-1, places)
			}
			if !yield(s, err) {
				return
			}
		}
	}
}

// session redacts the head of a session, and its streams as they are read.
func (l *Sessions) session(ctx context.Context, s *session.Session, at int, places func(*Places)) error {
	e := &sessionEditor{Sessions: l, ctx: ctx, sum: l.newSum(), places: &Places{Counts: map[string]int64{}, Messages: map[string][]string{}}}
	want := uint64(0)
	if at < len(l.sums) {
		want = l.sums[at]
	}
	e.visitor.edit = e.edit
	folder := s.Workspace
	e.visit(s)
	if l.KeepFolder {
		s.Workspace = folder
	}
	s.Graph = nil // it holds everything as it was
	if places != nil {
		places(e.places)
	}
	messages, files := s.Messages, s.Files
	s.Messages = edited(messages, func(m *session.Message) error { return e.message(m) }, func() error {
		if files == nil && e.sum.Sum64() != want {
			return ErrChanged
		}
		return e.err
	})
	if files != nil {
		s.Files = edited(files, func(f *session.File) error { e.visit(f); return e.err }, func() error {
			if e.sum.Sum64() != want {
				return ErrChanged
			}
			return nil
		})
	}
	return e.err
}

// edited passes on a stream whose values are edited. end returns an error for its end.
func edited[T any](from iter.Seq2[*T, error], edit func(*T) error, end func() error) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		if from != nil {
			for one, err := range from {
				if err == nil {
					err = edit(one)
				}
				if err != nil {
					yield(nil, err)
					return
				}
				if !yield(one, nil) {
					return
				}
			}
		}
		if err := end(); err != nil {
			yield(nil, err)
		}
	}
}

// sessionEditor redacts one session.
type sessionEditor struct {
	*Sessions
	visitor
	ctx    context.Context
	sum    *maphash.Hash
	places *Places
	at     string // the message at hand
	err    error
}

func (e *sessionEditor) edit(name string, b []byte, as Form) ([]byte, bool) {
	e.sum.Write(b)
	if e.err != nil {
		return nil, false
	}
	out, changed, err := e.Value(e.ctx, nil, b, as, func(kind string) {
		e.places.Counts[kind]++
		if of := e.places.Messages[kind]; e.at != "" && len(of) < maxMessages && !slices.Contains(of, e.at) {
			e.places.Messages[kind] = append(of, e.at)
		}
	})
	if _, ok := errors.AsType[*Opaque](err); ok {
		at := name
		if e.at != "" {
			at = "message " + e.at + ", " + name
		}
		err = &formats.Error{At: at, Err: err, Hint: "convert the other sessions, or remove the value from this one in its client"}
	}
	e.err = err
	return out, changed && err == nil
}

func (e *sessionEditor) message(m *session.Message) error {
	e.at = m.ID
	e.visit(m)
	e.at = ""
	for _, p := range m.Parts {
		switch p := p.(type) {
		case *session.Thinking:
			if e.changed[p] && p.Signature != "" {
				if p.Signature = ""; e.OnUnsigned != nil {
					e.OnUnsigned(append(m.Origin, m.ID)[0])
				}
			}
		case *session.ToolResult:
			if read := p.FileChange; read != nil {
				p.FileChange = func() (before, after *session.Body) {
					before, after = read()
					return e.body(before), e.body(after)
				}
			}
		}
	}
	clear(e.changed)
	return e.err
}

// body redacts the content of a file, which is counted where Session.Files yields it.
func (e *sessionEditor) body(b *session.Body) *session.Body {
	if b == nil {
		return nil
	}
	out, _, err := e.Value(e.ctx, nil, b.Bytes, Unknown, nil)
	if err != nil {
		e.err = err
		return nil
	}
	return &session.Body{Bytes: out}
}

// visitor edits the texts and bytes of records.
type visitor struct {
	edit    func(name string, b []byte, as Form) (out []byte, changed bool)
	changed map[session.Record]bool // the reasoning that was edited
	of      session.Record
	buf     []byte
}

func (v *visitor) visit(r session.Record) {
	up := v.of
	v.of = r
	session.Visit(r, v)
	v.of = up
}

// fixed reports whether the values of a member are of a closed list.
func fixed(name string) bool { return name == "role" || name == "agent" || name == "type" }

func (v *visitor) Required(name string, value any) { v.Optional(name, value) }

// Optional edits a member.
func (v *visitor) Optional(name string, value any) {
	switch p := value.(type) {
	case *string:
		if !fixed(name) {
			v.string(name, p)
		}
	case *[]string:
		for i := range *p {
			v.string(name, &(*p)[i])
		}
	case *session.Raw:
		v.bytes(name, (*[]byte)(p), Text)
	case *[]byte:
		v.bytes(name, p, Unknown)
	case *session.UTF8:
		if utf8.Valid(*p) {
			v.bytes(name, (*[]byte)(p), Text)
		}
	case *session.Binary:
		if !utf8.Valid(*p) {
			v.bytes(name, (*[]byte)(p), Unknown)
		}
	case *[]session.Part:
		for _, one := range *p {
			v.visit(one)
		}
	case *[]session.Extra:
		for i := range *p {
			v.visit(&(*p)[i])
		}
	case session.Object:
		if r := p.Get(); r != nil {
			v.visit(r)
		}
	case session.Objects:
		for i := range p.Len() {
			v.visit(p.At(i))
		}
	}
}

func (v *visitor) string(name string, p *string) {
	v.buf = append(v.buf[:0], *p...)
	if out, changed := v.edit(name, v.buf, Text); changed {
		*p = string(out)
		v.note()
	}
}

func (v *visitor) bytes(name string, p *[]byte, as Form) {
	if out, changed := v.edit(name, *p, as); changed {
		*p = out
		v.note()
	}
}

func (v *visitor) note() {
	if t, ok := v.of.(*session.Thinking); ok {
		if v.changed == nil {
			v.changed = map[session.Record]bool{}
		}
		v.changed[t] = true
	}
}

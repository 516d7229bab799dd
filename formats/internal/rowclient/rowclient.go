package rowclient

import (
	"cmp"
	"context"
	"iter"
	"slices"

	"rehome/formats"
	"rehome/formats/internal/jsonl"
	"rehome/formats/internal/lineclient"
	"rehome/formats/internal/lines"
	"rehome/formats/session"
	"rehome/formats/store"
)

// Store is an open store.
type Store interface {
	// Sessions lists the sessions, in any order.
	Sessions(ctx context.Context) ([]*Session, error)
	// Records makes some records of a session, the first of which is from, and ends before to.
	// A record is valid until the next one.
	Records(ctx context.Context, s *Session, from, to int) iter.Seq2[[]byte, error]
	// Scan gives s the stored bytes of what the sessions say.
	Scan(ctx context.Context, s *formats.Scan) error
	Close() error
}

// Session is a session of a store.
type Session struct {
	session.Head
	At    string                 // where it is, in errors
	Rows  [][]store.Addr         // what its records are made of
	Fill  func(*session.Session) // adds what no record says; may be nil
	Own   any                    // what its store knows of it
	Older session.Account        // other rows of the session
	kids  []*Session             // its subagents
}

// Client is a client whose sessions are in such stores.
type Client struct {
	*lineclient.Client
	Open func(ctx context.Context, l *formats.Location, v formats.View) (Store, error)
}

// Sessions returns the ability to read the sessions.
func (c Client) Sessions() *formats.Sessions {
	return &formats.Sessions{
		Decode: func(ctx context.Context, l *formats.Location, v formats.View, sel session.Selection) iter.Seq2[*session.Session, error] {
			return each(ctx, c, l, v, func(st Store, s *Session) (*session.Session, error, bool) {
				if !sel.Includes(s.ID) {
					return nil, nil, false
				}
				src := lineclient.Source(&source{st, s})
				if c.Replay != nil {
					src = c.Replay(src)
				}
				out, err := c.Read(ctx, src, s.Head, v, sel)
				for _, kid := range s.kids {
					if kid.Parent == nil {
						continue
					}
					out.Children = append(out.Children, session.Link{Session: kid.ID, Title: kid.Title, Kind: kid.Parent.Kind})
				}
				if err == nil && s.Fill != nil {
					s.Fill(out)
				}
				return out, err, true
			})
		},
		Heads: func(ctx context.Context, l *formats.Location, v formats.View) iter.Seq2[*session.Head, error] {
			return each(ctx, c, l, v, func(_ Store, s *Session) (*session.Head, error, bool) { return &s.Head, nil, true })
		},
		Scan: func(ctx context.Context, l *formats.Location, v formats.View, s *formats.Scan) error {
			st, err := c.Open(ctx, l, v)
			if err != nil {
				return err
			}
			defer st.Close()
			return jsonl.Failure(ctx, c.Name, l.Path, st.Scan(ctx, s))
		},
	}
}

// Messages reads all sessions of a store, and counts what there is.
func (c Client) Messages(ctx context.Context, l *formats.Location) (sessions, messages int, err error) {
	for s, err := range c.Sessions().Decode(ctx, l, formats.View{}, session.Selection{}) {
		if err == nil {
			err = session.Each(ctx, s.Messages, func(*session.Message) error { messages++; return nil })
		}
		if err != nil {
			return sessions, messages, err
		}
		sessions++
	}
	return sessions, messages, nil
}

// each opens a store and yields what read makes of its sessions, families together.
func each[T any](ctx context.Context, c Client, l *formats.Location, v formats.View, read func(Store, *Session) (*T, error, bool)) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		st, list, err := c.open(ctx, l, v)
		if err != nil {
			yield(nil, jsonl.Failure(ctx, c.Name, l.Path, err))
			return
		}
		closed := false
		defer func() {
			if !closed {
				st.Close()
			}
		}()
		for _, s := range list {
			if ctx.Err() != nil {
				yield(nil, ctx.Err())
				return
			}
			one, err, wanted := read(st, s)
			if err != nil && ctx.Err() != nil {
				yield(nil, ctx.Err())
				return
			}
			if wanted && !yield(one, jsonl.Failure(ctx, c.Name, cmp.Or(s.At, l.Path), err)) {
				return
			}
		}
		closed = true
		if err := st.Close(); err != nil { // it changed while it was read
			yield(nil, jsonl.Failure(ctx, c.Name, l.Path, err))
		}
	}
}

func (c Client) open(ctx context.Context, l *formats.Location, v formats.View) (Store, []*Session, error) {
	st, err := c.Open(ctx, l, v)
	if err != nil {
		return nil, nil, err
	}
	list, err := st.Sessions(ctx)
	if err != nil {
		st.Close()
		return nil, nil, err
	}
	for _, s := range list {
		if v.Cwd != "" {
			s.Workspace = v.Cwd
		}
	}
	return st, families(list), nil
}

// families sorts sessions by their begin, each followed by its subagents.
func families(list []*Session) (out []*Session) {
	slices.SortFunc(list, func(a, b *Session) int {
		return cmp.Or(cmp.Compare(a.Created.Millis(), b.Created.Millis()), cmp.Compare(a.ID, b.ID))
	})
	known, kids, done := map[string]bool{}, map[string][]*Session{}, map[string]bool{}
	for _, s := range list {
		known[s.ID] = true
	}
	for _, s := range list {
		if s.Parent != nil && known[s.Parent.Session] {
			kids[s.Parent.Session] = append(kids[s.Parent.Session], s)
		}
	}
	var add func(s *Session)
	add = func(s *Session) {
		if done[s.ID] {
			return
		}
		done[s.ID] = true
		out = append(out, s)
		for _, kid := range kids[s.ID] {
			add(kid)
		}
	}
	for _, s := range list {
		s.kids = kids[s.ID]
		if s.Parent == nil || !known[s.Parent.Session] {
			add(s)
		}
	}
	for _, s := range list { // parents of each other
		if !done[s.ID] {
			s.Parent = nil
			add(s)
		}
	}
	return out
}

// source is a session as package lineclient reads it. The offset of a record is its number.
type source struct {
	st Store
	s  *Session
}

func (r *source) At() string { return r.s.At }

func (r *source) Each(ctx context.Context) iter.Seq2[jsonl.Line, error] {
	return func(yield func(jsonl.Line, error) bool) {
		n := 0
		for b, err := range r.st.Records(ctx, r.s, 0, len(r.s.Rows)) {
			if n++; !yield(line(n, b), err) || err != nil {
				return
			}
		}
	}
}

func line(n int, b []byte) jsonl.Line {
	return jsonl.Parse(lines.Line{Number: n, Offset: int64(n), Bytes: b, Ended: true})
}

func (r *source) Record(ctx context.Context, _ int, offset int64, _ int) (l jsonl.Line, err error) {
	n := int(offset)
	for b, err := range r.st.Records(ctx, r.s, n-1, n) {
		if err != nil {
			return l, err
		}
		l = line(n, slices.Clone(b))
	}
	return l, nil
}

func (r *source) Close() error { return nil }

func (r *source) Addr(n int) []store.Addr {
	if n == 0 { // a record that stands for none
		return []store.Addr{{}}
	}
	return r.s.Rows[n-1]
}

func (r *source) Older(context.Context) (session.Account, error) { return r.s.Older, nil }

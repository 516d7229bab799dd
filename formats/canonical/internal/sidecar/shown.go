package sidecar

import (
	"context"
	"hash/maphash"
	"io"
	"math"

	"rehome/formats/internal/agentstate"
	"rehome/formats/internal/lines"
	"rehome/formats/session"
	"rehome/formats/store"
	"rehome/internal/rawjson"
)

// strings is a set of all strings and names in lines of JSON, by hash.
type strings struct {
	seed maphash.Seed
	set  map[uint64]struct{}
	buf  []byte
}

// each calls f with the hash of each string and name in a line until that returns false. It
// reports whether that never happened, and the line is JSON.
func (x *strings) each(line []byte, f func(uint64) bool) bool {
	var t rawjson.Tokens
	for t.Reset(line); t.Next(); {
		if t.Kind != rawjson.String && t.Kind != rawjson.Name {
			continue
		}
		token := line[t.From:t.To]
		if t.Kind == rawjson.Name {
			token = token[:len(token)-trailing(token)]
		}
		x.buf = rawjson.AppendText(x.buf[:0], token)
		if !f(maphash.Bytes(x.seed, x.buf)) {
			return false
		}
	}
	return t.Bad == ""
}

// trailing returns how many bytes of the token of a name follow its quotes.
func trailing(name []byte) (n int) {
	for n < len(name) && name[len(name)-1-n] != '"' {
		n++
	}
	return n
}

// shown reports whether the text of a session and its subagents has every string that its
// state is read as. Nobody who reads, or reviews, the text would otherwise know what the
// agent is given: anyone can write a digest into a sidecar.
func (t *Text) shown(ctx context.Context, s *state, top *member) (bool, error) {
	x := &strings{seed: maphash.MakeSeed(), set: map[uint64]struct{}{}}
	x.set[maphash.Bytes(x.seed, nil)] = struct{}{} // for addresses in a store
	for queue := []*member{top}; len(queue) > 0; queue = queue[1:] {
		if err := t.collect(ctx, x, queue[0]); err != nil {
			return false, err
		}
		queue = append(queue, t.kids[queue[0].name]...)
	}
	o := agentstate.Options{Blobs: s, Root: s.copier.Root(), At: func(agentstate.ID) store.Addr { return store.Addr{} }}
	root, err := agentstate.Read(ctx, o)
	if err != nil {
		return false, err
	}
	return x.has(ctx, root, session.Head{ID: top.id, Agent: top.agent}, 0)
}

// collect adds the strings of a session's lines.
func (t *Text) collect(ctx context.Context, x *strings, m *member) error {
	f, err := t.Open(m.file)
	if err != nil {
		return err
	}
	defer f.Close()
	for l, err := range lines.Each(ctx, io.NewSectionReader(f, m.at, math.MaxInt64-m.at), MaxLine) {
		if err != nil {
			return err
		}
		if l.Offset > 0 && t.Head(l.Bytes) != nil {
			return nil
		}
		x.each(l.Bytes, func(sum uint64) bool {
			x.set[sum] = struct{}{}
			return true
		})
	}
	return nil
}

// maxNesting is how deep subagents are looked at.
const maxNesting = 64

// has reports whether all strings of a state, and of those of its subagents, are in the set.
func (x *strings) has(ctx context.Context, state *agentstate.State, head session.Head, depth int) (bool, error) {
	if depth > maxNesting {
		return false, nil
	}
	s, all, line := &session.Session{Head: head}, true, []byte(nil)
	state.Fill(s)
	s.Created, s.Updated = session.Stamp{}, session.Stamp{} // a store can have better ones
	look := func(b []byte) error {
		line = b
		if all = all && x.each(b, func(sum uint64) bool { _, ok := x.set[sum]; return ok }); !all {
			return io.EOF
		}
		return nil
	}
	err := look(session.AppendHead(line[:0], s))
	if err == nil {
		err = session.Each(ctx, state.Messages(ctx), func(m *session.Message) error { return look(session.AppendMessage(line[:0], m)) })
	}
	if err == nil {
		err = session.Each(ctx, s.Files, func(f *session.File) error { return look(session.AppendFile(line[:0], f)) })
	}
	if !all {
		return false, nil
	}
	for _, c := range state.Children() {
		if err != nil {
			break
		}
		var kid *agentstate.State
		if kid, err = c.Open(ctx); err == nil {
			all, err = x.has(ctx, kid, session.Head{ID: c.ID, Agent: head.Agent}, depth+1)
		}
		if !all {
			return false, err
		}
	}
	return err == nil, err
}

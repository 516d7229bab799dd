package sidecar

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"io"
	"io/fs"
	"maps"
	"os"

	"rehome/formats"
	"rehome/formats/internal/agentstate"
	"rehome/formats/internal/blobs"
	"rehome/formats/internal/lines"
	"rehome/formats/session"
	"rehome/formats/store"
	"rehome/internal/rawjson"
)

const blobPrefix = `{"blob":"`

// state is a session with a state, as a sidecar has it.
type state struct {
	record
	lines     store.Digest
	kids      map[string]kid
	from, end int64 // of its blobs in the sidecar

	file   *os.File
	index  *blobs.Index[span]
	copier *agentstate.Copier
	shown  bool // all of it is in the text
	buf    []byte
	data   []byte
}

type kid struct {
	record
	lines store.Digest
}

// span is a line of a blob.
type span struct{ at, size int64 }

// Graph returns the state of the session that begins at a place of a file, to be found
// when it is asked for. info is of the file when it was opened.
func (t *Text) Graph(file string, at int64, info fs.FileInfo) *session.Graph {
	g := &session.Graph{}
	g.Copy = func(ctx context.Context, put func(ctx context.Context, id [32]byte, data []byte) error) (root [32]byte, whole bool, err error) {
		s, r, err := t.find(ctx, place{file, at}, info)
		if s == nil || err != nil {
			return root, false, err
		}
		g.Extras, g.Partial = r.Extras, r.Partial
		if r.Within != "" {
			whole, err = s.copier.Copy(ctx, nil)
			return root, whole, err
		}
		whole, err = s.copier.Copy(ctx, put)
		return s.copier.Root(), whole, err
	}
	return g
}

// find returns the state of a session, and its own line; nil if there is none, or none
// that is of the text as it is.
func (t *Text) find(ctx context.Context, at place, info fs.FileInfo) (*state, *record, error) {
	if err := t.load(ctx); err != nil {
		return nil, nil, err
	}
	m := t.sessions[at]
	if m == nil || m.info.Size() != info.Size() || !m.info.ModTime().Equal(info.ModTime()) {
		return nil, nil, nil
	}
	top := t.top(m)
	s, err := t.stateOf(ctx, top)
	if s == nil || err != nil {
		return nil, nil, err
	}
	if whole, _ := t.open(ctx, s, top); !whole {
		t.say(top, &t.damaged)
		return nil, nil, ctx.Err()
	}
	if !s.shown {
		t.say(top, &t.foreign)
		return nil, nil, nil
	}
	if m == top {
		return s, &s.record, nil
	}
	if k := s.kids[m.id]; k.Root == s.Root {
		return s, &k.record, nil
	}
	return nil, nil, nil
}

// stateOf returns the state of a session that is of it and its subagents as they are, nil if
// there is none.
func (t *Text) stateOf(ctx context.Context, top *member) (*state, error) {
	if top.sought {
		return top.state, nil
	}
	all, err := t.statesOf(ctx, top.file)
	if err != nil {
		t.states[top.file] = nil
		t.say(top, &t.damaged)
		return nil, ctx.Err()
	}
	top.sought = true
	if len(all[top.name]) == 0 {
		return nil, nil
	}
	family, unique := t.family(top)
	for _, one := range all[top.name] {
		if unique && one.lines == top.lines && maps.EqualFunc(one.kids, family, func(k kid, lines store.Digest) bool { return k.lines == lines }) {
			top.state = one
			return one, nil
		}
	}
	t.say(top, &t.edited)
	return nil, nil
}

// say notes, once, that a session has to be rebuilt.
func (t *Text) say(m *member, list *[]Unused) {
	if !m.said {
		m.said = true
		*list = append(*list, Unused{m.file, m.id})
	}
}

// open finds the blobs of a state and reports whether it is whole. Those of one family are
// asked for at a time.
func (t *Text) open(ctx context.Context, s *state, top *member) (whole bool, err error) {
	if s.copier != nil {
		return s.copier.Copy(ctx, nil)
	}
	if t.current != nil {
		t.current.close()
	}
	root, ok := agentstate.ParseID(s.Root)
	if !ok {
		return false, nil
	}
	if s.file, err = t.Open(top.file + formats.SidecarSuffix); err != nil {
		return false, nil
	}
	t.current = s
	s.index = blobs.New(func(a, b span) int { return cmp.Compare(a.at, b.at) })
	for l, err := range lines.Each(ctx, io.NewSectionReader(s.file, s.from, s.end-s.from), MaxLine) {
		if err != nil {
			return false, err
		}
		rest, ok := bytes.CutPrefix(l.Bytes, []byte(blobPrefix))
		if !ok || len(rest) < 64 {
			continue
		}
		if id, exact, ok := blobs.ParseID(rest[:64]); ok && exact {
			s.index.Add(id, true, span{s.from + l.Offset, int64(len(l.Bytes))})
		}
	}
	s.copier = agentstate.NewCopier(s, root)
	if whole, err = s.copier.Copy(ctx, nil); whole {
		if s.shown, err = t.shown(ctx, s, top); err != nil {
			return false, err
		}
	}
	return whole, err
}

// close forgets where the blobs are.
func (s *state) close() {
	s.file.Close()
	s.file, s.index, s.copier, s.buf, s.data = nil, nil, nil, nil, nil
}

// Close ends reading, and returns the sessions with a state that was not used: because their
// text was edited, because it is damaged, or because it says what the text does not.
func (t *Text) Close() (edited, damaged, foreign []Unused) {
	if t.current != nil {
		t.current.close()
	}
	return t.edited, t.damaged, t.foreign
}

// Check looks at the states of all sessions.
func (t *Text) Check(ctx context.Context) error {
	if err := t.load(ctx); err != nil {
		return err
	}
	for _, file := range t.Files {
		for _, m := range t.inFile[file] {
			if _, _, err := t.find(ctx, m.place, m.info); err != nil {
				return err
			}
		}
	}
	return nil
}

// Blob reads a blob, see agentstate.Blobs. What is not one is missing.
func (s *state) Blob(ctx context.Context, id agentstate.ID) ([]byte, error) {
	at, ok := s.index.Find(id, nil)
	if !ok || at.size > MaxLine {
		return nil, ctx.Err()
	}
	if int64(cap(s.buf)) < at.size {
		s.buf = make([]byte, at.size)
	}
	line := s.buf[:at.size]
	if _, err := s.file.ReadAt(line, at.at); err != nil {
		return nil, err
	}
	line, _, err := rawjson.Line(line) // checks it
	if err != nil {
		return nil, nil
	}
	for name, v := range rawjson.Members(line) {
		switch {
		case len(v) < 2 || v[0] != '"':
		case string(name) == "text":
			s.data = rawjson.AppendText(s.data[:0], v)
			return s.data, nil
		case string(name) == "base64":
			s.data, err = base64.StdEncoding.AppendDecode(s.data[:0], v[1:len(v)-1])
			if err != nil {
				return nil, nil
			}
			return s.data, nil
		}
	}
	return nil, nil
}

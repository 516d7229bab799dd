package sidecar

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"

	"rehome/formats"
	"rehome/formats/internal/digest"
	"rehome/formats/internal/lines"
	"rehome/formats/session"
	"rehome/formats/store"
)

// Text is canonical text that has sidecars.
type Text struct {
	Files []string                            // of the text
	Open  func(name string) (*os.File, error) // opens one of them or, with formats.SidecarSuffix, its sidecar
	Head  func(line []byte) *session.Head     // of the session that a line begins; nil if it begins none

	read     bool // the text
	sessions map[place]*member
	kids     map[name][]*member
	named    map[name][]*member
	inFile   map[string][]*member
	states   map[string]map[name][]*state // by file, once asked for

	current *state // the one that is open

	edited, damaged, foreign []Unused
}

// Unused is a session with a state that is not used.
type Unused struct{ File, ID string }

// place is where a session begins.
type place struct {
	file string
	at   int64
}

type name struct{ agent, id string }

// member is a session of the text, and perhaps of a family.
type member struct {
	place
	name
	parent name // zero for none
	lines  store.Digest
	info   fs.FileInfo // of the file when it was read
	said   bool        // that it has to be rebuilt
	sought bool        // in the sidecar
	state  *state      // that was found
	top    *member     // the outermost above, once asked for
}

// load reads the text for the digests of its sessions.
func (t *Text) load(ctx context.Context) error {
	if t.read {
		return nil
	}
	t.sessions, t.kids, t.named = map[place]*member{}, map[name][]*member{}, map[name][]*member{}
	t.inFile, t.states = map[string][]*member{}, map[string]map[name][]*state{}
	for _, file := range t.Files {
		if err := t.file(ctx, file); err != nil {
			return err
		}
	}
	t.read = true
	return nil
}

func (t *Text) file(ctx context.Context, file string) error {
	f, err := t.Open(file)
	if err != nil {
		return nil // decoding it reports why
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	var m *member
	sum := digest.NewStream()
	end := func() {
		if m == nil {
			return
		}
		m.lines = sum.Sum()
		t.sessions[m.place] = m
		t.inFile[file] = append(t.inFile[file], m)
		t.named[m.name] = append(t.named[m.name], m)
		if m.parent != (name{}) {
			t.kids[m.parent] = append(t.kids[m.parent], m)
		}
	}
	for l, err := range lines.Each(ctx, f, MaxLine) {
		if err != nil {
			return err
		}
		if h := t.Head(l.Bytes); h != nil {
			end()
			m, sum = &member{place: place{file, l.Offset}, name: name{h.Agent, h.ID}, info: info}, digest.NewStream()
			if h.Parent != nil && h.Parent.Session != h.ID {
				m.parent = name{h.Agent, h.Parent.Session}
			}
		}
		sum.Write(bytes.TrimSuffix(l.Bytes, []byte{'\r'})) // git may have converted them
		sum.Write([]byte{'\n'})
		if l.Long {
			sum.Write([]byte{'\n'}) // no session that was written has such a line
		}
	}
	end()
	return nil
}

// top returns the outermost session above a member, or itself. Of an id that several
// sessions have, none is.
func (t *Text) top(m *member) *member {
	var below []*member
	for range t.sessions {
		up := t.named[m.parent]
		if m.top != nil || len(up) != 1 {
			break
		}
		below = append(below, m)
		m = up[0]
	}
	if m.top != nil {
		m = m.top
	}
	for _, b := range below {
		b.top = m
	}
	return m
}

// family returns the digests of all sessions below m; false if one of their ids is not
// unique.
func (t *Text) family(m *member) (map[string]store.Digest, bool) {
	all := map[string]store.Digest{}
	for queue := []*member{m}; len(queue) > 0; queue = queue[1:] {
		kids := t.kids[queue[0].name]
		if len(kids) > 0 && len(t.named[queue[0].name]) > 1 {
			return nil, false
		}
		for _, kid := range kids {
			if _, twice := all[kid.id]; twice || kid == m {
				return nil, false
			}
			all[kid.id] = kid.lines
			queue = append(queue, kid)
		}
	}
	return all, true
}

// errDamaged is the error of a sidecar that has other lines.
var errDamaged = errors.New("not a sidecar of canonical text, or of an unsupported version")

// statesOf returns the states in the sidecar of a file by session, none if it has no sidecar.
func (t *Text) statesOf(ctx context.Context, file string) (map[name][]*state, error) {
	if all, ok := t.states[file]; ok {
		return all, nil
	}
	f, err := t.Open(file + formats.SidecarSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var all []*state
	for l, err := range lines.Each(ctx, f, MaxLine) {
		if err != nil {
			return nil, err
		}
		if l.Long {
			return nil, errDamaged
		}
		b := bytes.TrimSuffix(l.Bytes, []byte{'\r'})
		switch {
		case string(b) == header:
		case l.Number == 1:
			return nil, errDamaged
		case bytes.HasPrefix(b, []byte(blobPrefix)) && len(all) > 0:
			all[len(all)-1].end = l.Offset + int64(len(l.Bytes)) + 1
		default:
			if all = addRecord(all, b, l.Offset); all == nil {
				return nil, errDamaged
			}
		}
	}
	named := map[name][]*state{}
	for _, s := range all {
		n := name{s.Agent, s.Session}
		named[n] = append(named[n], s)
	}
	t.states[file] = named
	return named, nil
}

// addRecord adds the line of a session to those before; nil if it is not valid.
func addRecord(all []*state, line []byte, at int64) []*state {
	var r record
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	lines, err := store.Digest{}, dec.Decode(&r)
	if err == nil {
		lines, err = store.ParseDigest(r.Lines)
	}
	switch {
	case err != nil || r.Extras < 0:
		return nil
	case r.Within == "":
		s := &state{record: r, lines: lines, kids: map[string]kid{}, from: at, end: at}
		return append(all, s)
	case len(all) == 0 || all[len(all)-1].Session != r.Within || all[len(all)-1].Agent != r.Agent:
		return nil
	}
	all[len(all)-1].kids[r.Session] = kid{r, lines}
	return all
}

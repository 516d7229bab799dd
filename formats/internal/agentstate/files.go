package agentstate

import (
	"bytes"
	"context"
	"iter"

	"rehome/formats/internal/wire"
	"rehome/formats/session"
)

// snapshot is a file as the client kept it: the blobs with its content.
type snapshot struct {
	path   string
	newer  bool // from the newer of the two maps
	before ID   // zero if there is none
	after  ID
	extras []session.Extra
}

// rootFiles takes the two maps of files from the root.
func (s *State) rootFiles(m *conversation) {
	for b := range m.Files.All() {
		key, value, _ := wire.MapEntry(b)
		f := snapshot{}
		f.path = s.text(key, "path", &f.extras)
		f.after, _ = wire.AsID(value)
		s.keepFile(f)
	}
	for b := range m.FilesV2.All() {
		key, value, _ := wire.MapEntry(b)
		f, state := snapshot{newer: true}, codecs().file.Decode(value)
		f.path = s.text(key, "path", &f.extras)
		f.before, f.after = state.Before, state.After
		f.extras = append(f.extras, s.keep(codecs().file.Message, &state.Unknown)...)
		s.keepFile(f)
	}
}

// keepFile adds a snapshot. If both maps have the file, the newer map counts, and what
// differs in the older one is kept as an extra.
func (s *State) keepFile(f snapshot) {
	if s.fileAt == nil {
		s.fileAt = map[string]int{}
	}
	i, twice := s.fileAt[f.path]
	if !twice {
		s.fileAt[f.path] = len(s.root.files)
		s.root.files = append(s.root.files, f)
		return
	}
	old := &s.root.files[i]
	if old.newer && !f.newer {
		*old, f = f, *old
	}
	if old.after != (ID{}) && old.after != f.after {
		f.extras = append(f.extras, session.Extra{Name: "otherContent", Raw: quoted(old.after.String())})
	}
	f.extras = append(f.extras, old.extras...)
	s.root.files[i] = f
}

// walkFiles yields the snapshots with their content.
func (s *State) walkFiles(ctx context.Context) iter.Seq2[*session.File, error] {
	return func(yield func(*session.File, error) bool) {
		for i := range s.root.files {
			f := &s.root.files[i]
			out := session.File{Path: f.path, Extras: f.extras}
			var err error
			if f.before != (ID{}) {
				out.Before, err = s.body(ctx, f.before, &out)
			}
			if f.after != (ID{}) && err == nil {
				out.After, err = s.body(ctx, f.after, &out)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(&out, nil) {
				return
			}
		}
	}
}

func (s *State) body(ctx context.Context, id ID, f *session.File) (*session.Body, error) {
	b, err := s.read(ctx, id, "file content")
	if b == nil || err != nil {
		f.Extras = append(f.Extras, session.Extra{Name: "missing", Raw: quoted(id.String())})
		return nil, err
	}
	s.ledger.mark(id, claimed)
	f.Origin = append(f.Origin, s.origin(id)...)
	return &session.Body{Bytes: bytes.Clone(b)}, nil
}

// aside returns a blob of unknown meaning in raw form.
func (s *State) aside(ctx context.Context, id ID, name, what string) ([]session.Extra, error) {
	b, err := s.read(ctx, id, what)
	if b == nil || err != nil {
		return nil, err
	}
	s.ledger.mark(id, opaque)
	return []session.Extra{{Name: name, Raw: carry(id, b)}}, nil
}

// carry returns a blob and its id as JSON: the content as text if it is valid UTF-8.
func carry(id ID, b []byte) session.Raw {
	raw := append([]byte(`{"blob":"`), id.String()...)
	return appendBytes(append(raw, '"', ','), b)
}

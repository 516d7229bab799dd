package sdksession

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"
	"path"

	"rehome/formats"
	"rehome/formats/internal/sdkdoc"
	"rehome/formats/internal/transcript"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/formats/store"
)

// NewStore returns a store of no documents yet.
func NewStore(v formats.View) *Store {
	return &Store{Index: NewIndex(), Cwd: v.Cwd, Note: v.OnLoss.Add}
}

// Decode yields the sessions of a store. open reads its documents, and done is
// called in any case.
func (s *Store) Decode(ctx context.Context, sel session.Selection, open, done func() error) iter.Seq2[*session.Session, error] {
	return func(yield func(*session.Session, error) bool) {
		more := true
		err := open()
		if err == nil {
			sel.Account.Add(s.Account)
			for v, e := range s.Sessions(ctx, sel) {
				if more = yield(v, e); !more {
					break
				}
			}
		}
		if err = errors.Join(err, done()); err != nil && more {
			yield(nil, err)
		}
	}
}

// FindTranscripts lists the transcripts in some folders below Root. Other files in
// their folder are counted and noted.
func (s *Store) FindTranscripts(ctx context.Context, folders ...string) error {
	var others []string
	for _, folder := range folders {
		root, err := fs.Sub(s.Root.FS(), path.Join(".", folder))
		if err != nil {
			return s.Fail(folder, err)
		}
		found, more, err := transcript.Find(root)
		if err != nil {
			return s.Fail(path.Join(folder, transcript.Folder), err)
		}
		for _, f := range found {
			f.Path = path.Join(folder, f.Path)
			s.Transcripts = append(s.Transcripts, f)
		}
		for _, p := range more {
			others = append(others, path.Join(folder, p))
		}
	}
	for _, p := range others {
		if sdkdoc.Noise(path.Base(p)) {
			continue
		}
		r, done, err := s.open(transcript.File{Path: p})
		if err != nil {
			return err
		}
		n, err := transcript.Count(ctx, r)
		if err = errors.Join(err, done()); err != nil {
			return s.Fail(p, err)
		}
		s.Account.Add(session.Account{Read: n, CarriedRaw: n})
		s.Note(loss.Loss{Code: loss.FileNotTranscript, At: store.Addr{File: p}})
	}
	return nil
}

// open opens a transcript.
func (s *Store) open(f transcript.File) (*io.SectionReader, func() error, error) {
	if s.Open != nil {
		return s.Open(f)
	}
	root := s.Root
	if at := s.Outer[f.Path]; at != "" {
		outer, err := os.OpenRoot(at)
		if err != nil {
			return nil, nil, s.Fail(f.Path, err)
		}
		defer outer.Close()
		root = outer
	}
	r, done, err := transcript.Open(root, f.Path)
	if err != nil {
		err = s.Fail(f.Path, err)
	}
	return r, done, err
}

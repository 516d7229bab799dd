package sqlitestore

import (
	"context"
	"io"
	"os"
	"path/filepath"

	"rehome/formats"
	"rehome/formats/internal/secret"
	"rehome/formats/loss"
	"rehome/formats/store"
)

// File is one file of a store: its slash path inside the store, and where it
// lies on this machine.
type File struct{ Path, Name string }

// FilesFor lists a store's databases and plain files, for codecs that make
// something else of them than tables. They are also given what is no part of
// the store and harmless: they know themselves what to do with it. The view is
// told of the rest.
func (s Shape) FilesFor(l *formats.Location, v formats.View) (databases, plain []File, err error) {
	found, err := s.layout(l)
	if err != nil {
		return nil, nil, err
	}
	aside := found.aside
	found.aside = nil
	for _, n := range aside {
		name := filepath.Join(l.Path, filepath.FromSlash(n.At.File))
		if n.Code != loss.FileNotPart || HasHeader(name, "") || !inside(l.Path, name) {
			found.aside = append(found.aside, n)
			continue
		}
		found.plain = append(found.plain, part{path: n.At.File, file: name})
	}
	if err := found.settle(v); err != nil {
		return nil, nil, err
	}
	for _, p := range found.databases {
		databases = append(databases, File{p.path, p.file})
	}
	for _, p := range found.plain {
		plain = append(plain, File{p.path, p.file})
	}
	return databases, plain, nil
}

// settle leaves out what the view must not see, and tells it of all that is
// left out.
func (l *layout) settle(v formats.View) error {
	if v.Secrets == formats.WithholdSecrets {
		if err := l.withhold(); err != nil {
			return err
		}
	}
	for _, n := range l.aside {
		v.OnLoss.Add(n)
	}
	return nil
}

// withhold takes the plain files that hold secrets out of a layout.
func (l *layout) withhold() error {
	var kept []part
	for _, p := range l.plain {
		held, size, err := holdsSecret(p.file)
		if err != nil {
			return &formats.Error{Format: l.origin, At: p.file, Err: err}
		}
		if !held {
			p.size = size
			kept = append(kept, p)
			continue
		}
		l.aside = append(l.aside, loss.Loss{Code: loss.FileWithSecret, At: store.Addr{File: p.path}})
	}
	l.plain = kept
	return nil
}

// holdsSecret also says how much of the file it has looked at: a client may add
// to it meanwhile.
func holdsSecret(name string) (held bool, size int64, err error) {
	f, err := os.Open(name)
	if err != nil {
		return false, 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return false, 0, err
	}
	held, err = secret.Holds(io.LimitReader(f, info.Size()))
	return held, info.Size(), err
}

// ReadPlain gives the pieces of a plain file, as records of the given set.
func ReadPlain(ctx context.Context, name string, set int, give func(*store.Batch) error) error {
	return readPlain(ctx, part{file: name}, set, give)
}

func readPlain(ctx context.Context, p part, set int, give func(*store.Batch) error) error {
	name := p.file
	f, err := os.Open(name)
	if err != nil {
		return &formats.Error{At: name, Err: err}
	}
	defer f.Close()
	in := io.Reader(f)
	if p.size > 0 {
		in = io.LimitReader(f, p.size)
	}
	piece := make([]byte, store.PieceBytes)
	for n := int64(0); ; n++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		got, err := io.ReadFull(in, piece)
		if got > 0 {
			b := store.NewBatch(set, 1)
			b.Row(n)
			b.AddBytes(store.Blob, piece[:got])
			if err := give(b); err != nil {
				return err
			}
		}
		switch {
		case err == io.EOF || err == io.ErrUnexpectedEOF:
			return nil
		case err != nil:
			return &formats.Error{At: name, Err: err}
		}
	}
}

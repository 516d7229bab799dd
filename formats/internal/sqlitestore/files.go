package sqlitestore

import (
	"context"
	"io"
	"os"

	"rehome/formats"
	"rehome/formats/store"
)

// File is one file of a store: its slash path inside the store, and where it
// lies on this machine.
type File struct{ Path, Name string }

// Files lists a store's databases and plain files, for codecs that make
// something else of them than tables.
func (s Shape) Files(l *formats.Location) (databases, plain []File, err error) {
	found, err := s.layout(l)
	for _, p := range found.databases {
		databases = append(databases, File{p.path, p.file})
	}
	for _, p := range found.plain {
		plain = append(plain, File{p.path, p.file})
	}
	return databases, plain, err
}

// ReadPlain gives the pieces of a plain file, as records of the given set.
func ReadPlain(ctx context.Context, name string, set int, give func(*store.Batch) error) error {
	f, err := os.Open(name)
	if err != nil {
		return &formats.Error{At: name, Err: err}
	}
	defer f.Close()
	piece := make([]byte, store.PieceBytes)
	for n := int64(0); ; n++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		got, err := io.ReadFull(f, piece)
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

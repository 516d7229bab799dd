package diff

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"rehome/formats"
	"rehome/formats/store"
)

// files reads files whose lines are compared: text without records of its own, and
// sidecars.
type files struct {
	root   *os.Root
	base   string // the start of all names, which can be another one on the other side
	schema store.Schema
}

// textFiles returns the files of a store that has no records of its own, each as a store:
// those of a folder, but hidden ones and sidecars.
func textFiles(at place) ([]place, error) {
	if at.of.Records != nil || !at.of.Text || !at.loc.IsDir() {
		return []place{at}, nil
	}
	var out []place
	err := filepath.WalkDir(at.path, func(p string, e fs.DirEntry, err error) error {
		hidden := p != at.path && strings.HasPrefix(e.Name(), ".")
		switch {
		case err == nil && e.IsDir() && hidden:
			return fs.SkipDir
		case err == nil && e.Type().IsRegular() && !hidden && !formats.IsSidecar(e.Name()):
			loc, err := formats.Locate(p)
			out = append(out, place{at.of, loc, p})
			return err
		}
		return err
	})
	return out, err
}

// openFile opens a file.
func openFile(at *formats.Location) (*files, error) {
	dir, base := filepath.Split(at.Path)
	f, err := someFiles(cmp.Or(dir, "."), base)
	if err == nil {
		f.base = base
	}
	return f, err
}

// someFiles opens those files of a folder that exist.
func someFiles(dir string, names ...string) (*files, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, &formats.Error{At: dir, Err: formats.Cause(err)}
	}
	f := &files{root: root}
	for _, name := range slices.Sorted(slices.Values(names)) {
		if info, err := root.Stat(filepath.FromSlash(name)); err == nil && info.Mode().IsRegular() {
			f.schema.Sets = append(f.schema.Sets, store.Set{File: name, Kind: store.Plain})
		}
	}
	return f, nil
}

// Schema returns the files.
func (f *files) Schema() *store.Schema { return &f.schema }

// Batches yields the files in pieces.
func (f *files) Batches(ctx context.Context) iter.Seq2[*store.Batch, error] {
	return func(yield func(*store.Batch, error) bool) {
		buf := make([]byte, 256<<10)
		for i, set := range f.schema.Sets {
			in, err := f.root.Open(filepath.FromSlash(set.File))
			for n := 0; err == nil; {
				if n, err = in.Read(buf); n == 0 {
					continue
				}
				b := store.NewBatch(i, 1)
				b.Row(0)
				b.AddBytes(store.Blob, buf[:n])
				if !yield(b, nil) {
					in.Close()
					return
				}
				err = errors.Join(err, ctx.Err())
			}
			if in != nil {
				in.Close()
			}
			if !errors.Is(err, io.EOF) {
				yield(nil, &formats.Error{At: set.File, Err: formats.Cause(err)})
				return
			}
		}
	}
}

// Summary counts nothing: what is compared are digests of lines.
func (f *files) Summary() store.Summary { return store.Summary{} }

// Close closes the folder.
func (f *files) Close() error { return f.root.Close() }

func closeAll(readers [2]store.Reader) (err error) {
	for _, r := range readers {
		if r != nil {
			err = errors.Join(err, r.Close())
		}
	}
	return err
}

func base(r store.Reader) string {
	if f, ok := r.(*files); ok {
		return f.base
	}
	return ""
}

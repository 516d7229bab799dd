package cursorndjson

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"rehome/formats"
	"rehome/formats/internal/sdkdoc"
	"rehome/formats/internal/sdkstore"
	"rehome/formats/internal/tally"
	"rehome/formats/store"
)

// reader reads a folder of lines.
type reader struct {
	path    string
	root    *os.Root
	split   bool
	view    formats.View
	schema  *store.Schema
	parts   []*part                // in their order; the flat form has one
	real    map[string]string      // paths of the transcripts, by the files of their sets
	was     map[string]fs.FileInfo // the files as they were when they were opened
	summary store.Summary
}

// newReader opens the folder.
func newReader(ctx context.Context, l *formats.Location, v formats.View) (*reader, error) {
	if !l.IsDir() {
		return nil, &formats.Error{Format: name, At: l.Path, Err: errors.New("not a folder"), Hint: "name the folder that contains agents.ndjson"}
	}
	root, err := os.OpenRoot(l.Path)
	if err != nil {
		return nil, &formats.Error{Format: name, At: l.Path, Err: err}
	}
	r := &reader{path: l.Path, root: root, view: v, schema: sdkdoc.Schema(), parts: []*part{{}}, real: map[string]string{}, was: map[string]fs.FileInfo{}}
	if r.split = isSplit(l); r.split {
		r.view.Sidecar = sdkstore.Rooted(v.Sidecar)
		if head := l.Join(marker).Head(); strings.TrimSpace(string(head)) != strings.TrimSpace(markerText) {
			root.Close()
			return nil, &formats.Error{Format: name, At: filepath.Join(l.Path, marker), Err: errors.New("unsupported version of the folder"), Hint: "use the version of rehome that wrote it, or a later one"}
		}
		if r.parts, err = split(ctx, root.FS()); err != nil {
			root.Close()
			return nil, r.fail(".", err)
		}
	}
	return r, nil
}

func open(ctx context.Context, l *formats.Location, v formats.View) (store.Reader, error) {
	r, err := newReader(ctx, l, v)
	if err != nil {
		return nil, err
	}
	if err := r.find(); err != nil {
		r.root.Close()
		return nil, err
	}
	return r, nil
}

// find looks which files are there.
func (r *reader) find() error {
	list, err := fs.ReadDir(r.root.FS(), ".")
	if err != nil {
		return r.fail(".", err)
	}
	list = slices.DeleteFunc(list, func(e fs.DirEntry) bool { return sdkdoc.Noise(e.Name()) && !e.IsDir() })
	known := len(list) == 0 || r.split // a store without a line is an empty folder
	for _, e := range list {
		known = known || e.Name() == sdkdoc.Transcripts
		for k := range sdkdoc.Kind(sdkdoc.Kinds) {
			known = known || e.Name() == k.File()
		}
	}
	if !known {
		return &formats.Error{Format: name, At: r.path, Err: errors.New("no agents.ndjson, runs.ndjson, run_events.ndjson or checkpoints.ndjson in it"), Hint: "name the folder that contains agents.ndjson"}
	}
	found, err := r.transcripts()
	for _, p := range found {
		r.schema.Sets = append(r.schema.Sets, store.Set{File: p, Kind: store.Plain, Columns: []string{"bytes"}})
	}
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
		return r.fail(pe.Path, err)
	}
	return err
}

var errNotRegular = errors.New("not a regular file")

// file opens a file, nil if it is not there.
func (r *reader) file(p string) (*os.File, error) {
	if r.was[p] != nil {
		f, err := r.root.Open(p)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		return f, err
	}
	// Looked at first: opening a pipe would wait for ever.
	info, err := r.root.Stat(p)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errNotRegular
	}
	f, err := r.root.Open(p)
	if err != nil {
		return nil, err
	}
	if info, err = f.Stat(); err != nil {
		f.Close()
		return nil, err
	}
	r.was[p] = info
	return f, nil
}

// transcripts lists the transcripts of all parts, sorted.
func (r *reader) transcripts() (out []string, err error) {
	for _, p := range r.parts {
		if p.lacks[sdkdoc.Transcripts] {
			continue
		}
		root, err := fs.Sub(r.root.FS(), path.Join(".", p.name))
		if err != nil {
			return nil, err
		}
		found, err := transcripts(root)
		if err != nil {
			return out, err
		}
		for _, file := range found {
			if other, twice := r.real[file]; twice {
				return nil, &formats.Error{Format: name, At: path.Join(filepath.ToSlash(r.path), p.name, file), Err: errors.New("the store has this transcript twice: " + other), Hint: "delete one of them"}
			}
			r.real[file] = path.Join(p.name, file)
			out = append(out, file)
		}
	}
	slices.Sort(out)
	return out, nil
}

// transcripts lists the transcripts of a folder, sorted.
func transcripts(root fs.FS) (out []string, err error) {
	err = fs.WalkDir(root, sdkdoc.Transcripts, func(p string, e fs.DirEntry, err error) error {
		if p == sdkdoc.Transcripts && errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil && e.Type().IsRegular() && !sdkdoc.Noise(e.Name()) {
			out = append(out, p)
		}
		return err
	})
	slices.Sort(out) // a walk goes folder by folder
	return out, err
}

func (r *reader) fail(at string, err error) error {
	if fe := (*formats.Error)(nil); errors.As(err, &fe) {
		return err
	}
	hint := ""
	if c := errConflict(0); errors.As(err, &c) {
		hint = "run `rehome merge --finish` in the repository, or check out one side of the store"
	}
	return &formats.Error{Format: name, At: path.Join(filepath.ToSlash(r.path), at), Err: formats.Cause(err), Hint: hint}
}

func (r *reader) Schema() *store.Schema { return r.schema }

func (r *reader) Summary() store.Summary { return r.summary }

// Close lets go of the folder and reports files that changed meanwhile.
func (r *reader) Close() error {
	if r.root == nil {
		return nil
	}
	var errs []error
	for p, was := range r.was {
		now, err := r.root.Stat(p)
		if err != nil || now.Size() != was.Size() || !now.ModTime().Equal(was.ModTime()) || !os.SameFile(now, was) {
			errs = append(errs, formats.Changed(name, path.Join(filepath.ToSlash(r.path), p)))
		}
	}
	err := r.root.Close()
	r.root = nil
	return errors.Join(append(errs, err)...)
}

// Batches yields the lines of the four files, then the transcripts.
func (r *reader) Batches(ctx context.Context) iter.Seq2[*store.Batch, error] {
	return func(yield func(*store.Batch, error) bool) {
		r.summary = tally.Scan(len(r.schema.Sets), yield, func(t *tally.Tally) error {
			s := &scan{reader: r, ctx: ctx, tally: t}
			defer s.drop()
			return s.run()
		})
	}
}

package archive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"sync"

	"rehome/formats"
	"rehome/formats/internal/secret"
	"rehome/formats/loss"
	"rehome/formats/store"
)

// reader reads an archive. It trusts nothing in it: see the package comment.
type reader struct {
	path    string
	root    *os.Root
	view    formats.View
	schema  *store.Schema
	claims  []text
	files   [][]string                // of each set, in reading order; a stream is a file of its first table
	tables  map[string]map[string]int // sets by database and name
	jobs    int
	summary store.Summary
	buffers sync.Pool // of parsed units

	file string // of the last batch
	line int    // of its first record
}

// Position returns the file and the line of the first record of the last batch, if the
// view changes no records: each record is a line. It has no meaning for a plain file.
func (r *reader) Position() (file string, line int) { return r.file, r.line }

// smallArchive is the size below which an archive is read without goroutines, because
// starting them would take longer.
const smallArchive = 4 << 20

func open(_ context.Context, l *formats.Location, v formats.View) (store.Reader, error) {
	if !l.IsDir() {
		return nil, &formats.Error{Format: name, At: l.Path, Err: errors.New("not a folder"), Hint: "name the folder that contains manifest.json"}
	}
	root, err := os.OpenRoot(l.Path)
	if err != nil {
		return nil, &formats.Error{Format: name, At: l.Path, Err: err}
	}
	r := &reader{path: l.Path, root: root, view: v, jobs: formats.Workers(v.Jobs)}
	if err := r.begin(); err != nil {
		root.Close()
		return nil, err
	}
	return r, nil
}

func (r *reader) begin() error {
	b, err := r.readManifest()
	if err != nil {
		return r.fail(manifestName, err)
	}
	m, err := parseManifest(b)
	if err != nil {
		return r.fail(manifestName, err)
	}
	if r.schema, r.claims, err = m.schema(); err != nil {
		return r.fail(manifestName, err)
	}
	size, err := r.findFiles(r.refuse)
	if err != nil {
		return err
	}
	if r.view.Secrets == formats.WithholdSecrets {
		if err := r.withhold(); err != nil {
			return err
		}
	}
	if size < smallArchive {
		r.jobs = 1
	}
	return nil
}

func (r *reader) readManifest() ([]byte, error) {
	info, err := r.root.Lstat(manifestName)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	f, err := r.root.Open(manifestName)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxManifest+1))
	if err == nil && len(b) > maxManifest {
		err = fmt.Errorf("larger than %d MB", maxManifest>>20)
	}
	return b, err
}

// fail returns an error with the file that it is about, relative to the archive.
func (r *reader) fail(at string, err error) error {
	if fe := (*formats.Error)(nil); errors.As(err, &fe) && fe.At != "" {
		return err
	}
	return &formats.Error{Format: name, At: path.Join(r.path, at), Err: formats.Cause(err), Hint: formats.Hint(err)}
}

// owners returns the sets by the names of their files, and the tables by the folders that
// have their shards in subfolders.
func (r *reader) owners() (owner, under map[string]int) {
	owner, under = map[string]int{}, map[string]int{}
	r.tables = map[string]map[string]int{}
	for i, set := range r.schema.Sets {
		if set.Kind == store.Plain {
			owner[set.File] = i
			continue
		}
		if r.tables[set.File] == nil {
			r.tables[set.File] = map[string]int{}
		}
		r.tables[set.File][set.Name] = i
		t := tablePath(set.File, set.Name)
		owner[t+".ndjson"], under[t] = i, i
		for _, ext := range []string{"", ".gz", ".zst"} {
			name := streamPath(set.File) + ext
			if _, ok := owner[name]; !ok {
				owner[name] = i
			}
		}
	}
	return owner, under
}

// findFiles assigns every file to its set. It calls other for a file that belongs to none,
// which may hold rows that a wrong manifest omits, and for one that is not regular.
func (r *reader) findFiles(other func(name string, irregular bool) error) (size int64, err error) {
	owner, under := r.owners()
	r.files = make([][]string, len(r.schema.Sets))
	err = fs.WalkDir(r.root.FS(), ".", func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return r.fail(name, err)
		case name == "." || name == manifestName:
			return nil
		}
		i, known := owner[name]
		if !known {
			i, known = under[path.Dir(path.Dir(name))]
			known = known && path.Ext(name) == ".ndjson"
		}
		switch {
		case !known && strings.HasPrefix(e.Name(), "."):
			if e.IsDir() {
				return fs.SkipDir // .git
			}
			return nil // .gitattributes, .DS_Store
		case e.IsDir():
			return nil
		case !known || !e.Type().IsRegular():
			return other(name, !e.Type().IsRegular())
		}
		r.files[i] = append(r.files[i], name)
		if info, err := e.Info(); err == nil {
			size += info.Size()
		}
		return nil
	})
	return size, err
}

// refuse returns the error of a file that does not belong to the archive.
func (r *reader) refuse(name string, irregular bool) error {
	if irregular {
		return r.fail(name, &formats.Error{Err: errors.New("not a regular file"), Hint: "move it out of the archive, which contains only regular files"})
	}
	return r.fail(name, &formats.Error{Err: errors.New("file is not in the manifest"), Hint: "move it out of the archive"})
}

// withhold leaves out plain files with secrets, as the reader of a store does: the archive
// may have been written with them.
func (r *reader) withhold() error {
	for i := len(r.schema.Sets) - 1; i >= 0 && r.schema.Sets[i].Kind == store.Plain; i-- {
		name := r.schema.Sets[i].File
		f, err := r.root.Open(name)
		if err != nil {
			continue // the scan reports that it is missing
		}
		held, err := secret.Holds(f)
		f.Close()
		if err != nil {
			return r.fail(name, err)
		}
		if !held {
			continue
		}
		r.schema.Sets = slices.Delete(r.schema.Sets, i, i+1)
		r.claims = slices.Delete(r.claims, i, i+1)
		r.files = slices.Delete(r.files, i, i+1)
		r.view.OnLoss.Add(loss.Loss{Code: loss.FileWithSecret, At: store.Addr{File: name}})
	}
	return nil
}

// Schema returns the schema of the manifest.
func (r *reader) Schema() *store.Schema { return r.schema }

// Summary returns what Batches has yielded, after a complete scan.
func (r *reader) Summary() store.Summary { return r.summary }

// Close closes the folder.
func (r *reader) Close() error { return r.root.Close() }

// filter returns the filter for secrets that the view asks for.
func (r *reader) filter() *secret.Filter { return secret.NewFilter(r.schema, r.view) }

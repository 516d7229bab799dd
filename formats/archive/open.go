package archive

import (
	"cmp"
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

// reader reads an archive of any version. It trusts nothing in it: see the package comment.
type reader struct {
	path    string
	root    *os.Root
	view    formats.View
	version int
	packed  bool // each database is a compressed stream
	schema  *store.Schema
	claims  []text                    // of each set: in version 2 only of plain files
	entries []entry                   // all files
	files   [][]string                // of each set, in reading order; a stream is a file of its first table
	lists   [][]string                // of each set, the files of entries
	tables  map[string]map[string]int // sets by database and name
	jobs    int
	summary store.Summary
	buffers sync.Pool // of parsed units

	file string // of the last batch
	line int    // of its first record
}

// entry is a file in the archive's folder.
type entry struct {
	name    string
	size    int64
	regular bool
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
	if at, err := r.load(); err != nil {
		return r.fail(at, err)
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

// load reads the manifest and finds the sets of the archive. An error is about the file at.
func (r *reader) load() (at string, err error) {
	b, err := r.document(manifestName)
	if err != nil {
		return manifestName, err
	}
	m, first, err := parseManifest(b)
	if err != nil {
		return manifestName, err
	}
	r.version, r.packed = m.Version, m.Compress != "none"
	if at, err := r.walk(); err != nil {
		return at, err
	}
	if first != nil {
		r.schema, r.claims, err = first.schema()
	} else {
		at, err = r.gather(m)
	}
	if err == nil {
		r.sort()
		at, err = manifestName, checkPaths(r.schema, r.version)
	}
	return at, err
}

// walk lists the files in the archive's folder. A folder like .git is not part of it.
func (r *reader) walk() (at string, err error) {
	err = fs.WalkDir(r.root.FS(), ".", func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			at = name
			return err
		case e.IsDir() && name != "." && strings.HasPrefix(e.Name(), "."):
			return fs.SkipDir
		case e.IsDir():
			return nil
		}
		f := entry{name: name, regular: e.Type().IsRegular()}
		if info, err := e.Info(); err == nil {
			f.size = info.Size()
		}
		r.entries = append(r.entries, f)
		return nil
	})
	return at, err
}

// gather finds the sets of an archive of version 2: the tables in the files database.json,
// and the plain files, each with a companion.
func (r *reader) gather(m *manifest) (at string, err error) {
	s := &store.Schema{Origin: m.Origin}
	stated := map[string]text{} // of plain files, by path
	var size int64
	for _, e := range r.entries {
		plain, companion := strings.CutSuffix(e.name, companionSuffix)
		if !companion && path.Base(e.name) != databaseName {
			continue
		}
		if size += e.size; size > maxDocuments {
			return e.name, fmt.Errorf("databases and plain files are described in more than %d MB", maxDocuments>>20)
		}
		b, err := r.document(e.name)
		if err == nil && companion {
			stated[plain], err = parseCompanion(b)
		}
		if err == nil && !companion {
			err = addDatabase(s, b, strings.TrimPrefix(path.Dir(e.name), "."))
		}
		if err != nil {
			return e.name, err
		}
	}
	r.claims = make([]text, len(s.Sets), len(s.Sets)+len(stated))
	for name, said := range stated {
		s.Sets, r.claims = append(s.Sets, plainSet(name)), append(r.claims, said)
	}
	r.schema = s
	return "", nil
}

// sort sorts the databases and the plain files by path, as a store lists them. The tables
// of a database keep their order.
func (r *reader) sort() {
	type listed struct {
		store.Set
		claim text
	}
	all := make([]listed, len(r.claims))
	for i, set := range r.schema.Sets {
		all[i] = listed{set, r.claims[i]}
	}
	slices.SortStableFunc(all, func(a, b listed) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), strings.Compare(a.File, b.File))
	})
	for i, l := range all {
		r.schema.Sets[i], r.claims[i] = l.Set, l.claim
	}
	slices.SortStableFunc(r.schema.Databases, func(a, b store.Database) int { return strings.Compare(a.Path, b.Path) })
}

func addDatabase(s *store.Schema, b []byte, path string) error {
	d, sets, err := parseDatabase(b, path)
	s.Databases, s.Sets = append(s.Databases, d), append(s.Sets, sets...)
	return err
}

// document reads a small file.
func (r *reader) document(name string) ([]byte, error) {
	info, err := r.root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	f, err := r.root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxDocument+1))
	if err == nil && len(b) > maxDocument {
		err = fmt.Errorf("larger than %d MB", maxDocument>>20)
	}
	return b, err
}

// fail returns an error with the file that it is about, relative to the archive.
func (r *reader) fail(at string, err error) error {
	if fe := (*formats.Error)(nil); errors.As(err, &fe) && fe.At != "" {
		return err
	}
	hint := formats.Hint(err)
	switch {
	case errors.Is(err, errConflict):
		hint = "run `rehome merge --finish` in the repository, or check out one side of the archive"
	case errors.Is(err, errNoTrailer), errors.Is(err, errTrailer), errors.Is(err, errSeal):
		hint = hintEdited
	}
	return &formats.Error{Format: name, At: path.Join(r.path, at), Err: formats.Cause(err), Hint: hint}
}

// owners returns the sets by the names of their files, and the tables by the folders that
// have their shards in subfolders. A negative set is that of files already read.
func (r *reader) owners() (owner, under map[string]int) {
	owner, under = map[string]int{manifestName: -1}, map[string]int{}
	r.tables = map[string]map[string]int{}
	for _, d := range r.schema.Databases {
		if r.version > 1 {
			owner[databasePath(d.Path)] = -1
		}
	}
	for i, set := range r.schema.Sets {
		if set.Kind == store.Plain {
			owner[set.File] = i
			if r.version > 1 {
				owner[set.File+companionSuffix] = -1
			}
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
// which may hold rows that nothing else mentions, and for one that is not regular.
func (r *reader) findFiles(other func(name string, irregular bool) error) (size int64, err error) {
	owner, under := r.owners()
	r.files, r.lists = make([][]string, len(r.schema.Sets)), make([][]string, len(r.schema.Sets))
	for _, e := range r.entries {
		i, known := owner[e.name]
		if !known {
			i, known = under[path.Dir(path.Dir(e.name))]
			known = known && path.Ext(e.name) == ".ndjson"
		}
		switch {
		case !known && strings.HasPrefix(path.Base(e.name), "."): // .gitattributes, .DS_Store
		case !known || !e.regular:
			if err := other(e.name, !e.regular); err != nil {
				return 0, err
			}
		case i >= 0 && r.version > 1 && strings.HasSuffix(e.name, entrySuffix):
			r.lists[i] = append(r.lists[i], e.name)
			size += e.size
		case i >= 0:
			r.files[i] = append(r.files[i], e.name)
			size += e.size
		}
	}
	return size, nil
}

// refuse returns the error of a file that does not belong to the archive.
func (r *reader) refuse(name string, irregular bool) error {
	switch {
	case irregular:
		return r.fail(name, &formats.Error{Err: errors.New("not a regular file"), Hint: "move it out of the archive, which contains only regular files"})
	case r.version == 1:
		return r.fail(name, &formats.Error{Err: errors.New("file is not in the manifest"), Hint: "move it out of the archive"})
	}
	return r.fail(name, &formats.Error{Err: errors.New("file is not part of the archive"), Hint: "move it out of the archive; a file of the store has one with its digest beside it, named " + quote(path.Base(name)+companionSuffix)})
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
		r.lists = slices.Delete(r.lists, i, i+1)
		r.view.OnLoss.Add(loss.Loss{Code: loss.FileWithSecret, At: store.Addr{File: name}})
	}
	return nil
}

// Schema returns the schema of the archive.
func (r *reader) Schema() *store.Schema { return r.schema }

// Summary returns what Batches has yielded, after a complete scan.
func (r *reader) Summary() store.Summary { return r.summary }

// Close closes the folder.
func (r *reader) Close() error { return r.root.Close() }

// filter returns the filter for secrets that the view asks for.
func (r *reader) filter() *secret.Filter { return secret.NewFilter(r.schema, r.view) }

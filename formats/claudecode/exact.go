package claudecode

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
	"rehome/formats/claudecode/internal/outline"
	"rehome/formats/internal/secret"
	"rehome/formats/internal/sqlitestore"
	"rehome/formats/internal/tally"
	"rehome/formats/loss"
	"rehome/formats/store"
)

// carried returns the folders and files of a config folder that belong to its
// sessions. The others hold keys, settings and caches.
func carried() []string {
	return []string{"projects", "file-history", "tasks", "todos", "history.jsonl"}
}

// reader reads the files of a store byte for byte.
type reader struct {
	path    string
	root    *os.Root
	schema  *store.Schema
	was     map[string]fs.FileInfo // the state of each file when it was opened
	summary store.Summary
}

func open(_ context.Context, l *formats.Location, v formats.View) (store.Reader, error) {
	if !l.IsDir() {
		return nil, &formats.Error{Format: outline.FormatName, At: l.Path, Err: errors.New("a single file is not a store"), Hint: "name the project's folder or the config folder"}
	}
	if m, err := probe(context.Background(), l); err != nil || m.Score == 0 {
		return nil, &formats.Error{Format: outline.FormatName, At: l.Path, Err: errors.New("no sessions found"), Hint: "name the config folder or a project's folder in it"}
	}
	root, err := os.OpenRoot(l.Path)
	if err != nil {
		return nil, &formats.Error{Format: outline.FormatName, At: l.Path, Err: err}
	}
	r := &reader{path: l.Path, root: root, schema: &store.Schema{Origin: outline.FormatName}, was: map[string]fs.FileInfo{}}
	if err := r.find(l.Has("projects"), v); err != nil {
		root.Close()
		return nil, outline.Failure(context.Background(), l.Path, err)
	}
	return r, nil
}

// find lists the files, sorted by path.
func (r *reader) find(config bool, v formats.View) error {
	left := 0
	err := fs.WalkDir(r.root.FS(), ".", func(p string, e fs.DirEntry, err error) error {
		switch top, _, _ := strings.Cut(p, "/"); {
		case err != nil:
			return err
		case p == ".":
			return nil
		case config && !slices.Contains(carried(), top):
			left++
			if e.IsDir() {
				return fs.SkipDir
			}
			return nil
		case e.IsDir() || noise(e.Name()):
			return nil
		case !e.Type().IsRegular():
			left++
			return nil
		}
		if v.Secrets == formats.WithholdSecrets {
			held, err := r.secret(p)
			if err != nil || held {
				if held {
					v.OnLoss.Add(loss.Loss{Code: loss.FileWithSecret, At: store.Addr{File: p}})
				}
				return err
			}
		}
		info, err := e.Info()
		r.schema.Sets = append(r.schema.Sets, store.Set{File: p, Kind: store.Plain, Columns: []string{"bytes"}})
		r.was[p] = info
		return err
	})
	if err != nil {
		return err
	}
	// WalkDir sorts each folder, not the paths.
	slices.SortFunc(r.schema.Sets, func(a, b store.Set) int { return strings.Compare(a.File, b.File) })
	if left > 0 && v.OnNotice != nil {
		v.OnNotice(r.path + ": keys, settings and other files that are not part of a session are left out")
	}
	return nil
}

// noise reports whether a system or git puts files with this name into folders.
func noise(name string) bool {
	return slices.Contains([]string{".DS_Store", "Thumbs.db", "desktop.ini", ".gitattributes", ".gitignore"}, name)
}

func (r *reader) secret(p string) (bool, error) {
	f, err := r.root.Open(p)
	if err != nil {
		return false, err
	}
	defer f.Close()
	return secret.Holds(f)
}

func (r *reader) Schema() *store.Schema { return r.schema }

func (r *reader) Summary() store.Summary { return r.summary }

// Batches yields each file in parts.
func (r *reader) Batches(ctx context.Context) iter.Seq2[*store.Batch, error] {
	return func(yield func(*store.Batch, error) bool) {
		r.summary = tally.Scan(len(r.schema.Sets), yield, func(t *tally.Tally) error {
			for i, set := range r.schema.Sets {
				if err := sqlitestore.ReadPlain(ctx, filepath.Join(r.path, filepath.FromSlash(set.File)), i, t.Give); err != nil {
					return err
				}
			}
			return ctx.Err()
		})
	}
}

// Close reports files that changed since they were opened.
func (r *reader) Close() error {
	if r.root == nil {
		return nil
	}
	var errs []error
	for _, set := range r.schema.Sets {
		now, err := r.root.Stat(set.File)
		if was := r.was[set.File]; err != nil || now.Size() != was.Size() || !now.ModTime().Equal(was.ModTime()) {
			errs = append(errs, formats.Changed(outline.FormatName, path.Join(filepath.ToSlash(r.path), set.File)))
		}
	}
	err := r.root.Close()
	r.root = nil
	return errors.Join(append(errs, err)...)
}

func create(_ context.Context, b formats.Build) (store.Writer, error) {
	if b.Compress != "" {
		return nil, &formats.Error{Format: outline.FormatName, Err: errors.New("the client cannot read compressed files"), Hint: "omit --compress"}
	}
	if b.Schema.Origin != outline.FormatName || len(b.Schema.Databases) > 0 {
		return nil, &formats.Error{Format: outline.FormatName, Err: errors.New("an exact conversion to this format needs files of Claude Code"), Hint: "run `rehome migrate` to continue another client's sessions in Claude Code"}
	}
	return sqlitestore.CreatePlain(b)
}

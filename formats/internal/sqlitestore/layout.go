package sqlitestore

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"rehome/formats"
	"rehome/formats/internal/sqlitefile"
	"rehome/formats/store"
)

// Shape is what the stores of a format look like on disk. Opening and creating
// go by the same rule, so that what is created can be opened.
type Shape struct {
	Origin string               // the format's name
	Single bool                 // a store may be one database file
	Use    func(rel string) Use // of each file in a store that is a folder; nil if none is
	Known  *sqlitefile.Known    // shared by all stores of the format that one process opens; may be nil
}

// layout is the files of one store.
type layout struct {
	origin    string
	databases []part
	plain     []part
}

// part is one file: its slash path inside the store, "" where the store is
// this one file, and where it lies on this machine.
type part struct{ path, file string }

// layout collects the files of the store at a location. The side files of
// databases never count. Symbolic links to files are followed, links to
// folders are not.
func (s Shape) layout(l *formats.Location) (layout, error) {
	out := layout{origin: s.Origin}
	if !l.Dir() {
		if !s.Single {
			return out, &formats.Error{Format: s.Origin, At: l.Path, Err: errors.New("such a store is a folder, this is a file")}
		}
		out.databases = []part{{"", l.Path}}
		return out, nil
	}
	if s.Use == nil {
		return out, &formats.Error{Format: s.Origin, At: l.Path, Err: errors.New("such a store is a file, this is a folder")}
	}
	err := filepath.WalkDir(l.Path, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return &formats.Error{Format: s.Origin, At: name, Err: err}
		}
		rel, err := filepath.Rel(l.Path, name)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if e.IsDir() {
			if rel != "." && s.Use(rel+"/") == Skip {
				return fs.SkipDir
			}
			return nil
		}
		switch use := s.Use(rel); {
		case side(rel) || use == Skip || !regular(name, e):
		case use == Database:
			out.databases = append(out.databases, part{rel, name})
		default:
			out.plain = append(out.plain, part{rel, name})
		}
		return nil
	})
	if err == nil && len(out.databases) == 0 {
		err = &formats.Error{Format: s.Origin, At: l.Path, Err: errors.New("none of its databases is here"), Hint: "rehome detect says what a folder is"}
	}
	return out, err
}

// fits refuses a schema whose store this format could not open again.
func (s Shape) fits(schema *store.Schema) error {
	refuse := func(what string) error {
		return &formats.Error{Format: s.Origin, Err: errors.New(what), Hint: "name another format with --to; without it an archive becomes what it was"}
	}
	files := slices.ContainsFunc(schema.Sets, func(set store.Set) bool { return set.Kind == store.Plain })
	switch {
	case single(schema) && !files && s.Single:
		return nil
	case single(schema):
		return refuse("a single database is no store of this format")
	case s.Use == nil:
		return refuse("several files are no store of this format")
	}
	if len(schema.Databases) == 0 {
		return refuse("there is no database in it")
	}
	for _, d := range schema.Databases {
		if !s.takes(d.Path, Database) {
			return refuse(strconv.QuoteToGraphic(d.Path) + " is no database of such a store")
		}
	}
	for _, set := range schema.Sets {
		if set.Kind == store.Plain && !s.takes(set.File, Plain) {
			return refuse(strconv.QuoteToGraphic(set.File) + " is no file of such a store")
		}
	}
	return nil
}

// takes reports whether opening would find a file, and take it for the same.
func (s Shape) takes(rel string, use Use) bool {
	for i, c := range rel {
		if c == '/' && s.Use(rel[:i+1]) == Skip {
			return false
		}
	}
	return s.Use(rel) == use && !side(rel)
}

// Use is what becomes of a file, or whether a folder ("name/") is entered.
type Use uint8

// Uses.
const (
	Skip Use = iota
	Plain
	Database
)

func regular(name string, e fs.DirEntry) bool {
	if e.Type()&fs.ModeSymlink == 0 {
		return e.Type().IsRegular()
	}
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

// side reports SQLite's side files, which belong to their database.
func side(rel string) bool {
	for _, end := range []string{"-wal", "-shm", "-journal"} {
		if base, ok := strings.CutSuffix(path.Base(rel), end); ok && path.Ext(base) != "" {
			return true
		}
	}
	return false
}

// HasHeader reports whether a file below a folder begins like a database.
func HasHeader(dir, rel string) bool {
	l, err := formats.Locate(filepath.Join(dir, filepath.FromSlash(rel)))
	return err == nil && sqlitefile.IsDatabase(l.Head())
}

package sqlitestore

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"rehome/formats"
	"rehome/formats/internal/sqlitefile"
)

// Layout is the files of one store.
type Layout struct {
	Origin    string // the format's name
	Databases []Part
	Plain     []Part
}

// Part is one file: its slash path inside the store, "" where the store is
// this one file, and where it lies on this machine.
type Part struct{ Path, File string }

// One is a store that is a single database.
func One(origin, file string) Layout {
	return Layout{Origin: origin, Databases: []Part{{"", file}}}
}

// Folder collects the files below a folder. keep says of each file, by its
// slash path, what it is; the side files of databases never count. Symbolic
// links to files are followed, links to folders are not.
func Folder(origin, root string, keep func(rel string) Use) (Layout, error) {
	l := Layout{Origin: origin}
	err := filepath.WalkDir(root, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			if name == root {
				return err
			}
			return &formats.Error{Format: origin, At: name, Err: err}
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if e.IsDir() {
			if rel != "." && keep(rel+"/") == Skip {
				return fs.SkipDir
			}
			return nil
		}
		if side(rel) {
			return nil
		}
		use := keep(rel)
		if use == Skip || !regular(name, e) {
			return nil
		}
		if p := (Part{rel, name}); use == Database {
			l.Databases = append(l.Databases, p)
		} else {
			l.Plain = append(l.Plain, p)
		}
		return nil
	})
	return l, err
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

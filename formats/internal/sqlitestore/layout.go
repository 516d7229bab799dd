package sqlitestore

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"rehome/formats"
	"rehome/formats/internal/sqliteddl"
	"rehome/formats/internal/sqlitefile"
	"rehome/formats/loss"
	"rehome/formats/store"
)

// Shape is what the stores of a format look like on disk. Opening and creating
// go by the same rule, so that what is created can be opened.
type Shape struct {
	Origin string               // the format's name
	Single bool                 // a store may be one database file,
	Tables []string             // which is known by these tables
	Use    func(rel string) Use // of each file in a store that is a folder; nil if none is
	Hollow bool                 // a database below another folder may be without a byte, and holds nothing then
	// Cascades: the client's tables have foreign keys that change rows.
	Cascades bool
	Known    *sqlitefile.Known // shared by all stores of the format that one process opens; may be nil
	// Part finds out what belongs to View.Sessions; nil if the format's stores
	// have no parts.
	Part func(ctx context.Context, l *formats.Location, v formats.View) (*Part, error)
}

// AnyDatabase is the origin of databases whose owner is not known. Only their
// schemas may hold SQL that runs by itself.
const AnyDatabase = "sqlite"

// allowed is what SQL that runs by itself a schema may have.
func (s Shape) allowed() sqliteddl.Allowed {
	switch {
	case s.Origin == AnyDatabase:
		return sqliteddl.AnyCode
	case s.Cascades:
		return sqliteddl.Cascades
	}
	return sqliteddl.NoCode
}

// Part is what of a store is wanted.
type Part struct {
	File func(path string) bool                                // by its slash path inside the store; "" where that is one file
	Row  func(set *store.Set, b *store.Batch, record int) bool // of a file that is
	// Rows are the row ids of what is wanted of a table, and rise: no other row
	// is read. Where it is not ok the table is scanned, and Row asked.
	Rows func(set *store.Set) (ids []int64, ok bool)
	// Cut is what a cell has of the part where that is not all of it (ok).
	Cut func(set *store.Set, b *store.Batch, record, column int) (value []byte, ok bool)
}

// wanted leaves the files out that are no part.
func (l *layout) wanted(p *Part) {
	not := func(f part) bool { return !p.File(f.path) }
	l.databases, l.plain = slices.DeleteFunc(l.databases, not), slices.DeleteFunc(l.plain, not)
}

// layout is the files of one store.
type layout struct {
	origin    string
	code      sqliteddl.Allowed
	databases []part
	plain     []part
	aside     []loss.Loss // what lies there and is not carried
}

// part is one file: its slash path inside the store, "" where the store is
// this one file, and where it lies on this machine.
type part struct {
	path, file string
	size       int64 // of a plain file: what of it was looked at for secrets; 0: all
}

// layout collects the files of the store at a location. The side files of
// databases never count. Symbolic links to files are followed, links to
// folders are not; and what a client lays beside its databases never leads out
// of the store, nor is it a database that nobody looks into for secrets.
func (s Shape) layout(l *formats.Location) (layout, error) {
	out := layout{origin: s.Origin, code: s.allowed()}
	if !l.IsDir() {
		if !s.Single {
			return out, &formats.Error{Format: s.Origin, At: l.Path, Err: errors.New("not a folder"), Hint: "name the folder of the store"}
		}
		out.databases = []part{{file: l.Path}}
		return out, nil
	}
	if s.Use == nil {
		return out, &formats.Error{Format: s.Origin, At: l.Path, Err: errors.New("a folder, not a database file"), Hint: "name the database file in it"}
	}
	root := l.Path
	if info, err := os.Lstat(root); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		if real, err := filepath.EvalSymlinks(root); err == nil {
			root = real // a walk does not begin at a link
		}
	}
	err := filepath.WalkDir(root, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return &formats.Error{Format: s.Origin, At: name, Err: err}
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		return s.place(&out, root, filepath.ToSlash(rel), name, e)
	})
	byPath := func(a, b part) int { return strings.Compare(a.path, b.path) }
	slices.SortFunc(out.databases, byPath) // WalkDir sorts each folder, not the paths
	slices.SortFunc(out.plain, byPath)
	if err == nil && len(out.databases) == 0 {
		err = &formats.Error{Format: s.Origin, At: l.Path, Err: ErrNoDatabase, Hint: "run `rehome ls` on it to see what it holds"}
	}
	return out, err
}

// place takes in one file or folder of a store.
func (s Shape) place(out *layout, root, rel, name string, e fs.DirEntry) error {
	aside := func(code loss.Code) {
		out.aside = append(out.aside, loss.Loss{Code: code, At: store.Addr{File: rel}})
	}
	if e.IsDir() && formats.IsStaging(e.Name()) {
		return fs.SkipDir // of a conversion that runs, or was killed
	}
	if e.IsDir() || linkToDir(name, e) {
		switch use := s.Use(rel + "/"); {
		case rel == ".":
			return nil
		case use == Aside:
			aside(loss.FolderNotPart)
		case use != Skip && !e.IsDir():
			aside(loss.LinkToFolder)
		case use != Skip:
			return nil
		}
		if e.IsDir() {
			return fs.SkipDir
		}
		return nil
	}
	switch use := s.Use(rel); {
	case side(rel) || use == Skip:
	case !regular(name, e):
		aside(loss.LinkBroken)
	case use == Database && s.Hollow && strings.Contains(rel, "/") && hollow(name):
		aside(loss.DatabaseEmpty)
	case use == Database:
		out.databases = append(out.databases, part{path: rel, file: name})
	case use == Aside:
		aside(loss.FileNotPart)
	case e.Type()&fs.ModeSymlink != 0 && !inside(root, name):
		aside(loss.LinkOutside)
	case HasHeader(name, ""):
		aside(loss.FileNotPart)
	default:
		out.plain = append(out.plain, part{path: rel, file: name})
	}
	return nil
}

// hollow reports a database without a byte that has no log either.
func hollow(name string) bool {
	for _, side := range []string{"", "-wal", "-journal"} {
		if info, err := os.Stat(name + side); err == nil && info.Size() > 0 || err != nil && side == "" {
			return false
		}
	}
	return true
}

// ErrNoDatabase is why a folder is no store: there is no database in it.
var ErrNoDatabase = errors.New("no database found")

// fits refuses a schema whose store this format could not open again.
func (s Shape) fits(schema *store.Schema) error {
	refuse := func(what string) error {
		return &formats.Error{Format: s.Origin, Err: errors.New(what), Hint: "use --to with another format, or omit it to restore an archive to its original format"}
	}
	files := slices.ContainsFunc(schema.Sets, func(set store.Set) bool { return set.Kind == store.Plain })
	switch {
	case single(schema) && !files && s.Single:
		if missing := s.missing(schema); missing != "" {
			return refuse("not a store of this format: no table " + missing)
		}
		return nil
	case single(schema):
		return refuse("a single database cannot be a store of this format")
	case s.Use == nil:
		return refuse("a store of this format is a single file")
	}
	if len(schema.Databases) == 0 {
		return refuse("no database in it")
	}
	for _, d := range schema.Databases {
		if !s.takes(d.Path, Database) {
			return refuse(strconv.QuoteToGraphic(d.Path) + " cannot be a database of a store of this format")
		}
	}
	for _, set := range schema.Sets {
		if set.Kind == store.Plain && !s.takes(set.File, Plain) {
			return refuse(strconv.QuoteToGraphic(set.File) + " cannot be a file of a store of this format")
		}
	}
	return nil
}

// missing is a table by which a database of this format is known and which this
// one lacks. A database that was of this format stays so.
func (s Shape) missing(schema *store.Schema) string {
	if schema.Origin == s.Origin {
		return ""
	}
	for _, name := range s.Tables {
		if !slices.ContainsFunc(schema.Sets, func(set store.Set) bool { return strings.EqualFold(set.Name, name) }) {
			return name
		}
	}
	return ""
}

// takes reports whether opening would find a file, and take it for the same.
func (s Shape) takes(rel string, use Use) bool {
	for i, c := range rel {
		if c == '/' {
			if use := s.Use(rel[:i+1]); use == Skip || use == Aside {
				return false
			}
		}
	}
	return s.Use(rel) == use && !side(rel)
}

// Use is what becomes of a file, or whether a folder ("name/") is entered.
type Use uint8

// Uses.
const (
	Skip  Use = iota // somebody else's, and none of our business
	Aside            // lies in the store and is no part of it: left out, and said so
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

func linkToDir(name string, e fs.DirEntry) bool {
	if e.Type()&fs.ModeSymlink == 0 {
		return false
	}
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// inside reports whether a link leads to a file of the folder.
func inside(root, name string) bool {
	root, err := filepath.EvalSymlinks(root)
	if err != nil {
		return false
	}
	if name, err = filepath.EvalSymlinks(name); err != nil {
		return false
	}
	if root, err = filepath.Abs(root); err != nil {
		return false
	}
	if name, err = filepath.Abs(name); err != nil {
		return false
	}
	rel, err := filepath.Rel(root, name)
	return err == nil && filepath.IsLocal(rel)
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

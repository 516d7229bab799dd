package lists

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"rehome/formats"
	"rehome/formats/internal/sqlitefile"
)

const (
	SpacesName = "workspaceStorage"
	GlobalName = "globalStorage"
	WhichName  = "workspace.json"
	DbName     = "state.vscdb"
	GlobalDB   = GlobalName + "/" + DbName
)

// Store is an open store: its databases and workspaces.
type Store struct {
	view       formats.View
	known      *sqlitefile.Known
	Global     *Database    // nil where there is none
	Workspaces []*Workspace // in the order of their ids
	Only       *Workspace   // the one workspace whose sessions are wanted
	Mine       bool         // the database of only is the store itself

	near   *Database // the workspace's database that was opened last
	nearTo *Workspace
}

// Workspace is a workspace of the client: its folder and its database.
type Workspace struct {
	ID, Dir string
	File    string // its database inside the store; "" if it has none
	folder  Folder
	Kept    *Database // its database, where bodies lie in that
}

// Folder returns the folder that the workspace was opened for; none if it is not known.
func (s *Workspace) Folder() Folder { return s.folder }

// Open finds the databases that belong to a location, and opens the global one. Of one workspace alone the bodies
// lie in its user dir's global database, which is looked into; of the global
// database alone its user dir says which workspace is which folder.
func Open(ctx context.Context, l *formats.Location, v formats.View, known *sqlitefile.Known) (*Store, error) {
	p := &Store{view: v, known: known}
	abs, err := filepath.Abs(l.Path)
	if err != nil {
		return nil, err
	}
	dir, db := abs, filepath.Join(abs, DbName)
	if !l.IsDir() {
		dir, db = filepath.Dir(abs), abs
	}
	switch up := filepath.Dir(dir); {
	case l.IsDir() && (l.Has(GlobalName) || l.Has(SpacesName)):
		err = p.userDir(ctx, dir)
	case filepath.Base(up) == SpacesName:
		p.Only, p.Mine = &Workspace{ID: filepath.Base(dir), Dir: dir, File: filepath.Base(db)}, true
		p.Only.folder, _ = ReadWorkspace(filepath.Join(dir, WhichName))
		p.Workspaces = []*Workspace{p.Only}
		if beside := filepath.Join(filepath.Dir(up), GlobalName, DbName); IsFile(beside) {
			p.Global, err = openDatabase(ctx, beside, GlobalDB, known, v)
		}
	default:
		if filepath.Base(dir) == GlobalName {
			p.findSpaces(filepath.Join(up, SpacesName), false)
		}
		p.Global, err = openDatabase(ctx, db, filepath.Base(db), known, v)
	}
	if err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

// IsFile reports whether a path is a regular file.
func IsFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

func (p *Store) userDir(ctx context.Context, dir string) (err error) {
	p.findSpaces(filepath.Join(dir, SpacesName), true)
	if at := filepath.Join(dir, GlobalName, DbName); IsFile(at) {
		p.Global, err = openDatabase(ctx, at, GlobalDB, p.known, p.view)
	}
	return err
}

// findSpaces lists the workspaces of a user dir, with their databases if those
// belong to the store.
func (p *Store) findSpaces(dir string, databases bool) {
	list, _ := os.ReadDir(dir)
	for _, e := range list {
		s := &Workspace{ID: e.Name(), Dir: filepath.Join(dir, e.Name())}
		var is bool
		s.folder, is = ReadWorkspace(filepath.Join(s.Dir, WhichName))
		if databases && IsFile(filepath.Join(s.Dir, DbName)) {
			s.File = SpacesName + "/" + e.Name() + "/" + DbName
		}
		if is || s.File != "" {
			p.Workspaces = append(p.Workspaces, s)
		}
	}
	slices.SortFunc(p.Workspaces, func(a, b *Workspace) int { return strings.Compare(a.ID, b.ID) })
}

// Database returns the database of a workspace, or the global one for nil. There
// can be hundreds of workspaces, so one is open at a time.
func (p *Store) Database(ctx context.Context, s *Workspace) (*Database, error) {
	if s == nil {
		return p.Global, nil
	}
	if s.Kept != nil {
		return s.Kept, nil
	}
	if s == p.nearTo {
		return p.near, nil
	}
	if err := p.leave(); err != nil {
		return nil, err
	}
	at := filepath.Join(s.Dir, filepath.Base(s.File))
	near, err := openDatabase(ctx, at, s.File, p.known, p.view)
	if err != nil {
		return nil, err
	}
	p.near, p.nearTo = near, s
	return near, nil
}

// stay keeps the workspace's database open that was asked for last: there are
// bodies in it, and others read those while the next session is sought.
func (p *Store) stay() {
	p.nearTo.Kept = p.near
	p.near, p.nearTo = nil, nil
}

// leave closes the workspace's database that is open.
func (p *Store) leave() (err error) {
	if p.near != nil {
		err = p.near.close()
	}
	p.near, p.nearTo = nil, nil
	return err
}

// Close closes all databases.
func (p *Store) Close() error {
	err := p.leave()
	for _, s := range p.Workspaces {
		if s.Kept != nil {
			err = errors.Join(err, s.Kept.close())
			s.Kept = nil
		}
	}
	if p.Global != nil {
		err = errors.Join(err, p.Global.close())
		p.Global = nil
	}
	return err
}

// Workspace returns a workspace by its id; nil if there is none.
func (p *Store) Workspace(id string) *Workspace {
	i, ok := slices.BinarySearchFunc(p.Workspaces, id, func(s *Workspace, id string) int { return strings.Compare(s.ID, id) })
	if !ok {
		return nil
	}
	return p.Workspaces[i]
}

package cursoride

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
	spacesName = "workspaceStorage"
	globalName = "globalStorage"
	whichName  = "workspace.json"
)

// place is a store by its databases.
type place struct {
	view   formats.View
	known  *sqlitefile.Known
	global *shelf   // nil where there is none
	spaces []*space // in the order of their ids
	only   *space   // the one workspace whose sessions are wanted
	mine   bool     // the database of only is the store itself

	near   *shelf // the workspace's database that was opened last
	nearTo *space
}

// space is a workspace: which folder it is, and its database.
type space struct {
	id, dir string
	file    string // its database inside the store; "" if it has none
	folder  folder
	kept    *shelf // its database, where bodies lie in that
}

// survey finds what belongs to a location. Of one workspace alone the bodies
// lie in its user dir's global database, which is looked into; of the global
// database alone its user dir says which workspace is which folder.
func survey(ctx context.Context, l *formats.Location, v formats.View, known *sqlitefile.Known) (*place, error) {
	p := &place{view: v, known: known}
	abs, err := filepath.Abs(l.Path)
	if err != nil {
		return nil, err
	}
	dir, db := abs, filepath.Join(abs, dbName)
	if !l.IsDir() {
		dir, db = filepath.Dir(abs), abs
	}
	switch up := filepath.Dir(dir); {
	case l.IsDir() && (l.Has(globalName) || l.Has(spacesName)):
		err = p.userDir(ctx, dir)
	case filepath.Base(up) == spacesName:
		p.only, p.mine = &space{id: filepath.Base(dir), dir: dir, file: filepath.Base(db)}, true
		p.only.folder, _ = readWorkspace(filepath.Join(dir, whichName))
		p.spaces = []*space{p.only}
		if beside := filepath.Join(filepath.Dir(up), globalName, dbName); isFile(beside) {
			p.global, err = openShelf(ctx, beside, globalDB, known, v)
		}
	default:
		if filepath.Base(dir) == globalName {
			p.findSpaces(filepath.Join(up, spacesName), false)
		}
		p.global, err = openShelf(ctx, db, filepath.Base(db), known, v)
	}
	if err != nil {
		return nil, errors.Join(err, p.close())
	}
	return p, nil
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

func (p *place) userDir(ctx context.Context, dir string) (err error) {
	p.findSpaces(filepath.Join(dir, spacesName), true)
	if at := filepath.Join(dir, globalName, dbName); isFile(at) {
		p.global, err = openShelf(ctx, at, globalDB, p.known, p.view)
	}
	return err
}

// findSpaces lists the workspaces of a user dir, with their databases if those
// belong to the store.
func (p *place) findSpaces(dir string, databases bool) {
	list, _ := os.ReadDir(dir)
	for _, e := range list {
		s := &space{id: e.Name(), dir: filepath.Join(dir, e.Name())}
		var is bool
		s.folder, is = readWorkspace(filepath.Join(s.dir, whichName))
		if databases && isFile(filepath.Join(s.dir, dbName)) {
			s.file = spacesName + "/" + e.Name() + "/" + dbName
		}
		if is || s.file != "" {
			p.spaces = append(p.spaces, s)
		}
	}
	slices.SortFunc(p.spaces, func(a, b *space) int { return strings.Compare(a.id, b.id) })
}

// shelf is the database of a workspace, or the global one for nil. There can
// be hundreds of workspaces, so one is open at a time.
func (p *place) shelf(ctx context.Context, s *space) (*shelf, error) {
	if s == nil {
		return p.global, nil
	}
	if s.kept != nil {
		return s.kept, nil
	}
	if s == p.nearTo {
		return p.near, nil
	}
	if err := p.leave(); err != nil {
		return nil, err
	}
	at := filepath.Join(s.dir, filepath.Base(s.file))
	near, err := openShelf(ctx, at, s.file, p.known, p.view)
	if err != nil {
		return nil, err
	}
	p.near, p.nearTo = near, s
	return near, nil
}

// stay keeps the workspace's database open that was asked for last: there are
// bodies in it, and others read those while the next session is sought.
func (p *place) stay() {
	p.nearTo.kept = p.near
	p.near, p.nearTo = nil, nil
}

// leave closes the workspace's database that is open.
func (p *place) leave() (err error) {
	if p.near != nil {
		err = p.near.close()
	}
	p.near, p.nearTo = nil, nil
	return err
}

func (p *place) close() error {
	err := p.leave()
	for _, s := range p.spaces {
		if s.kept != nil {
			err = errors.Join(err, s.kept.close())
			s.kept = nil
		}
	}
	if p.global != nil {
		err = errors.Join(err, p.global.close())
		p.global = nil
	}
	return err
}

// space finds a workspace by its id.
func (p *place) space(id string) *space {
	i, ok := slices.BinarySearchFunc(p.spaces, id, func(s *space, id string) int { return strings.Compare(s.id, id) })
	if !ok {
		return nil
	}
	return p.spaces[i]
}

// Package audit applies the rules of `rehome check` to a Cursor IDE store.
package audit

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"rehome/formats"
	"rehome/formats/cursoride/internal/lists"
	"rehome/formats/internal/agentstate"
	"rehome/formats/internal/sqlitecheck"
	"rehome/formats/internal/sqlitefile"
	"rehome/formats/internal/sqlitepages"
	"rehome/formats/rule"
	"rehome/formats/store"
)

// declared is how the IDE declares its tables. composerHeaders is of version 3.9
// and later; subagentTypeName was added to it later still.
const declared = `PRAGMA user_version = 0;
PRAGMA user_version = 1;
CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
CREATE TABLE composerHeaders (composerId TEXT PRIMARY KEY, workspaceId TEXT, createdAt INTEGER, lastUpdatedAt INTEGER,
    isArchived INTEGER, isSubagent INTEGER, recency INTEGER, checkpointAt INTEGER, value TEXT, subagentTypeName TEXT);
CREATE INDEX idx_composerHeaders_0 ON composerHeaders (workspaceId, isSubagent, isArchived, recency);
CREATE INDEX idx_composerHeaders_1 ON composerHeaders (recency, composerId);
`

// client returns the tables that the client's own statements create. Tables of newer
// versions are optional, because older stores do not have them. The client recreates a
// missing ItemTable, and finds the sessions in cursorDiskKV.
func client() sqlitecheck.Known {
	column := func(need bool, names ...string) (out []sqlitecheck.Column) {
		for _, n := range names {
			out = append(out, sqlitecheck.Column{Name: n, Needed: need})
		}
		return out
	}
	pair := column(true, "key", "value")
	heads := append(column(true, "composerId"), column(false, "workspaceId", "createdAt", "lastUpdatedAt", "isArchived",
		"isSubagent", "recency", "checkpointAt", "value", "subagentTypeName")...)
	return sqlitecheck.Known{Declared: declared, Tables: []sqlitecheck.Table{
		{Name: lists.ItemTable, Columns: pair, Needed: true, Unless: lists.DiskTable},
		{Name: lists.DiskTable, Columns: pair},
		{Name: lists.HeadTable, Columns: heads},
	}}
}

// examination is the check of one store: a user folder, the folder of one workspace,
// or one database.
type examination struct {
	teller
	ctx   context.Context
	view  formats.View
	known sqlitefile.Known

	whole  bool // a user folder: nothing that belongs together is elsewhere
	spaces map[string]bool
	listed map[string]*listing
	paned  map[string]bool // sessions that a pane or the sidebar displays

	bodies []string // ids of the sessions with a record, sorted

	// References to sessions, checked once all are known.
	shown, kids, parents, unlisted []named
	stray                          []named // workspaces of sessions that no list names
}

// Check reports what is wrong with a store.
func Check(ctx context.Context, l *formats.Location, v formats.View, q *rule.Pass) error {
	q = q.Owned(func(f *rule.Finding) string { return lists.OwnerOf(&f.At) })
	x := &examination{teller: teller{q}, ctx: ctx, view: v, spaces: map[string]bool{}, listed: map[string]*listing{}, paned: map[string]bool{}}
	abs, err := filepath.Abs(l.Path)
	if err != nil {
		return err
	}
	switch {
	case !l.IsDir():
		return x.alone(abs, "")
	case !l.Has(lists.GlobalName) && !l.Has(lists.SpacesName):
		x.which(abs, "")
		return x.alone(filepath.Join(abs, lists.DbName), lists.DbName)
	}
	x.whole = true
	return x.userDir(abs)
}

// alone checks one database: of a workspace, or the global one.
func (x *examination) alone(path, file string) error {
	s, err := x.open(path, file)
	if s == nil || err != nil {
		return err
	}
	err = x.lists(s, "")
	if err == nil {
		err = x.bodiesOf(s)
	}
	if err == nil && len(x.bodies) > 0 {
		x.verdicts(s.Disk != nil)
	}
	return errors.Join(err, s.close())
}

// userDir checks the workspaces first, so that the heads of each session are known
// when its record is read.
func (x *examination) userDir(dir string) error {
	x.asides(filepath.Join(dir, lists.GlobalName), lists.GlobalName)
	list, err := os.ReadDir(filepath.Join(dir, lists.SpacesName))
	if err != nil {
		x.spaces = nil // part of a user folder: its workspaces are unknown
	}
	for _, e := range list {
		at := filepath.Join(dir, lists.SpacesName, e.Name())
		if info, err := os.Stat(at); err != nil || !info.IsDir() {
			continue
		}
		x.spaces[e.Name()] = true
		rel := lists.SpacesName + "/" + e.Name() + "/"
		x.which(at, rel)
		x.asides(at, rel[:len(rel)-1])
		if path := filepath.Join(at, lists.DbName); lists.IsFile(path) {
			if err := x.space(path, rel+lists.DbName, e.Name()); err != nil {
				return err
			}
		}
	}
	global := filepath.Join(dir, lists.GlobalName, lists.DbName)
	if !lists.IsFile(global) {
		return nil
	}
	s, err := x.open(global, lists.GlobalDB)
	if s == nil || err != nil {
		return err
	}
	if err = x.lists(s, ""); err == nil {
		err = x.bodiesOf(s)
	}
	if err == nil {
		x.verdicts(s.Disk != nil)
	}
	return errors.Join(err, s.close())
}

// space checks the database of a workspace, which can hold records of sessions, too.
func (x *examination) space(path, file, id string) error {
	s, err := x.open(path, file)
	if s == nil || err != nil {
		return err
	}
	if err = x.lists(s, id); err == nil {
		err = x.bodiesOf(s)
	}
	return errors.Join(err, s.close())
}

// base is a database that was examined.
type base struct {
	*lists.Database
	image *sqlitecheck.File
	named pending
	blobs *agentstate.Index

	keyAt, valueAt int // columns of cursorDiskKV
}

// open checks a database as a container, and its values in the same walk. It returns
// nil if the database cannot be read, which is a finding.
func (x *examination) open(path, file string) (*base, error) {
	b := &base{Database: &lists.Database{File: file}, blobs: &agentstate.Index{}, named: pending{changed: map[int64]bool{}}}
	held := &withheld{}
	var v *values
	known := client()
	known.Shared = &x.known
	image, err := sqlitecheck.Examine(x.ctx, path, file, x.view, x.q, known, func(t *sqlitefile.PlanTable) func(*sqlitepages.Row) error {
		if t.Name != lists.DiskTable || t.Column("key") < 0 || t.Column("value") < 0 {
			return nil
		}
		v = x.values(b, t, held)
		return v.row
	})
	if v != nil {
		v.end()
	}
	if image == nil || err != nil {
		return nil, err
	}
	b.image = image
	held.tell(x.q)
	if v != nil {
		v.tell(x.q, file)
	}
	db, err := image.SQL(x.ctx)
	if err == nil {
		err = b.Attach(x.ctx, db)
	}
	if err != nil {
		return nil, errors.Join(err, b.close())
	}
	return b, nil
}

func (b *base) close() error { return errors.Join(b.Detach(), b.image.Close()) }

// asides reports databases that the client renamed because it could not open them.
func (x *examination) asides(dir, rel string) {
	if !x.q.Enabled(rule.References) {
		return
	}
	list, _ := os.ReadDir(dir)
	for _, e := range list {
		if strings.HasPrefix(e.Name(), lists.DbName+".corrupted.") && e.Type().IsRegular() {
			x.q.Reportf("RH347", store.Addr{File: rel + "/" + e.Name()}, "")
		}
	}
}

// which checks the file that names the folder of a workspace. A window without a
// folder has none.
func (x *examination) which(dir, rel string) {
	path, at := filepath.Join(dir, lists.WhichName), store.Addr{File: rel + lists.WhichName}
	info, err := os.Lstat(path)
	if err != nil || !x.q.Enabled(rule.References) && !x.q.Enabled(rule.Schema) {
		return
	}
	if !info.Mode().IsRegular() || info.Size() > lists.MaxWorkspace {
		x.found("RH345", at, "", "not a regular file, or too large")
		return
	}
	doc, err := os.ReadFile(path)
	if err != nil {
		x.found("RH345", at, "", "cannot be opened")
		return
	}
	if _, ok := lists.ReadWorkspace(path); !ok {
		x.found("RH345", at, "", "")
		return
	}
	if x.q.Enabled(rule.Schema) {
		x.q.Matches(x.q.Schema("cursor-ide-workspace-1"), doc, at, "")
	}
}

// teller reports findings.
type teller struct{ q *rule.Pass }

// found reports a finding. Its layer may be disabled.
func (t teller) found(id string, at store.Addr, pointer, says string, args ...any) {
	t.q.Report(rule.Finding{Rule: id, At: at, Pointer: pointer, Message: says, Args: args})
}

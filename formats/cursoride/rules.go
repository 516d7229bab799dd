package cursoride

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"rehome/formats"
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

// client is what the client's own statements make. Tables of newer versions
// are optional: old ones are whole without them. The client makes ItemTable
// anew where it is missing, and finds the sessions in cursorDiskKV.
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
		{Name: itemTable, Columns: pair, Needed: true, Unless: diskTable},
		{Name: diskTable, Columns: pair},
		{Name: headTable, Columns: heads},
	}}
}

// examination asks the rules of one store: a user dir, the folder of one
// workspace, or one database.
type examination struct {
	teller
	ctx   context.Context
	view  formats.View
	known sqlitefile.Known

	whole  bool // a user dir: what belongs together is all there
	spaces map[string]bool
	listed map[string]*listing
	paned  map[string]bool // sessions that are known by a pane, or by the sidebar

	bodies []string // ids of the sessions that have a record, in their order

	// Sessions that are named where not all of them are known yet.
	shown, kids, parents, unlisted []named
	stray                          []named // workspaces of sessions that no list names
}

func check(ctx context.Context, l *formats.Location, v formats.View, q *rule.Pass) error {
	x := &examination{teller: teller{q}, ctx: ctx, view: v, spaces: map[string]bool{}, listed: map[string]*listing{}, paned: map[string]bool{}}
	abs, err := filepath.Abs(l.Path)
	if err != nil {
		return err
	}
	switch {
	case !l.IsDir():
		return x.alone(abs, "")
	case !l.Has(globalName) && !l.Has(spacesName):
		x.which(abs, "")
		return x.alone(filepath.Join(abs, dbName), dbName)
	}
	x.whole = true
	return x.userDir(abs)
}

// alone looks at one database: of a workspace, or the global one.
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
		x.verdicts(s.disk != nil)
	}
	return errors.Join(err, s.close())
}

// userDir looks at the workspaces first, so that each session's heads are
// known when its record is read.
func (x *examination) userDir(dir string) error {
	x.asides(filepath.Join(dir, globalName), globalName)
	list, err := os.ReadDir(filepath.Join(dir, spacesName))
	if err != nil {
		x.spaces = nil // a part of a user dir: nothing can be said of its workspaces
	}
	for _, e := range list {
		at := filepath.Join(dir, spacesName, e.Name())
		if info, err := os.Stat(at); err != nil || !info.IsDir() {
			continue
		}
		x.spaces[e.Name()] = true
		rel := spacesName + "/" + e.Name() + "/"
		x.which(at, rel)
		x.asides(at, rel[:len(rel)-1])
		if path := filepath.Join(at, dbName); isFile(path) {
			if err := x.space(path, rel+dbName, e.Name()); err != nil {
				return err
			}
		}
	}
	global := filepath.Join(dir, globalName, dbName)
	if !isFile(global) {
		return nil
	}
	s, err := x.open(global, globalDB)
	if s == nil || err != nil {
		return err
	}
	if err = x.lists(s, ""); err == nil {
		err = x.bodiesOf(s)
	}
	if err == nil {
		x.verdicts(s.disk != nil)
	}
	return errors.Join(err, s.close())
}

// space looks at the database of a workspace, which can hold bodies too.
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
	*shelf
	image *sqlitecheck.File
	named pending
	blobs *agentstate.Index

	keyAt, valueAt int // columns of cursorDiskKV
}

// open examines a database, its values in the same walk, and opens it for the
// rest; nil if nothing can be made of it, which has been said then.
func (x *examination) open(path, file string) (*base, error) {
	b := &base{shelf: &shelf{file: file}, blobs: &agentstate.Index{}, named: pending{changed: map[int64]bool{}}}
	held := &withheld{}
	var v *values
	known := client()
	known.Shared = &x.known
	image, err := sqlitecheck.Examine(x.ctx, path, file, x.view, x.q, known, func(t *sqlitefile.PlanTable) func(*sqlitepages.Row) error {
		if t.Name != diskTable || t.Column("key") < 0 || t.Column("value") < 0 {
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
	if b.db, err = image.SQL(x.ctx); err == nil {
		b.items, err = b.db.Keyed(x.ctx, itemTable, "key", "value")
	}
	if err == nil {
		b.disk, err = b.db.Keyed(x.ctx, diskTable, "key", "value")
	}
	if err == nil {
		b.heads, err = b.db.Keyed(x.ctx, headTable, "composerId", "value")
	}
	if err != nil {
		return nil, errors.Join(err, b.close())
	}
	return b, nil
}

func (b *base) close() error {
	var errs []error
	for _, k := range []*sqlitefile.Keyed{b.items, b.disk, b.heads} {
		if k != nil {
			errs = append(errs, k.Close())
		}
	}
	return errors.Join(append(errs, b.image.Close())...)
}

// asides are what the client put beside its database when it could not open it.
func (x *examination) asides(dir, rel string) {
	if !x.q.Enabled(rule.References) {
		return
	}
	list, _ := os.ReadDir(dir)
	for _, e := range list {
		if strings.HasPrefix(e.Name(), dbName+".corrupted.") && e.Type().IsRegular() {
			x.q.Reportf("RH347", store.Addr{File: rel + "/" + e.Name()}, "")
		}
	}
}

// which looks at the file that says which folder a workspace is of. A window
// without a folder has none.
func (x *examination) which(dir, rel string) {
	path, at := filepath.Join(dir, whichName), store.Addr{File: rel + whichName}
	info, err := os.Lstat(path)
	if err != nil || !x.q.Enabled(rule.References) && !x.q.Enabled(rule.Schema) {
		return
	}
	if !info.Mode().IsRegular() || info.Size() > workspaceMost {
		x.found("RH345", at, "", "not a regular file, or too large")
		return
	}
	doc, err := os.ReadFile(path)
	if err != nil {
		x.found("RH345", at, "", "cannot be opened")
		return
	}
	if _, ok := readWorkspace(path); !ok {
		x.found("RH345", at, "", "")
		return
	}
	if x.q.Enabled(rule.Schema) {
		x.q.Matches(x.q.Schema("cursor-ide-workspace-1"), doc, at, "")
	}
}

// teller reports what is found.
type teller struct{ q *rule.Pass }

// found reports a breach of a rule, of which the layer may not be asked for.
func (t teller) found(id string, at store.Addr, pointer, says string, args ...any) {
	t.q.Report(rule.Finding{Rule: id, At: at, Pointer: pointer, Message: says, Args: args})
}

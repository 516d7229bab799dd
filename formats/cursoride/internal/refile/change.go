package refile

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"

	"rehome/formats"
	"rehome/formats/cursoride/internal/lists"
	"rehome/formats/internal/sqlitefile"
	"rehome/formats/store"
	"rehome/internal/rawjson"
)

// rows are the cells of a global database. Whoever only plans puts nothing.
type rows interface {
	get(ctx context.Context, p place) (cell store.Cell, ok bool, err error)
	put(ctx context.Context, p place, cell store.Cell) error
}

// move is a composer that gets another workspace.
type move struct {
	id, was string // was is its workspace
	to      *target
	head    []byte // as a workspace's list has it

	wasLabel []byte // the workspaceIdentifier of its workspace, if it has a head

	labels  int // that it has
	listed  int // of these, in lists of all workspaces
	changes []change
	bytes   int64
	err     error
}

// target is a workspace to which composers come.
type target struct {
	id, dir, path string
	label         []byte // a workspaceIdentifier
}

// adds reports whether the composer gets a row in composerHeaders.
func (m *move) adds() bool { return m.err == nil && m.listed == 0 && m.head != nil }

// The errors of composers that cannot be filed.
var (
	errOld     = errors.New("written by Cursor before 3.0: only the list of the old workspace names it")
	errNoLabel = errors.New("no record of it names its workspace")
	errRow     = errors.New("a record of it is not valid JSON, or too large")
)

// relabel replaces the labels of composers.
func relabel(ctx context.Context, r rows, moves []*move) error {
	byID := map[string]*move{}
	for _, m := range moves {
		byID[m.id], m.labels, m.listed, m.changes, m.bytes = m, 0, 0, nil, 0
	}
	projects, err := projects(ctx, r)
	if err != nil {
		return err
	}
	places := slices.Clone(sharedPlaces[:])
	for _, m := range moves {
		places = append(places, ownPlaces(m.id)...)
	}
	for _, p := range places {
		cell, ok, err := r.get(ctx, p)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		out, changes, valid := p.relabel(cell.Bytes(), func(id string, label []byte) []byte {
			m := byID[id]
			if m == nil || m.err != nil {
				return nil
			}
			if p.Key == lists.MembersKey {
				if is := projects[m.was]; is != nil && bytes.Equal(is, label) {
					return projects[m.to.id]
				}
				return nil
			}
			if m.labels++; p.Table != lists.DiskTable {
				m.listed++
			}
			if p.Column == spaceColumn {
				return []byte(m.to.id)
			}
			if p.labeled(label, m.to.label) {
				return nil
			}
			return m.to.label
		})
		if m := byID[owner(p)]; !valid && m != nil && cell.Class != store.Null {
			m.err = errRow
		}
		if len(changes) == 0 {
			continue
		}
		for _, c := range changes {
			byID[c.ID].changes = append(byID[c.ID].changes, c)
		}
		byID[changes[0].ID].bytes += int64(len(out))
		if err := r.put(ctx, p, cell.WithBytes(out)); err != nil {
			return err
		}
	}
	return nil
}

// owner returns the composer that a place is of, "" if it is of many.
func owner(p place) string {
	switch p.Table {
	case lists.HeadTable:
		return p.Key
	case lists.DiskTable:
		return strings.TrimPrefix(p.Key, lists.ComposerRow)
	}
	return ""
}

// projects returns the id of the project of each workspace in the agents' sidebar, quoted.
func projects(ctx context.Context, r rows) (map[string][]byte, error) {
	out := map[string][]byte{}
	cell, ok, err := r.get(ctx, place{lists.ItemTable, valueColumn, lists.ProjectsKey})
	if err != nil || !ok {
		return out, err
	}
	for p := range rawjson.Elements(document(cell.Bytes())) {
		space, _ := lists.Identified(rawjson.Last(p, "workspace"))
		if id := rawjson.Last(p, "id"); space != "" && rawjson.Text(id) != "" && out[space] == nil {
			out[space] = bytes.Clone(id)
		}
	}
	return out, nil
}

// labeled returns the head of a composer, with a label.
func (m *move) labeled(label []byte) []byte {
	if is := rawjson.Last(m.head, labelMember); is != nil {
		at := lists.Offset(m.head, is)
		return slices.Concat(m.head[:at], label, m.head[at+len(is):])
	}
	return slices.Concat(m.head[:len(m.head)-1], []byte(`,"`+labelMember+`":`), label, []byte{'}'})
}

// headRow returns the columns of composerHeaders of a composer that has no row, as far as
// a table has them.
func (m *move) headRow(columns []string) (names []string, values []any) {
	number := func(name string) any {
		at, _ := lists.Moment(rawjson.Last(m.head, name))
		if !at.Known() {
			return nil
		}
		return at.Millis()
	}
	updated := number("lastUpdatedAt")
	if updated == nil {
		updated = number("createdAt")
	}
	flag := func(is bool) int64 {
		if is {
			return 1
		}
		return 0
	}
	for _, c := range []struct {
		name  string
		value any
	}{{idColumn, m.id}, {spaceColumn, m.to.id}, {"createdAt", number("createdAt")}, {"lastUpdatedAt", number("lastUpdatedAt")},
		{"isArchived", flag(string(rawjson.Last(m.head, "isArchived")) == "true")}, {"isSubagent", flag(rawjson.Last(m.head, "subagentInfo") != nil)},
		{"recency", updated}, {valueColumn, string(m.labeled(m.to.label))}} {
		if slices.Contains(columns, c.name) {
			names, values = append(names, c.name), append(values, c.value)
		}
	}
	return names, values
}

// reader is rows for a plan.
type reader struct {
	db     *lists.Database
	spaces *sqlitefile.Keyed // the column workspaceId
}

func (r *reader) get(ctx context.Context, p place) (store.Cell, bool, error) {
	k := map[string]*sqlitefile.Keyed{lists.ItemTable: r.db.Items, lists.DiskTable: r.db.Disk, lists.HeadTable: r.db.Heads}[p.Table]
	if p.Column == spaceColumn {
		k = r.spaces
	}
	if k == nil {
		return store.Cell{}, false, nil
	}
	f, ok, err := k.Get(ctx, p.Key, lists.MaxValue)
	switch {
	case err != nil || !ok:
		return store.Cell{}, false, err
	case f.Class == store.Blob:
		return store.BlobCell(f.Bytes), true, nil
	case f.Class == store.Text:
		return store.TextCell(f.Bytes), true, nil
	}
	return store.Cell{}, false, nil
}

func (r *reader) put(context.Context, place, store.Cell) error { return nil }

// editor is rows that change.
type editor struct {
	*sqlitefile.Editor
	tables map[string]bool // that the database has
}

func (e *editor) get(ctx context.Context, p place) (cell store.Cell, ok bool, err error) {
	if !e.tables[p.Table] {
		return cell, false, nil
	}
	size, err := e.One(ctx, "SELECT octet_length("+p.Column+"), typeof("+p.Column+") IN ('text', 'blob') FROM main."+p.Table+" WHERE "+keyOf(p.Table)+"=?1", p.Key)
	if err != nil || size == nil || size[1].Int() == 0 {
		return cell, false, err
	}
	if size[0].Int() > lists.MaxValue {
		return store.TextCell(nil), true, nil // as reader has it
	}
	row, err := e.One(ctx, "SELECT +"+p.Column+" FROM main."+p.Table+" WHERE "+keyOf(p.Table)+"=?1", p.Key)
	if err != nil || row == nil {
		return cell, false, err
	}
	return row[0].WithBytes(bytes.Clone(row[0].Bytes())), true, nil
}

func bound(c store.Cell) any {
	if c.Class == store.Blob {
		return c.Bytes()
	}
	return string(c.Bytes())
}

// errNotAsWritten is the error of a database that has something else than what was written.
var errNotAsWritten = errors.New("the database does not have what was written to it")

// exec runs a statement that changes one row. The client's tables accept it.
func (e *editor) exec(ctx context.Context, statement string, args ...any) (int64, error) {
	n, err := e.Exec(ctx, statement, args...)
	if at := (*formats.Error)(nil); errors.As(err, &at) && formats.Hint(err) == "" {
		at.Hint = unusualHint
	}
	return n, err
}

const unusualHint = "this database is not as Cursor creates it"

// put replaces a cell, and reads it again. Constraints that would replace another row, as
// the client's ON CONFLICT REPLACE, are overridden.
func (e *editor) put(ctx context.Context, p place, cell store.Cell) error {
	n, err := e.exec(ctx, "UPDATE OR ABORT main."+p.Table+" SET "+p.Column+"=?2 WHERE "+keyOf(p.Table)+"=?1", p.Key, bound(cell))
	if err != nil {
		return err
	}
	is, ok, err := e.get(ctx, p)
	if err == nil && (n != 1 || !ok || is.Class != cell.Class || !bytes.Equal(is.Bytes(), cell.Bytes())) {
		err = &formats.Error{At: p.Table, Pointer: p.Key, Op: "verify", Err: errNotAsWritten, Hint: "nothing was changed: run `rehome check` on the user dir"}
	}
	return err
}

// add adds the row of a composer to composerHeaders.
func (e *editor) add(ctx context.Context, m *move) error {
	columns, err := e.Columns(ctx, "main", lists.HeadTable)
	if err != nil {
		return err
	}
	names, values := m.headRow(columns)
	marks := strings.TrimSuffix(strings.Repeat("?,", len(names)), ",")
	if _, err = e.exec(ctx, "INSERT OR ABORT INTO main."+lists.HeadTable+" ("+strings.Join(names, ",")+") VALUES ("+marks+")", values...); err != nil {
		return err
	}
	p := place{lists.HeadTable, spaceColumn, m.id}
	if is, ok, err := e.get(ctx, p); err != nil || !ok || string(is.Bytes()) != m.to.id {
		return errors.Join(err, &formats.Error{At: p.Table, Pointer: p.Key, Op: "verify", Err: errNotAsWritten})
	}
	m.changes = append(m.changes, change{place: p, ID: m.id, Before: []byte(m.was), After: []byte(m.to.id), Added: m.labeled(m.to.label)},
		change{place: place{lists.HeadTable, valueColumn, m.id}, ID: m.id, Before: m.wasLabel, After: m.to.label})
	return nil
}

package sqlitefile

import (
	"context"
	"slices"
	"strings"

	"rehome/formats/internal/sqliteddl"
	"rehome/formats/internal/sqlitepages"
	"rehome/formats/store"
)

// Plan is what a database's tables are, as far as its pages do not say it.
type Plan struct {
	Tables []PlanTable
}

// PlanTable is one table.
type PlanTable struct {
	Name    string
	Columns []string // in the order of a record's cells
	Key     int      // the INTEGER PRIMARY KEY column, which is the row id; or -1
	RowIDs  bool     // not WITHOUT ROWID
	Foreign bool     // it has foreign keys

	needed  []int // columns that may not be NULL
	ordered int   // without row ids: rows stand in the order of so many columns
	stored  []column
	indexes []planIndex
	groups  []group
	odd     bool // something about it only SQLite can judge
	// computed: it has generated columns or indexes on expressions. SQLite is
	// not asked about it, since it would run them.
	computed bool
}

// planIndex is an index, as far as it holds columns as they stand.
type planIndex struct {
	name    string
	columns []int // -1 is the row id
	sorted  bool  // by bytes, rising
	unique  bool
	where   int // only rows where this column is not NULL; -1: all
}

// group is the indexes that hold the same rows.
type group struct {
	where   int
	indexes []int
}

// grouped groups the indexes, so that a row is asked once for each of its columns.
func (t *PlanTable) grouped() {
	for i, x := range t.indexes {
		g := slices.IndexFunc(t.groups, func(g group) bool { return g.where == x.where })
		if g < 0 {
			g = len(t.groups)
			t.groups = append(t.groups, group{where: x.where})
		}
		t.groups[g].indexes = append(t.groups[g].indexes, i)
	}
}

// Column is the number of a column; -1 if there is none of that name.
func (t *PlanTable) Column(name string) int {
	return store.FindColumn(t.Columns, name)
}

// Needs reports whether a column may not be NULL.
func (t *PlanTable) Needs(col int) bool { return slices.Contains(t.needed, col) }

// Value is the cell of a column.
func (t *PlanTable) Value(r *sqlitepages.Row, col int) store.Cell {
	if col < 0 {
		return store.NullCell()
	}
	if col == t.Key && t.RowIDs {
		return store.IntCell(r.RowID)
	}
	return r.Cell(col)
}

// planOf asks SQLite what the tables are.
func (db *DB) planOf(ctx context.Context, objects []Object) (*Plan, error) {
	p := &Plan{}
	at := map[string]int{} // of indexes
	for i, o := range objects {
		if o.Type == "index" && o.Root != 0 {
			at[o.Name] = i
		}
	}
	for _, o := range objects {
		s := db.shapes[o.Name]
		if o.Type != "table" || o.Root == 0 || s == nil {
			continue
		}
		t := s.plan()
		if err := db.conn.QueryRowContext(ctx, "SELECT count(*)>0 FROM pragma_foreign_key_list(?1,'main')", t.Name).Scan(&t.Foreign); err != nil {
			return nil, db.blame(ctx, o.Name, err)
		}
		list, err := db.indexes(ctx, o.Name)
		if err != nil {
			return nil, db.blame(ctx, o.Name, err)
		}
		for i := range list {
			if list[i].primary && !t.RowIDs {
				t.reorder(&list[i])
			}
		}
		list = slices.DeleteFunc(list, func(x listed) bool { _, there := at[x.name]; return !there })
		slices.SortFunc(list, func(a, b listed) int { return at[a.name] - at[b.name] })
		for i := range list {
			t.addIndex(&list[i], objects[at[list[i].name]].SQL)
		}
		t.grouped()
		t.Foreign = t.Foreign && !t.computed
		p.Tables = append(p.Tables, t)
	}
	return p, nil
}

// plan is a table without its indexes.
func (s *shape) plan() PlanTable {
	t := PlanTable{Name: s.Name, Key: -1, RowIDs: s.hasRow, odd: s.computed || s.strict, computed: s.computed, stored: s.stored}
	for i, c := range s.stored {
		if s.hasRow && s.key >= 0 && c.key {
			t.Key = i
		} else if c.notNull {
			t.needed = append(t.needed, i)
		}
		if c.key && !s.hasRow {
			t.ordered++
		}
		t.Columns = append(t.Columns, c.name)
	}
	return t
}

// reorder puts the columns of a table without row ids in the order of its
// records: those of the key first.
func (t *PlanTable) reorder(key *listed) {
	var columns []string
	var needed []int
	var stored []column
	t.odd = t.odd || !key.sorted
	for i, cid := range key.columns {
		if cid < 0 || cid >= len(t.Columns) {
			t.odd = true
			return
		}
		if slices.Contains(t.needed, cid) {
			needed = append(needed, i)
		}
		columns, stored = append(columns, t.Columns[cid]), append(stored, t.stored[cid])
	}
	t.Columns, t.needed, t.stored = columns, needed, stored
}

// listed is an index as SQLite tells of it.
type listed struct {
	planIndex
	primary, partial bool
}

func (db *DB) indexes(ctx context.Context, table string) (list []listed, err error) {
	rows, err := db.conn.QueryContext(ctx, `SELECT l.name, l.origin='pk', l."unique", l.partial, x.cid, x."desc"=0 AND x.coll='BINARY'
		FROM pragma_index_list(?1,'main') AS l JOIN pragma_index_xinfo(l.name,'main') AS x ORDER BY l.seq, x.seqno`, table)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		x, cid, plainly := listed{planIndex: planIndex{sorted: true, where: -1}}, 0, false
		if err := rows.Scan(&x.name, &x.primary, &x.unique, &x.partial, &cid, &plainly); err != nil {
			return nil, err
		}
		if n := len(list); n == 0 || list[n-1].name != x.name {
			list = append(list, x)
		}
		last := &list[len(list)-1]
		last.sorted = last.sorted && plainly
		last.columns = append(last.columns, cid)
	}
	return list, rows.Err()
}

func (t *PlanTable) addIndex(x *listed, text string) {
	odd := !t.RowIDs
	for _, cid := range x.columns {
		odd = odd || cid < -1 // an expression
	}
	if x.partial {
		x.where = notNullOf(t, text)
		odd = odd || x.where < 0
	}
	if t.odd = t.odd || odd; !odd {
		t.indexes = append(t.indexes, x.planIndex)
	}
	t.computed = t.computed || text != "" && sqliteddl.Code(store.Object{Type: "index", SQL: text}) != ""
}

// notNullOf is the column of a partial index that says no more than WHERE
// column IS NOT NULL; -1 of another.
func notNullOf(t *PlanTable, text string) int {
	words := strings.Fields(strings.ToLower(strings.ReplaceAll(text, ")", ") ")))
	n := len(words)
	if n < 5 || words[n-5] != "where" || words[n-3] != "is" || words[n-2] != "not" || words[n-1] != "null" {
		return -1
	}
	return t.Column(strings.Trim(words[n-4], "\"`[]"))
}

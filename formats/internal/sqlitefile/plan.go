package sqlitefile

import (
	"context"
	"database/sql"
	"slices"
	"strings"

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
	indexes []planIndex
	odd     bool // something about it only SQLite can judge
}

// planIndex is an index, as far as it holds columns as they stand.
type planIndex struct {
	name    string
	columns []int // -1 is the row id
	sorted  bool  // by bytes, rising
	unique  bool
	where   int // only rows where this column is not NULL; -1: all
}

// Column is the number of a column; -1 if there is none of that name.
func (t *PlanTable) Column(name string) int {
	return slices.IndexFunc(t.Columns, func(s string) bool { return strings.EqualFold(s, name) })
}

// Needs reports whether a column may not be NULL.
func (t *PlanTable) Needs(col int) bool { return slices.Contains(t.needed, col) }

// Value is the cell of a column.
func (t *PlanTable) Value(r *Row, col int) store.Cell {
	if col < 0 {
		return store.NullCell()
	}
	if col == t.Key && t.RowIDs {
		return store.IntCell(r.RowID)
	}
	return r.Cell(col)
}

// plan is what was found out of databases with the same statements.
func (k *Known) plan(key string) *Plan {
	if k == nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.plans[key]
}

func (k *Known) keep(key string, p *Plan) {
	if k == nil || len(key) > longKnown {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.plans == nil {
		k.plans = map[string]*Plan{}
	}
	if len(k.plans) < mostKnown && k.bytes+len(key) <= allKnown {
		k.plans[key] = p
		k.bytes += len(key)
	}
}

// planOf asks SQLite what the tables are.
func (db *DB) planOf(ctx context.Context, objects []Object) (*Plan, error) {
	p := &Plan{}
	for _, o := range objects {
		if o.Type != "table" || o.Root == 0 {
			continue
		}
		t := PlanTable{Name: o.Name, Key: -1, RowIDs: true}
		if err := db.planTable(ctx, &t, o.SQL); err != nil {
			return nil, db.blame(ctx, o.Name, err)
		}
		for _, x := range objects {
			if x.Type == "index" && strings.EqualFold(x.Table, o.Name) && x.Root != 0 {
				if err := db.planIndex(ctx, &t, x); err != nil {
					return nil, db.blame(ctx, x.Name, err)
				}
			}
		}
		p.Tables = append(p.Tables, t)
	}
	return p, nil
}

func (db *DB) planTable(ctx context.Context, t *PlanTable, text string) error {
	c := db.conn
	if s := db.shapes[t.Name]; s != nil {
		t.RowIDs = s.hasRow
	}
	rows, err := c.QueryContext(ctx, `SELECT name, upper(type), "notnull", pk, hidden FROM pragma_table_xinfo(?1,'main') ORDER BY cid`, t.Name)
	if err != nil {
		return err
	}
	defer rows.Close()
	keys := 0
	for rows.Next() {
		var name, declared string
		var notNull, pk, hidden int
		if err := rows.Scan(&name, &declared, &notNull, &pk, &hidden); err != nil {
			return err
		}
		if hidden != 0 {
			t.odd = true
		}
		if hidden == 2 {
			continue // computed, not stored
		}
		if notNull != 0 {
			t.needed = append(t.needed, len(t.Columns))
		}
		if pk > 0 {
			keys++
			if declared == "INTEGER" {
				t.Key = len(t.Columns)
			}
		}
		t.Columns = append(t.Columns, name)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	if s := db.shapes[t.Name]; keys != 1 || !t.RowIDs || s != nil && s.key < 0 {
		t.Key = -1
	}
	if t.Key >= 0 {
		t.needed = slices.DeleteFunc(t.needed, func(i int) bool { return i == t.Key })
	}
	if err := c.QueryRowContext(ctx, "SELECT count(*)>0 FROM pragma_foreign_key_list(?1,'main')", t.Name).Scan(&t.Foreign); err != nil {
		return err
	}
	words := strings.ToLower(text)
	t.odd = t.odd || strings.Contains(words, "strict")
	if !t.RowIDs {
		return db.planKeyed(ctx, t)
	}
	return nil
}

// planKeyed orders the columns of a table without row ids as its records do:
// those of the key first.
func (db *DB) planKeyed(ctx context.Context, t *PlanTable) error {
	var pk string
	if err := db.conn.QueryRowContext(ctx, "SELECT name FROM pragma_index_list(?1,'main') WHERE origin='pk'", t.Name).Scan(&pk); err != nil {
		return err
	}
	x, err := db.indexColumns(ctx, pk)
	if err != nil {
		return err
	}
	var columns []string
	var needed []int
	for i, c := range x {
		if c.cid < 0 || c.cid >= len(t.Columns) {
			t.odd = true
			return nil
		}
		if slices.Contains(t.needed, c.cid) {
			needed = append(needed, i)
		}
		columns = append(columns, t.Columns[c.cid])
	}
	t.Columns, t.needed = columns, needed
	return nil
}

// indexColumn is a row of PRAGMA index_xinfo.
type indexColumn struct {
	cid     int
	plainly bool // rising, by bytes
}

func (db *DB) indexColumns(ctx context.Context, index string) (out []indexColumn, err error) {
	rows, err := db.conn.QueryContext(ctx, `SELECT cid, "desc"=0 AND coll='BINARY' FROM pragma_index_xinfo(?1,'main') ORDER BY seqno`, index)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var c indexColumn
		if err := rows.Scan(&c.cid, &c.plainly); err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, rows.Err()
}

func (db *DB) planIndex(ctx context.Context, t *PlanTable, o Object) error {
	list, err := db.indexColumns(ctx, o.Name)
	if err != nil {
		return err
	}
	x := planIndex{name: o.Name, sorted: true, where: -1}
	odd := !t.RowIDs
	for _, c := range list {
		odd = odd || c.cid < -1 // an expression
		x.sorted = x.sorted && c.plainly
		x.columns = append(x.columns, c.cid)
	}
	var partial bool
	err = db.conn.QueryRowContext(ctx, `SELECT partial, "unique" FROM pragma_index_list(?1,'main') WHERE name=?2`, t.Name, o.Name).Scan(&partial, &x.unique)
	if err != nil && err != sql.ErrNoRows {
		return err
	}
	if partial {
		x.where = notNullOf(t, o.SQL)
		odd = odd || x.where < 0
	}
	if t.odd = t.odd || odd; !odd {
		t.indexes = append(t.indexes, x)
	}
	return nil
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

package sqlitefile

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"rehome/formats"
	"rehome/formats/internal/sqliteddl"
	"rehome/formats/internal/sqlitepages"
	"rehome/formats/store"
)

// Table is a table that holds rows. Generated columns are left out: they are
// computed from the others.
type Table = store.TableSchema

// shape is what scanning and filling a table take beyond its columns.
type shape struct {
	Table
	stored   []column // those of a record, generated ones that are stored too
	columns  []column // those of the table
	strict   bool
	key      int    // the INTEGER PRIMARY KEY column, or -1
	hasRow   bool   // not WITHOUT ROWID
	computed bool   // it has generated columns
	rowid    string // a name for the rowid that no column takes, "" if all are taken
}

// column is a column as it is declared.
type column struct {
	name, declared string
	notNull, key   bool
	affinity       sqliteddl.Affinity
}

// ordinal is an expression for the rowid, under whatever name it can be had.
func (s *shape) ordinal() string {
	if s.rowid != "" {
		return s.rowid
	}
	return quote(s.Columns[s.key])
}

// quote spells any name so that it cannot be mistaken for anything else.
func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// load reads everything but the rows.
func (db *DB) load(ctx context.Context, known *Known) error {
	var head []byte
	err := db.conn.QueryRowContext(ctx, "SELECT substr(data,1,100) FROM sqlite_dbpage WHERE pgno=1").Scan(&head)
	if errors.Is(err, sql.ErrNoRows) || err == nil && len(head) < sqlitepages.HeaderBytes {
		return &formats.Error{At: db.path, Err: errors.New("the database has no pages"), Hint: "let its client write to it first"}
	}
	if err != nil {
		return err
	}
	db.pragmas = sqlitepages.Header(head).Pragmas()
	roots, err := db.loadObjects(ctx)
	if err != nil {
		return err
	}
	db.shapes = map[string]*shape{}
	for i, o := range db.objects {
		if o.Type != "table" || roots[i] == 0 {
			continue // a virtual table has no pages of its own
		}
		key := [2]string{o.Name, o.SQL}
		s := known.shapes.get(key)
		if s == nil {
			if s, err = describe(ctx, db.conn, o.Name, o.SQL); err != nil {
				return db.blame(ctx, o.Name, err)
			}
			known.shapes.put(key, len(o.Name)+len(o.SQL), s)
		}
		db.tables = append(db.tables, s.Table)
		db.shapes[o.Name] = s
	}
	return nil
}

// loadObjects reads sqlite_schema. Its text is taken as bytes, so that what is
// no valid text is not mended on the way.
func (db *DB) loadObjects(ctx context.Context) (roots []int64, err error) {
	rows, err := db.conn.QueryContext(ctx, `SELECT type, CAST(name AS BLOB), CAST(tbl_name AS BLOB), CAST(sql AS BLOB), coalesce(rootpage,0)
		FROM sqlite_schema NOT INDEXED WHERE sql IS NOT NULL ORDER BY rowid`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	o := sqlitepages.ByteOrder(db.pragmas.Encoding)
	for rows.Next() {
		var kind string
		var text [3][]byte
		var root int64
		if err := rows.Scan(&kind, &text[0], &text[1], &text[2], &root); err != nil {
			return nil, err
		}
		for i := range text {
			if o == nil {
				continue
			}
			if text[i], err = sqlitepages.AppendWTF8(nil, text[i], o); err != nil {
				return nil, err
			}
		}
		db.objects = append(db.objects, store.Object{Type: kind, Name: string(text[0]), Table: string(text[1]), SQL: string(text[2])})
		roots = append(roots, root)
	}
	return roots, rows.Err()
}

// describe finds out what kind of table this is. It asks about this one table
// only: PRAGMA table_list would run the code of every virtual table to answer.
func describe(ctx context.Context, c *sql.Conn, name, statement string) (*shape, error) {
	def, _ := sqliteddl.Define(statement)
	s := &shape{Table: Table{Name: name}, key: -1, strict: strings.Contains(sqliteddl.Fold(def.Options), "strict")}
	keys, taken, err := s.describeColumns(ctx, c)
	if err != nil {
		return nil, err
	}
	// The primary key of a WITHOUT ROWID table is the table itself and its
	// index holds every column; elsewhere a primary key's index points at the
	// rowid (column -1), and an INTEGER PRIMARY KEY has no index at all.
	var indexed, pointing int
	err = c.QueryRowContext(ctx, `SELECT count(*), coalesce(sum((SELECT count(*) FROM pragma_index_xinfo(l.name,'main') WHERE cid=-1)),0)
		FROM pragma_index_list(?1,'main') AS l WHERE l.origin='pk'`, name).Scan(&indexed, &pointing)
	if err != nil {
		return nil, err
	}
	s.hasRow = indexed == 0 || pointing > 0
	if indexed == 0 && len(keys) == 1 {
		s.key = keys[0]
	}
	s.RowIDs = s.hasRow && s.key < 0
	for _, alias := range []string{"rowid", "_rowid_", "oid"} {
		if s.rowid == "" && !slices.Contains(taken, alias) {
			s.rowid = alias
		}
	}
	if s.RowIDs && s.rowid == "" {
		return nil, &formats.Error{Err: errors.New("columns named rowid, _rowid_ and oid hide its row ids"),
			Hint: "rename one of the three columns in a copy"}
	}
	return s, nil
}

func (s *shape) describeColumns(ctx context.Context, c *sql.Conn) (keys []int, taken []string, err error) {
	rows, err := c.QueryContext(ctx, `SELECT name, type, "notnull", pk>0, hidden FROM pragma_table_xinfo(?1,'main') ORDER BY cid`, s.Name)
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var c column
		var hidden int
		if err := rows.Scan(&c.name, &c.declared, &c.notNull, &c.key, &hidden); err != nil {
			return nil, nil, err
		}
		taken = append(taken, sqliteddl.Fold(c.name))
		c.affinity = sqliteddl.AffinityOf(c.declared, s.strict)
		if hidden != 2 {
			s.stored = append(s.stored, c)
		}
		if hidden != 0 {
			s.computed = true
			continue
		}
		if c.key {
			keys = append(keys, len(s.Columns))
		}
		s.Columns = append(s.Columns, c.name)
		s.columns = append(s.columns, c)
	}
	if err := rows.Err(); err != nil {
		return nil, nil, err
	}
	if len(s.Columns) == 0 {
		return nil, nil, fmt.Errorf("cannot determine its columns")
	}
	return keys, taken, nil
}

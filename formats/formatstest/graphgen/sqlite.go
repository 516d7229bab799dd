package graphgen

import (
	"context"
	"os"
	"path/filepath"

	"rehome/formats/internal/sqlitefile"
	"rehome/formats/store"
)

// Table is a table of a database, and what stands in it. A cell is a string,
// an int64, []byte or nil.
type Table struct {
	Name    string
	Columns []string
	SQL     string
	Rows    [][]any
}

// WriteDB makes a database of its own.
func WriteDB(ctx context.Context, path string, version int32, tables []Table) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	db := store.Database{Pragmas: store.Pragmas{PageSize: 4096, Encoding: "UTF-8", JournalMode: "wal", UserVersion: version}}
	var sets []sqlitefile.TableSet
	for i, t := range tables {
		db.Objects = append(db.Objects, store.Object{Type: "table", Name: t.Name, Table: t.Name, SQL: t.SQL})
		sets = append(sets, sqlitefile.TableSet{Set: i, Table: sqlitefile.Table{Name: t.Name, Columns: t.Columns, RowIDs: true}})
	}
	w, err := sqlitefile.Create(ctx, path, db, sets)
	if err != nil {
		return err
	}
	defer w.Close()
	for i, t := range tables {
		if err := fill(ctx, w, i, t); err != nil {
			return err
		}
	}
	return w.Finish(ctx)
}

func fill(ctx context.Context, w *sqlitefile.Writer, set int, t Table) error {
	b := store.NewBatch(set, len(t.Columns))
	for n, row := range t.Rows {
		b.Row(int64(n + 1))
		for _, v := range row {
			switch v := v.(type) {
			case nil:
				b.AddNull()
			case string:
				b.AddText(v)
			case int64:
				b.AddInt(v)
			case []byte:
				b.AddBytes(store.Blob, v)
			}
		}
		if b.Full() {
			if err := w.Put(ctx, b); err != nil {
				return err
			}
			b = store.NewBatch(set, len(t.Columns))
		}
	}
	if b.Rows() == 0 {
		return nil
	}
	return w.Put(ctx, b)
}

package sqlitestore_test

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"testing"

	"rehome/formats"
	"rehome/formats/internal/sqlitestore"
)

// TestPartMoves: a part is marked in one look at a store and read in another.
// What its owner writes in between must not cost a row in silence.
func TestPartMoves(t *testing.T) {
	for _, moves := range []bool{false, true} {
		file := filepath.Join(t.TempDir(), "x.db")
		db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(file))
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if _, err := db.Exec("PRAGMA journal_mode=WAL; CREATE TABLE t(a UNIQUE ON CONFLICT REPLACE); INSERT INTO t VALUES(1), (2)"); err != nil {
			t.Fatal(err)
		}
		shape := sqlitestore.Shape{Origin: "sqlite", Single: true, Part: func(context.Context, *formats.Location, formats.View) (*sqlitestore.Part, error) {
			if moves {
				if _, err := db.Exec("INSERT INTO t VALUES(1)"); err != nil {
					t.Fatal(err)
				}
			}
			return &sqlitestore.Part{File: func(string) bool { return true }}, nil
		}}
		at, err := formats.Locate(file)
		if err != nil {
			t.Fatal(err)
		}
		r, err := shape.Open(t.Context(), at, formats.View{Sessions: []string{"one"}})
		if errors.Is(err, formats.ErrBusy) != moves || err != nil && !moves {
			t.Errorf("its owner writes: %t: %v", moves, err)
		}
		if err == nil {
			r.Close()
		}
	}
}

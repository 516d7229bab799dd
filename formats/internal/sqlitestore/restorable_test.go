package sqlitestore_test

import (
	"context"
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/internal/sqlitestore"
)

// What could not be put back is said while the store still exists: of the
// schema when it is opened, of a value when it is read; and only where asked.
func TestRestorable(t *testing.T) {
	for script, want := range map[string]string{
		"CREATE TABLE t(a TEXT); INSERT INTO t VALUES(5)":             "",
		"CREATE TABLE t(a, b); CREATE INDEX i ON t(json_patch(a, b))": `index "i": refused`,
		"CREATE TABLE t(a); INSERT INTO t VALUES(5); PRAGMA writable_schema=ON; UPDATE sqlite_schema SET sql='CREATE TABLE t(a TEXT)'; PRAGMA writable_schema=OFF": "row id 1",
	} {
		file := filepath.Join(t.TempDir(), "x.db")
		db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(file))
		if err != nil {
			t.Fatal(err)
		}
		db.SetMaxOpenConns(1)
		if _, err := db.Exec(script); err != nil {
			t.Fatal(err)
		}
		db.Close()
		for _, asked := range []bool{false, true} {
			err := read(t.Context(), file, asked)
			if !asked || want == "" {
				if err != nil {
					t.Errorf("%s: %v", script, err)
				}
				continue
			}
			if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), file) || formats.Hint(err) == "" {
				t.Errorf("%s: %v (hint %q)", script, err, formats.Hint(err))
			}
		}
	}
}

func read(ctx context.Context, file string, restorable bool) error {
	at, err := formats.Locate(file)
	if err != nil {
		return err
	}
	r, err := sqlitestore.Shape{Origin: "sqlite", Single: true}.Open(ctx, at, formats.View{RequireRestorable: restorable})
	if err != nil {
		return err
	}
	defer r.Close()
	for b, err := range r.Batches(ctx) {
		if err != nil {
			return err
		}
		b.Release()
	}
	return nil
}

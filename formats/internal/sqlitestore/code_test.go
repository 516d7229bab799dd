package sqlitestore_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/internal/sqlitestore"
	"rehome/formats/store"
)

// TestCodeOfStrangers: the store of a known client is not made with SQL that runs
// by itself, nor is text made of one that has it. Whoever asks for a plain
// database gets it, whatever it came from.
func TestCodeOfStrangers(t *testing.T) {
	schema := func(origin, path string, more ...store.Object) *store.Schema {
		objects := append([]store.Object{{Type: "table", Name: "t", Table: "t", SQL: "CREATE TABLE t(a)"}}, more...)
		return &store.Schema{Origin: origin, Databases: []store.Database{{Path: path, Objects: objects,
			Pragmas: store.Pragmas{PageSize: 4096, Encoding: "UTF-8", JournalMode: "delete"}}},
			Sets: []store.Set{{File: path, Name: "t", Columns: []string{"a"}, RowIDs: true}}}
	}
	trigger := store.Object{Type: "trigger", Name: "r", Table: "t", SQL: "CREATE TRIGGER r AFTER INSERT ON t BEGIN DELETE FROM t; END"}
	client := sqlitestore.Shape{Origin: "cursor-test", Single: true}
	other := sqlitestore.Shape{Origin: sqlitestore.AnyDatabase, Single: true}
	for name, c := range map[string]struct {
		shape  sqlitestore.Shape
		schema *store.Schema
		made   bool
	}{
		"a client's plain schema":           {client, schema("cursor-test", ""), true},
		"a client's schema with code":       {client, schema("cursor-test", "", trigger), false},
		"another's, made the client's":      {client, schema(sqlitestore.AnyDatabase, "", trigger), false},
		"that of a database nobody knows":   {other, schema(sqlitestore.AnyDatabase, "", trigger), true},
		"a client's, made a plain database": {other, schema("cursor-test", "", trigger), true},
	} {
		to := filepath.Join(t.TempDir(), "x.db")
		err := made(t.Context(), c.shape, c.schema, to)
		if (err == nil) != c.made || err != nil && !strings.Contains(err.Error(), "a trigger is SQL that runs") {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Lstat(to); (err == nil) != c.made {
			t.Errorf("%s: the file is there: %v", name, err)
		}
	}
	file := filepath.Join(t.TempDir(), "x.db")
	if err := made(t.Context(), other, schema(sqlitestore.AnyDatabase, "", trigger), file); err != nil {
		t.Fatal(err)
	}
	at, err := formats.Locate(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, restorable := range []bool{false, true} {
		r, err := client.Open(t.Context(), at, formats.View{RequireRestorable: restorable})
		if (err != nil) != restorable || err != nil && !strings.Contains(formats.Hint(err), "--from sqlite") {
			t.Errorf("restorable %v: %v", restorable, err)
		}
		if err == nil {
			r.Close()
		}
	}
}

func made(ctx context.Context, s sqlitestore.Shape, schema *store.Schema, to string) error {
	w, err := s.Create(ctx, formats.Build{Path: to, Schema: schema})
	if err != nil {
		return err
	}
	defer w.Close()
	return w.Finish(ctx)
}

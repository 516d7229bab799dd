package sqlitefile

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"rehome/formats/store"
)

func keyedDB(t *testing.T) *DB {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kv.db")
	raw, err := sql.Open("sqlite", "file:"+filepath.ToSlash(path))
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	if _, err := raw.Exec(`CREATE TABLE kv (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
INSERT INTO kv VALUES ('a:1','text'),('a:2',x'00ff'),('a:3',NULL),('a:4',7),('b:1',''),(NULL,'no key'),(x'613a39','a key that is no text'),('a:long',hex(zeroblob(100)))`); err != nil {
		t.Fatal(err)
	}
	db, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func TestKeyed(t *testing.T) {
	db := keyedDB(t)
	k, err := db.Keyed(t.Context(), "kv", "key", "value")
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	for key, want := range map[string]Found{
		"a:1":    {1, store.Text, 4, []byte("text")},
		"a:2":    {2, store.Blob, 2, []byte{0, 255}},
		"a:3":    {3, store.Null, 0, nil},
		"a:4":    {4, store.Int, 1, []byte("7")},
		"b:1":    {5, store.Text, 0, []byte{}},
		"a:long": {8, store.Text, 200, nil},
	} {
		f, ok, err := k.Get(t.Context(), key, 10)
		if err != nil || !ok || f.RowID != want.RowID || f.Class != want.Class || f.Size != want.Size || string(f.Bytes) != string(want.Bytes) || (f.Bytes == nil) != (want.Bytes == nil) {
			t.Errorf("%s: %+v, %v, %v", key, f, ok, err)
		}
	}
	if _, ok, err := k.Get(t.Context(), "c", 10); ok || err != nil {
		t.Errorf("a key that is not there: %v, %v", ok, err)
	}
	var keys []string
	if err := k.Keys(t.Context(), "a:", "a;", func(key string) bool {
		keys = append(keys, key)
		return len(keys) < 4
	}); err != nil || !slices.Equal(keys, []string{"a:1", "a:2", "a:3", "a:4"}) {
		t.Errorf("%q, %v", keys, err)
	}
	if key, ok, err := k.First(t.Context(), "a:5", "c"); key != "a:long" || !ok || err != nil {
		t.Errorf("first: %q, %v, %v", key, ok, err)
	}
	if _, ok, err := k.First(t.Context(), "c", "d"); ok || err != nil {
		t.Errorf("first of nothing: %v, %v", ok, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := k.Get(ctx, "a:1", 10); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestKeyedAbsent(t *testing.T) {
	db := keyedDB(t)
	for _, c := range [][3]string{{"none", "key", "value"}, {"kv", "none", "value"}, {"kv", "key", "none"}} {
		if k, err := db.Keyed(t.Context(), c[0], c[1], c[2]); k != nil || err != nil {
			t.Errorf("%v: %v, %v", c, k, err)
		}
	}
}

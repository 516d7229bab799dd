package sqlitefile

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"testing"

	"rehome/formats/store"
)

func TestLookup(t *testing.T) {
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "l.db")
	statements := []string{"CREATE TABLE blobs(id TEXT PRIMARY KEY, data BLOB)", "CREATE TABLE w(id TEXT PRIMARY KEY, data) WITHOUT ROWID"}
	for i := range 500 {
		statements = append(statements, fmt.Sprintf("INSERT INTO blobs VALUES('k%d', x'%04x')", i, i))
	}
	statements = append(statements, "INSERT INTO blobs VALUES('null', NULL)", "INSERT INTO blobs VALUES('text', 'a')", "INSERT INTO blobs VALUES('int', 7)",
		"INSERT INTO blobs VALUES('long', zeroblob(3000000))", "INSERT INTO blobs VALUES('none', x'')", "INSERT INTO w VALUES('x', 1.5)")
	build(t, path, statements...)
	db, err := Open(ctx, path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	l, err := db.Keyed(ctx, "blobs", "id", "data")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var buffer []byte
	for _, c := range []struct {
		key   string
		rowid int64
		class store.Class
		size  int
	}{{"k3", 4, store.Blob, 2}, {"long", 504, store.Blob, 3000000}, {"k499", 500, store.Blob, 2}, {"null", 501, store.Null, 0},
		{"text", 502, store.Text, 1}, {"int", 503, store.Int, 1}, {"none", 505, store.Blob, 0}} {
		got, ok, err := l.GetInto(ctx, buffer, c.key, math.MaxInt64)
		if err != nil || !ok || got.RowID != c.rowid || got.Class != c.class || len(got.Bytes) != c.size {
			t.Errorf("%s: %v %v %v %d bytes of %v", c.key, err, ok, got.RowID, len(got.Bytes), got.Class)
		}
		if got.Bytes != nil {
			buffer = got.Bytes
		}
	}
	if got, _, _ := l.GetInto(ctx, buffer, "k258", 2); string(got.Bytes) != "\x01\x02" {
		t.Errorf("k258: %x", got.Bytes)
	}
	if _, ok, err := l.Get(ctx, "K3", 2); ok || err != nil {
		t.Errorf("a key that is not there: %v %v", ok, err)
	}
	if w, err := db.Keyed(ctx, "w", "id", "data"); err != nil {
		t.Error(err)
	} else {
		if got, ok, err := w.Get(ctx, "x", 9); !ok || err != nil || string(got.Bytes) != "1.5" || got.RowID != 0 {
			t.Errorf("without row ids: %v %v %v", got, ok, err)
		}
		w.Close()
	}
	stopped, cancel := context.WithCancel(ctx)
	cancel()
	if _, _, err := l.Get(stopped, "k3", 2); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

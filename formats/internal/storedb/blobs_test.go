package storedb

import (
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"rehome/formats/internal/agentstate"
	"rehome/formats/internal/sqlitefile"
	"rehome/formats/store"
)

// made is a database that a statement made.
func made(t *testing.T, statement string) *sqlitefile.DB {
	t.Helper()
	path := filepath.Join(t.TempDir(), "store.db")
	raw, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = raw.Exec(statement)
	if err = errors.Join(err, raw.Close()); err != nil {
		t.Fatal(err)
	}
	db, err := sqlitefile.Open(t.Context(), path, sqlitefile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func opened(t *testing.T, db *sqlitefile.DB, misnamed func(store.Addr)) *Blobs {
	t.Helper()
	b, err := OpenBlobs(t.Context(), db, db.Tables()[0], Options{File: "store.db", Digits: 4, Misnamed: misnamed})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

func idOf(c string) agentstate.ID {
	id, _ := agentstate.ParseID(strings.Repeat(c, 32))
	return id
}

// TestBlobs: a table held in memory and one that is looked up say the same,
// with row ids and without.
func TestBlobs(t *testing.T) {
	for _, rowIDs := range []bool{true, false} {
		for _, large := range []bool{false, true} {
			statement := "CREATE TABLE BLOBS (more INT, Data BLOB, Id TEXT PRIMARY KEY)"
			if !rowIDs {
				statement += " WITHOUT ROWID"
			}
			hex := func(c string) string { return strings.Repeat(c, 32) }
			statement += fmt.Sprintf("; INSERT INTO BLOBS(Id,Data) VALUES ('%s',x'01'),('%s','two'),('%s',x''),('%s',x'ff'),('%s',4),('x',x'00'),(x'%s',x'05')",
				hex("0A"), hex("0a"), hex("0B"), hex("0c"), hex("0d"), hex("3039"))
			if large {
				statement += fmt.Sprintf(",('%s',zeroblob(%d))", hex("f0"), maxHeld+1)
			}
			var misnamed []string
			b := opened(t, made(t, statement), func(a store.Addr) { misnamed = append(misnamed, a.String()) })
			if rows := int64(7 + len(map[bool]string{true: "."}[large])); (b.lookup != nil) != large || b.Rows != rows || b.Misnamed != 1 || b.Len() != rows-1 {
				t.Errorf("%d rows, %d misnamed, %d blobs", b.Rows, b.Misnamed, b.Len())
			}
			for c, want := range map[string]string{"0a": "two 2", "0b": " 3", "0c": "\xff 4", "0d": "nil 5", "0e": "nil"} {
				data, err := b.Blob(t.Context(), idOf(c))
				got := map[bool]string{true: "nil"}[data == nil] + string(data)
				at := b.At(idOf(c))
				if at.HasID {
					got += fmt.Sprint(" ", at.RowID)
				}
				if !rowIDs {
					want = strings.TrimRight(want, " 2345")
				}
				if got != want || err != nil || b.Has(idOf(c)) != (c != "0e") || at.Set != "BLOBS" || string(at.Key.Bytes()) != c+c {
					t.Errorf("%s: got %q, want %q: %v, %s", c, got, want, err, at)
				}
			}
			order := ""
			for id, err := range b.All(t.Context()) {
				if order += id.String()[:2]; err != nil {
					t.Error(err)
				}
			}
			if want := "0a0a0b0c0d09"; rowIDs && strings.TrimSuffix(order, "f0") != want || len(misnamed) != 1 || rowIDs && misnamed[0] != "store.db/BLOBS#6" {
				t.Error(order, misnamed)
			}
			for range b.All(t.Context()) {
				break
			}
		}
	}
}

// TestNoBlobs: rows without bytes are deleted, and a table without a column for
// them, or no table, has no blobs.
func TestNoBlobs(t *testing.T) {
	b := opened(t, made(t, fmt.Sprintf("CREATE TABLE b (id TEXT, data); INSERT INTO b VALUES('%s',NULL),('x',NULL)", idOf("0a"))), nil)
	if b.Rows != 2 || b.Deleted != 2 || b.Len() != 0 || b.Has(idOf("0a")) {
		t.Errorf("%+v", b)
	}
	if b := opened(t, made(t, "CREATE TABLE b (id TEXT); INSERT INTO b VALUES('x')"), nil); b.Rows != 0 {
		t.Errorf("%+v", b)
	}
	none, err := OpenBlobs(t.Context(), made(t, "CREATE TABLE b (x)"), sqlitefile.Table{}, Options{File: "f"})
	if err != nil || none.At(idOf("0a")).String() != "f/blobs" {
		t.Error(err, none.At(idOf("0a")))
	}
	if b, err := none.Blob(t.Context(), idOf("0a")); b != nil || err != nil {
		t.Error(b, err)
	}
}

// TestNamesOfALargeStore bounds what is held of each blob that is not held
// itself.
func TestNamesOfALargeStore(t *testing.T) {
	const many, most = 60_000, 40 // bytes
	db := made(t, fmt.Sprintf("CREATE TABLE blobs (id TEXT PRIMARY KEY, data BLOB); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<%d) INSERT INTO blobs SELECT printf('%%016x%%048d',i*7919*65536*65536,i),zeroblob(600) FROM n", many))
	live := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := live()
	b := opened(t, db, nil)
	if n := (live() - before) / many; n > most || b.Rows != many || b.lookup == nil {
		t.Errorf("%d bytes a blob, %d are promised; %d blobs", n, most, b.Rows)
	}
	id, _ := agentstate.ParseID(fmt.Sprintf("%016x%048d", 31*7919*65536*65536, 31))
	if a := b.At(id); a.RowID != 31 {
		t.Error(a)
	}
	data, err := b.Blob(t.Context(), id)
	if err != nil || len(data) != 600 {
		t.Error(len(data), err)
	}
	n := 0
	for id, err := range b.All(t.Context()) {
		if n++; err != nil || b.At(id).RowID != int64(n) {
			t.Fatal(n, id, err)
		}
	}
	if n != many {
		t.Error(n)
	}
}

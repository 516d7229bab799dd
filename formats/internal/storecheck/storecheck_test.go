package storecheck_test

import (
	"bytes"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/internal/storecheck"
	"rehome/formats/rule"
	"rehome/formats/store"
)

// asked asks about a store.db, and follows the root that its meta row names.
func asked(t *testing.T, path string, layers rule.Layers) (out []string) {
	t.Helper()
	q := &rule.Pass{Layers: layers, Report: func(f rule.Finding) {
		out = append(out, strings.TrimSpace(f.Rule+" "+f.At.String()+" "+f.Pointer))
	}}
	var bench storecheck.Bench
	s, err := bench.Open(t.Context(), path, "store.db", formats.View{}, q)
	if err != nil {
		t.Fatal(err)
	}
	if s == nil {
		return out
	}
	s.Meta.Ask()
	if id, ok := s.Meta.RootID(); ok {
		if err := s.Graph.Root(t.Context(), id, s.Meta.At, "/latestRootBlobId"); err != nil {
			t.Fatal(err)
		}
	}
	s.Graph.Finish(store.Addr{File: "store.db"})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	slices.Sort(out)
	return out
}

// made is a store.db with the given blobs, the last of which is its root.
func made(t *testing.T, first string, blobs ...[]byte) (string, *sql.DB) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "store.db")
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { db.Close() })
	do := func(s string, args ...any) {
		if _, err := db.Exec(s, args...); err != nil {
			t.Fatal(err)
		}
	}
	do(first)
	do("CREATE TABLE blobs (id TEXT PRIMARY KEY, data BLOB)")
	do("CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT)")
	root := ""
	for _, b := range blobs {
		root = fmt.Sprintf("%x", sha256.Sum256(b))
		do("INSERT INTO blobs VALUES (?, ?)", root, b)
	}
	meta := fmt.Sprintf(`{"agentId":"a","latestRootBlobId":"%s","name":"n","mode":"default","createdAt":1}`, root)
	do("INSERT INTO meta VALUES ('0', ?)", hex.EncodeToString([]byte(meta)))
	return path, db
}

func ref(num byte, b []byte) []byte {
	sum := sha256.Sum256(b)
	return append([]byte{num<<3 | 2, 32}, sum[:]...)
}

const everything = rule.Container | rule.References | rule.Meaning

// TestLongBlob: one that is not held in memory is hashed all the same, and no
// message.
func TestLongBlob(t *testing.T) {
	long := bytes.Repeat([]byte("{long} "), 4<<20)
	path, db := made(t, "PRAGMA synchronous=OFF", long, ref(1, long))
	if got := asked(t, path, everything); len(got) > 0 {
		t.Errorf("%q", got)
	}
	if _, err := db.Exec("UPDATE blobs SET data=CAST(data||'x' AS BLOB) WHERE rowid=1"); err != nil {
		t.Fatal(err)
	}
	if got := asked(t, path, everything); !slices.Equal(got, []string{"RH301 store.db/blobs#1"}) {
		t.Errorf("%q", got)
	}
}

// TestOtherFiles: a store in use, in UTF-16, or with other pages says the same.
func TestOtherFiles(t *testing.T) {
	lost := []byte("lost")
	for name, first := range map[string]string{"wide": "PRAGMA encoding='UTF-16'", "hot": "PRAGMA journal_mode=WAL", "small": "PRAGMA page_size=512"} {
		path, _ := made(t, first, []byte(`{"role":"user","content":"hi"}`), []byte("orphan"), append(ref(1, []byte(`{"role":"user","content":"hi"}`)), ref(8, lost)...))
		got := slices.DeleteFunc(asked(t, path, everything), func(s string) bool { return strings.HasPrefix(s, "RH117") })
		if want := []string{"RH304 store.db/blobs#3 /turns/0", "RH305 store.db"}; !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}

// TestLayers: each asks its own questions, and damage is an error where nobody
// asks about it.
func TestLayers(t *testing.T) {
	call := []byte(`{"role":"assistant","content":[{"type":"tool-call","toolCallId":"c","toolName":"Read","args":{}}]}`)
	path, db := made(t, "PRAGMA synchronous=OFF", call, append(ref(1, call), ref(8, []byte("lost"))...))
	if _, err := db.Exec("INSERT INTO blobs VALUES ('x', NULL)"); err != nil {
		t.Fatal(err)
	}
	own := func(layers rule.Layers) (out []string) {
		for _, s := range asked(t, path, layers) {
			if layers.Has(rule.Lookup(s[:5]).Layer) {
				out = append(out, s)
			}
		}
		return out
	}
	for layers, want := range map[rule.Layers][]string{
		rule.Container:  nil,
		rule.References: {"RH302 store.db/blobs#3", "RH304 store.db/blobs#2 /turns/0"},
		rule.Meaning:    {"RH413 store.db/blobs#1 /content/0"},
	} {
		if got := own(layers); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", layers, got, want)
		}
	}
	if _, err := db.Exec("PRAGMA writable_schema=ON; UPDATE sqlite_schema SET rootpage=3 WHERE name='meta'"); err != nil {
		t.Fatal(err)
	}
	q := &rule.Pass{Layers: rule.References, Report: func(f rule.Finding) { t.Error(f) }}
	var bench storecheck.Bench
	if s, err := bench.Open(t.Context(), path, "store.db", formats.View{}, q); s != nil || err == nil {
		t.Error("a damaged file is taken for sound", err)
	}
}

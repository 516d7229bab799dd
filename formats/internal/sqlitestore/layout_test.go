package sqlitestore_test

import (
	"database/sql"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/internal/sqlitestore"
	"rehome/formats/loss"
	"rehome/formats/store"
)

const planted = `{"blobEncryptionKey":"S3cr3t"}`

// shape is of stores that are a folder with a main.db, anything .json, and a
// folder more of the same.
func shape() sqlitestore.Shape {
	return sqlitestore.Shape{Origin: "test", Single: true, Tables: []string{"t", "u"}, Use: func(rel string) sqlitestore.Use {
		switch {
		case rel == "main.db" || rel == "more/main.db":
			return sqlitestore.Database
		case rel == "more/" || strings.HasSuffix(rel, ".json"):
			return sqlitestore.Plain
		case strings.HasPrefix(rel, "foreign"):
			return sqlitestore.Skip
		}
		return sqlitestore.Aside
	}}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

func database(t *testing.T, name string) {
	t.Helper()
	write(t, name, "")
	db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(name))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("CREATE TABLE t(a)"); err != nil {
		t.Fatal(err)
	}
}

// What lies beside the databases is carried only where the format knows it,
// and where it can be looked into for secrets. The rest is in the books.
func TestWhatIsCarried(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, "store", filepath.FromSlash(name)) }
	database(t, filepath.Join(dir, "elsewhere.db"))
	database(t, at("copy.json"))
	database(t, at("main.db.bak"))
	write(t, filepath.Join(dir, "elsewhere.json"), planted)
	for name, text := range map[string]string{"good.json": "{}", "key.json": planted, "more/good.json": `{"text":"blobEncryptionKey"}`, "notes.txt": planted,
		"sub/main.db": planted, "foreign": planted, "foreign.d/x.json": planted, "main.db-wal": "", "empty.json": ""} {
		write(t, at(name), text)
	}
	for link, to := range map[string]string{"main.db": "../elsewhere.db", "out.json": "../elsewhere.json", "in.json": "good.json", "dangling.json": "nowhere", "linked": "more", "foreign.l": "more"} {
		if err := os.Symlink(to, at(link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("store", filepath.Join(dir, "by-link")); err != nil {
		t.Fatal(err)
	}
	const noPart = "L314"
	aside := map[string]string{"copy.json": noPart, "main.db.bak": noPart, "notes.txt": noPart, "out.json": "L318",
		"dangling.json": "L317", "sub": "L315", "linked": "L315"}
	for mode, want := range map[formats.SecretMode]string{
		formats.KeepSecrets:     "main.db empty.json good.json in.json key.json more/good.json",
		formats.WithholdSecrets: "main.db empty.json good.json in.json more/good.json",
	} {
		for _, name := range []string{"store", "by-link"} {
			files, notes := carried(t, filepath.Join(dir, name), mode)
			if got := strings.Join(files, " "); got != want {
				t.Errorf("%s: carried: %s, want %s", name, got, want)
			}
			expect := maps.Clone(aside)
			if mode == formats.WithholdSecrets {
				expect["key.json"] = "L403"
			}
			if !maps.Equal(notes, expect) {
				t.Errorf("%s: noted %v, want %v", name, notes, expect)
			}
		}
	}
}

// carried reads a store and says which files came of it, and what was noted.
func carried(t *testing.T, path string, mode formats.SecretMode) (files []string, notes map[string]string) {
	t.Helper()
	l, err := formats.Locate(path)
	if err != nil {
		t.Fatal(err)
	}
	notes = map[string]string{}
	r, err := shape().Open(t.Context(), l, formats.View{Secrets: mode, OnLoss: func(n loss.Loss) {
		if notes[n.At.File] != "" || n.Kind() != loss.Dropped {
			t.Errorf("noted: %v", n)
		}
		notes[n.At.File] = strings.Join(append([]string{string(n.Code)}, n.Args...), " ")
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for b, err := range r.Batches(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		b.Release()
	}
	for _, s := range r.Schema().Sets {
		if !slices.Contains(files, s.File) {
			files = append(files, s.File)
		}
	}
	return files, notes
}

// Other codecs see what is no part of the store, but no secret of it.
func TestFiles(t *testing.T) {
	dir := t.TempDir()
	database(t, filepath.Join(dir, "main.db"))
	database(t, filepath.Join(dir, "main.db.bak"))
	write(t, filepath.Join(dir, "notes.txt"), "words")
	write(t, filepath.Join(dir, "secret.txt"), planted)
	write(t, filepath.Join(dir, "key.json"), planted)
	l, err := formats.Locate(dir)
	if err != nil {
		t.Fatal(err)
	}
	for mode, want := range map[formats.SecretMode]string{
		formats.KeepSecrets:     "[key.json notes.txt secret.txt] noted [main.db.bak]",
		formats.WithholdSecrets: "[notes.txt] noted [key.json main.db.bak secret.txt]",
	} {
		var noted, plain []string
		databases, files, err := shape().FilesFor(l, formats.View{Secrets: mode, OnLoss: func(n loss.Loss) { noted = append(noted, n.At.File) }})
		for _, f := range files {
			plain = append(plain, f.Path)
		}
		slices.Sort(noted)
		slices.Sort(plain)
		if got := fmt.Sprint(plain, " noted ", noted); err != nil || got != want || len(databases) != 1 {
			t.Errorf("%v, %v, want %s", got, err, want)
		}
	}
}

// A store is only made where this format would know it again.
func TestFits(t *testing.T) {
	schema := func(origin string, tables ...string) *store.Schema {
		s := &store.Schema{Origin: origin, Databases: []store.Database{{Pragmas: store.Pragmas{PageSize: 4096, Encoding: "UTF-8", JournalMode: "delete"}}}}
		for _, name := range tables {
			s.Databases[0].Objects = append(s.Databases[0].Objects, store.Object{Type: "table", Name: name, Table: name, SQL: "CREATE TABLE " + name + "(a)"})
			s.Sets = append(s.Sets, store.Set{Name: name, Columns: []string{"a"}, RowIDs: true})
		}
		return s
	}
	for _, c := range []struct {
		schema *store.Schema
		want   string
	}{
		{schema("other", "t", "u"), ""},
		{schema("other", "x", "U", "T"), ""},
		{schema("test"), ""}, // it was one
		{schema("other", "t"), "no table u"},
		{schema("other"), "no table t"},
	} {
		w, err := shape().Create(t.Context(), formats.Build{Path: filepath.Join(t.TempDir(), "new.db"), Schema: c.schema})
		if (err == nil) != (c.want == "") || err != nil && (!strings.Contains(err.Error(), c.want) || formats.Hint(err) == "") {
			t.Errorf("%+v: %v, want %q", c.schema.Sets, err, c.want)
		}
		if w != nil {
			w.Close()
		}
	}
}

// Text that others can write to cannot plant a database as a plain file.
func TestNoPlainDatabase(t *testing.T) {
	s := &store.Schema{Origin: "test", Databases: []store.Database{{Path: "main.db", Pragmas: store.Pragmas{PageSize: 4096, Encoding: "UTF-8", JournalMode: "delete"}}},
		Sets: []store.Set{{File: "x.json", Kind: store.Plain, Columns: []string{"bytes"}}}}
	w, err := shape().Create(t.Context(), formats.Build{Path: filepath.Join(t.TempDir(), "new"), Schema: s})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	b := store.NewBatch(0, 1)
	b.Row(0)
	b.AddBytes(store.Blob, []byte("SQLite format 3\x00 and more"))
	if err := w.Put(t.Context(), b); err == nil || !strings.Contains(err.Error(), "x.json") {
		t.Errorf("put: %v", err)
	}
}

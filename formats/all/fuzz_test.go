package all_test

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rehome/convert"
	"rehome/formats/all"
	"rehome/formats/internal/digest"
	"rehome/formats/store"
)

// FuzzTextStoreText: an archive of one table, its manifest and its rows as
// somebody may have edited them, is refused and leaves nothing, or comes back
// from SQLite byte for byte.
func FuzzTextStoreText(f *testing.F) {
	seedTables(f, chatSample)
	for _, script := range []string{"../../testdata/sqlite/oddities.sql", "../../testdata/ide/global.sql", "../../testdata/ide/workspace.sql"} {
		text, err := os.ReadFile(script)
		if err != nil {
			f.Fatal(err)
		}
		file := filepath.Join(f.TempDir(), "x.db")
		run(f, file, string(text))
		seedTables(f, file)
	}
	reg := all.Registry()
	f.Fuzz(func(t *testing.T, manifest, name, rows string) {
		if !fs.ValidPath(name) || !filepath.IsLocal(name) || len(rows)+len(manifest) > 1<<16 {
			return
		}
		dir := t.TempDir()
		h := &hostile{dir: filepath.Join(dir, "in")}
		h.write(".gitattributes", gitAttributes)
		h.write(name, rows)
		h.write("manifest.json", manifest)
		h.sign(t, rows)
		before := files(t, h.dir)
		out := filepath.Join(dir, "out")
		if err := os.Mkdir(out, 0o777); err != nil {
			t.Fatal(err)
		}
		back, o := filepath.Join(out, "back.db"), convert.Options{From: "archive", WithSecrets: true, Jobs: 1}
		if _, err := convert.Convert(t.Context(), reg, h.dir, back, o); err != nil {
			if left := list(t, out); len(left) > 0 {
				t.Errorf("refused (%v), and left behind: %v", err, left)
			}
			return
		}
		again := filepath.Join(dir, "again")
		o = convert.Options{From: "sqlite", To: "archive", WithSecrets: true, Jobs: 1}
		if _, err := convert.Convert(t.Context(), reg, back, again, o); err != nil {
			t.Fatalf("it came to be a database that cannot be read: %v", err)
		}
		if after := files(t, again); !maps.Equal(before, after) {
			t.Errorf("%q became %q", before, after)
		}
	})
}

const gitAttributes = "* -text\n"

// seedTables adds each table of a database that lies in a single file.
func seedTables(f *testing.F, file string) {
	f.Helper()
	text := filepath.Join(f.TempDir(), "text")
	if _, err := convert.Convert(f.Context(), all.Registry(), file, text, convert.Options{From: "sqlite", To: "archive", WithSecrets: true}); err != nil {
		f.Fatal(err)
	}
	h := &hostile{dir: text}
	if err := json.Unmarshal([]byte(h.read("manifest.json")), &h.manifest); err != nil {
		f.Fatal(err)
	}
	if got := h.read(".gitattributes"); got != gitAttributes {
		f.Fatalf("archives have other attributes now: %q", got)
	}
	seeds := 0
	objects := h.database()["objects"].([]any)
	for _, table := range h.database()["tables"].([]any) {
		name := strings.ToLower(table.(map[string]any)["name"].(string)) + ".ndjson"
		rows := h.read(name)
		if rows == "" {
			continue
		}
		var own []any
		for _, o := range objects {
			if o.(map[string]any)["table"] == table.(map[string]any)["name"] {
				own = append(own, o)
			}
		}
		h.database()["objects"], h.database()["tables"] = own, []any{table}
		f.Add(h.spelled(f), name, rows)
		seeds++
	}
	if seeds == 0 {
		f.Fatal("no table lies in a file of its name")
	}
}

// sign makes the manifest agree with the rows, as somebody who can write to the
// repository would. One that is no manifest stays as it is.
func (h *hostile) sign(t *testing.T, rows string) {
	d := json.NewDecoder(strings.NewReader(h.read("manifest.json")))
	d.UseNumber()
	if d.Decode(&h.manifest) != nil || d.More() {
		return
	}
	h.manifest["origin"] = "sqlite" // else it is read as another format's
	databases, _ := h.manifest["databases"].([]any)
	if len(databases) == 0 {
		return
	}
	base, _ := databases[0].(map[string]any)
	tables, _ := base["tables"].([]any)
	if len(tables) == 0 {
		return
	}
	table, ok := tables[0].(map[string]any)
	if !ok {
		return
	}
	var sum store.Digest
	n := 0
	for line := range bytes.Lines([]byte(rows)) {
		sum.Add(digest.Bytes(line))
		n++
	}
	table["rows"], table["bytes"], table["digest"] = n, len(rows), digest.Format(sum)
	h.write("manifest.json", h.spelled(t))
}

package check_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rehome/convert"
	"rehome/convert/check"
	"rehome/formats/all"
	"rehome/formats/rule"
)

// TestPlanted: text that says it is nobody's plants no SQL in what a client would
// open.
func TestPlanted(t *testing.T) {
	dir := t.TempDir()
	store, text := filepath.Join(dir, "state.vscdb"), filepath.Join(dir, "text")
	db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(store))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"ItemTable", "cursorDiskKV"} {
		if _, err := db.Exec("CREATE TABLE " + name + " (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)"); err != nil {
			t.Fatal(err)
		}
	}
	db.Close()
	if _, err := convert.Convert(t.Context(), all.Registry(), store, text, convert.Options{To: "archive"}); err != nil {
		t.Fatal(err)
	}
	manifest := filepath.Join(text, "manifest.json")
	b, err := os.ReadFile(manifest)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(b), "\n")
	s := strings.Join(append(lines[:3:3], lines[4:]...), "\n") // the digest
	s = strings.Replace(s, `"origin": "cursor-ide"`, `"origin": "sqlite"`, 1)
	s = strings.Replace(s, "\n        }\n      ],\n", `
        },
        {
          "type": "trigger",
          "name": "t",
          "table": "ItemTable",
          "sql": "CREATE TRIGGER t AFTER INSERT ON ItemTable BEGIN INSERT INTO cursorDiskKV VALUES ('bubbleId:1:2', new.value); END"
        }
      ],
`, 1)
	if err := os.WriteFile(manifest, []byte(s), 0o666); err != nil {
		t.Fatal(err)
	}
	r, err := check.Check(t.Context(), all.Registry(), check.Options{Paths: []string{text}, Layers: rule.Container})
	if err != nil {
		t.Fatal(err)
	}
	found := ""
	for _, s := range r.Stores {
		for _, b := range s.Findings {
			found += b.Rule.ID + " "
		}
	}
	if !strings.Contains(found, "RH119") {
		t.Errorf("check: %q, want RH119", found)
	}
	for to, want := range map[string]string{"": "a trigger", "cursor-ide": "a trigger", "sqlite": ""} {
		out := filepath.Join(dir, "out"+to)
		_, err := convert.Convert(t.Context(), all.Registry(), text, out, convert.Options{To: to})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("to %q: %v, want %q", to, err, want)
		}
		if _, gone := os.Lstat(out); (gone == nil) != (want == "") {
			t.Errorf("to %q: there: %v", to, gone == nil)
		}
	}
}

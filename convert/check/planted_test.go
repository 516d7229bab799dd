package check_test

import (
	"fmt"
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
	text := filepath.Join(dir, "text")
	table := func(name string) string {
		return fmt.Sprintf(`
        {
          "type": "table",
          "name": "%[1]s",
          "table": "%[1]s",
          "sql": "CREATE TABLE %[1]s (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)"
        },`, name)
	}
	rows := func(name string) string {
		return fmt.Sprintf(`
        {
          "name": "%s",
          "columns": [
            "key",
            "value"
          ],
          "rowids": true,
          "rows": 0,
          "bytes": 0,
          "digest": "xxh3:00000000000000000000000000000000"
        }`, name)
	}
	// A manifest of version 1 may be without a digest.
	manifest := `{
  "rehome": "archive",
  "version": 1,
  "origin": "sqlite",
  "compress": "none",
  "databases": [
    {
      "path": "",
      "pragmas": {
        "page_size": 4096,
        "encoding": "UTF-8",
        "auto_vacuum": 0,
        "journal_mode": "delete",
        "user_version": 0,
        "application_id": 0
      },
      "objects": [` + table("ItemTable") + table("cursorDiskKV") + `
        {
          "type": "trigger",
          "name": "t",
          "table": "ItemTable",
          "sql": "CREATE TRIGGER t AFTER INSERT ON ItemTable BEGIN INSERT INTO cursorDiskKV VALUES ('bubbleId:1:2', new.value); END"
        }
      ],
      "tables": [` + rows("ItemTable") + "," + rows("cursorDiskKV") + `
      ]
    }
  ],
  "files": []
}
`
	if err := os.Mkdir(text, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(text, "manifest.json"), []byte(manifest), 0o666); err != nil {
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

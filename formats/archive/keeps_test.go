package archive

import (
	"os"
	"path/filepath"
	"testing"
)

// TestKeeps: rows of one session, entries, plain files and whole databases may stay beside
// a newer text; what describes the archive, or all of a table, may not.
func TestKeeps(t *testing.T) {
	dir := t.TempDir()
	text, newer := filepath.Join(dir, "text"), filepath.Join(dir, "newer")
	for _, name := range []string{"text/a.db/database.json", "text/gone/b.db/database.json", "text/notes.json", "text/notes.json.xxh3", "newer/a.db/database.json", "newer/manifest.json"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]bool{
		"a.db/rows/3f/one.ndjson":        true,
		"a.db/rows/3f/one.common.ndjson": true,
		"a.db/rows/3f/one.entry.ndjson":  true,
		"a.db/rows/3f.ndjson":            false,
		"a.db/rows.ndjson":               false,
		"a.db/records.ndjson.zst":        false,
		"a.db/database.json":             false,
		"a.db/other":                     false,
		"gone/b.db/rows.ndjson":          true,
		"gone/b.db/database.json":        true,
		"notes.json":                     true,
		"notes.json.xxh3":                true,
		"other.json":                     false,
		"manifest.json":                  false,
		".gitattributes":                 false,
	} {
		if got := keeps(text, newer, name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

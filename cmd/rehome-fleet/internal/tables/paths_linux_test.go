package tables

import (
	"os"
	"path/filepath"
	"testing"

	"rehome/formats/session"
)

// TestPaths has stores whose names are not UTF-8: each keeps a name of its own.
func TestPaths(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a\xfe.jsonl", "a\xff.jsonl", `a\xff.jsonl`} {
		if err := os.Rename(lines(t, &session.Session{Head: session.Head{ID: "s", Agent: "codex"}}), filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	out, rep := write(t, dir, Options{})
	stores := map[string]bool{}
	for _, s := range read[Session](t, out, "sessions") {
		stores[s.Store] = true
	}
	if len(stores) != 3 || !stores[`a\xfe.jsonl`] {
		t.Errorf("%v", stores)
	}
	for _, s := range rep.Stores {
		if !stores[s.Path] {
			t.Errorf("%q is not the name in the table", s.Path)
		}
	}
}

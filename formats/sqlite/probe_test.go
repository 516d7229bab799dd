package sqlite

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rehome/formats"
)

// A file that somebody names, and that is named like a database, is claimed so
// that opening it says what is wrong.
func TestProbe(t *testing.T) {
	for name, c := range map[string]struct {
		text  string
		score int
		why   string // "" : not claimed
	}{
		"a.db":        {"", formats.Guess, "zero bytes"},
		"B.SQLITE":    {"words", formats.Guess, "not a SQLite database"},
		"c.sqlite3":   {"SQLite f", formats.Guess, "truncated"},
		"d.db3":       {strings.Repeat("0", 4096), formats.Guess, "not a SQLite database"},
		"e.vscdb":     {"SQLite format 3\x00", 10, "truncated"},
		"store.db":    {"", formats.Guess + 1, "zero bytes"},
		"index.db":    {"words", formats.Guess + 1, "not a SQLite database"},
		"state.vscdb": {"words", formats.Guess + 1, "not a SQLite database"},
		"words.txt":   {"words", 0, ""},
		"db":          {"", 0, ""},
		"x.db.bak":    {"", 0, ""},
	} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(c.text), 0o666); err != nil {
			t.Fatal(err)
		}
		l, err := formats.Locate(path)
		if err != nil {
			t.Fatal(err)
		}
		m, err := Format().Probe(t.Context(), l)
		if m.Score != c.score || err != nil || (len(m.Evidence) == 1) != (c.score > 0) {
			t.Errorf("%s: %+v, %v, want score %d", name, m, err, c.score)
		}
		if c.why == "" {
			continue
		}
		if _, err := Format().Records.Open(t.Context(), l, formats.View{}); err == nil || !strings.Contains(err.Error(), c.why) || formats.Hint(err) == "" {
			t.Errorf("%s: %v, want %q and a hint", name, err, c.why)
		}
	}
	dir := filepath.Join(t.TempDir(), "folder.db")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	l, err := formats.Locate(dir)
	if err != nil {
		t.Fatal(err)
	}
	if m, _ := Format().Probe(t.Context(), l); m.Score > 0 {
		t.Error("a folder is claimed for its name")
	}
}

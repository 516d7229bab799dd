package cursorchat

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rehome/formats"
)

func makeChat(t *testing.T, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(filepath.Join(dir, storeName)))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("CREATE TABLE blobs(id TEXT PRIMARY KEY, data BLOB); CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT)"); err != nil {
		t.Fatal(err)
	}
}

// A folder that is known by its tables alone is claimed only where no store
// below it would be hidden by that; one in its own place always.
func TestProbe(t *testing.T) {
	place := filepath.Join(strings.Repeat("0a", 16), "01234567-89ab-cdef-0123-456789abcdef")
	for name, c := range map[string]struct {
		dir, below string
		want       int
	}{
		"alone":                {"x", "", 80},
		"with a folder":        {"x", "a", 0},
		"with a hidden folder": {"x", ".hidden", 0},
		"in its place":         {place, "", 95},
		"in its place, with":   {place, "a", 95},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), c.dir)
			makeChat(t, dir)
			if c.below != "" {
				makeChat(t, filepath.Join(dir, c.below))
			}
			for path, want := range map[string]int{dir: c.want, filepath.Join(dir, storeName): 80} {
				l, err := formats.Locate(path)
				if err != nil {
					t.Fatal(err)
				}
				if m, err := probe(t.Context(), l); m.Score != want || err != nil {
					t.Errorf("%s: score %d, %v, want %d", path, m.Score, err, want)
				}
			}
		})
	}
}

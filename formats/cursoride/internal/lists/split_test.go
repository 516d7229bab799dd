package lists

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"io/fs"
	"path/filepath"
	"slices"
	"testing"

	"rehome/formats/internal/entries"
	"rehome/testdata/ide"
)

// TestSplit splits the lists of real generations of the client. In each list it finds
// entries somewhere.
func TestSplit(t *testing.T) {
	found := map[string]int{}
	cases, err := fs.Glob(ide.Cases, "cases/*.sql")
	if err != nil || len(cases) == 0 {
		t.Fatal(err)
	}
	for _, name := range cases {
		script, err := ide.Cases.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		if err := ide.Build(dir, string(script)); err != nil {
			t.Fatal(err)
		}
		err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.Name() != DbName {
				return err
			}
			db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(path))
			if err != nil {
				return err
			}
			defer db.Close()
			for _, l := range Split() {
				var value []byte
				if db.QueryRow("SELECT value FROM ItemTable WHERE key = ?", l.Key).Scan(&value) != nil {
					continue
				}
				var compact bytes.Buffer // as the client writes it
				if json.Compact(&compact, value) == nil {
					value = compact.Bytes()
				}
				frame, list, ok := entries.Split(value, []entries.Member{{Name: l.Member, ID: l.ID}})
				if !ok {
					continue
				}
				found[l.Key+" "+l.Member] += len(list)
				slices.Reverse(list)
				if got, err := entries.Join(frame, list); err != nil || string(got) != string(value) {
					t.Errorf("%s, %s: %s, %v", name, l.Key, got, err)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, l := range Split() {
		if found[l.Key+" "+l.Member] == 0 && l.Member != "lastFocusedComposerIds" { // in no case
			t.Errorf("no list %s in %s", l.Member, l.Key)
		}
	}
}

package all_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"testing"

	"rehome/formats/formatstest/idegen"
	"rehome/schemas"
)

// TestIDESchemas holds what the generator writes, from the published facts,
// against the schemas that we publish.
func TestIDESchemas(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "User")
	if err := idegen.New(1, 60).Write(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(filepath.Join(dir, "globalStorage", "state.vscdb")))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for name, query := range map[string]string{
		"cursor-ide-composer-1": "SELECT value FROM cursorDiskKV WHERE key GLOB 'composerData:*' AND value IS NOT NULL",
		"cursor-ide-bubble-1":   "SELECT value FROM cursorDiskKV WHERE key GLOB 'bubbleId:*' AND value IS NOT NULL",
		"cursor-ide-head-1":     "SELECT value FROM composerHeaders",
	} {
		rows, err := db.Query(query)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for rows.Next() {
			var value []byte
			if err := rows.Scan(&value); err != nil {
				t.Fatal(err)
			}
			n++
			if err := schemas.Validate(name, value); err != nil {
				t.Errorf("%s: %v\n%.1000s", name, err, value)
			}
		}
		if rows.Close(); rows.Err() != nil || n == 0 {
			t.Errorf("%s: %d rows, %v", name, n, rows.Err())
		}
	}
	files, err := filepath.Glob(filepath.Join(dir, "workspaceStorage", "*", "workspace.json"))
	if err != nil || len(files) == 0 {
		t.Fatal("no workspaces", err)
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if err := schemas.Validate("cursor-ide-workspace-1", text); err != nil {
			t.Errorf("%s: %v", f, err)
		}
	}
}

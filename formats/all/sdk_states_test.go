package all_test

import (
	"database/sql"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rehome/formats/session"
)

// TestTwoStates: of two states that a store names, the one that the client continues is
// shown, and the other is named.
func TestTwoStates(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("..", "..", "testdata", "sdk", "legacy-1.0.14"))); err != nil {
		t.Fatal(err)
	}
	before := decodeStore(t, "cursor-sdk", dir, session.Selection{})
	if before.noted("L751") {
		t.Error("both name the same state")
	}
	names, err := filepath.Glob(filepath.Join(dir, "agents", "*", "store.db"))
	if err != nil || len(names) != 1 {
		t.Fatal(names, err)
	}
	db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(names[0]))
	if err != nil {
		t.Fatal(err)
	}
	var value, other string
	if err := db.QueryRow("SELECT value FROM meta WHERE key = '0'").Scan(&value); err != nil {
		t.Fatal(err)
	}
	text, err := hex.DecodeString(value)
	if err != nil {
		t.Fatal(err)
	}
	root := rootPattern.FindString(string(text))
	if err := db.QueryRow("SELECT id FROM blobs WHERE instr(?, id) = 0 LIMIT 1", root).Scan(&other); err != nil {
		t.Fatal(err)
	}
	text = []byte(strings.Replace(string(text), root, `"latestRootBlobId":"`+other+`"`, 1))
	if _, err := db.Exec("UPDATE meta SET value = ? WHERE key = '0'", hex.EncodeToString(text)); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	after := decodeStore(t, "cursor-sdk", dir, session.Selection{})
	if !after.noted("L751") || !slices.Equal(before.sessions[0].normal, after.sessions[0].normal) {
		t.Errorf("got %v\n%q, want L751 and\n%q", after.notes, after.sessions[0].normal, before.sessions[0].normal)
	}
	if head := after.sessions[0].lines[0]; !strings.Contains(head, `{"name":"meta.latestRootBlobId","raw":"`+other+`"}`) {
		t.Errorf("the other state is not named: %s", head)
	}
}

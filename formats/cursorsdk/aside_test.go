package cursorsdk

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rehome/formats/internal/sdkstore"
)

// TestNotOwn: chats of the CLI below a folder with an index.db are not the
// SDK's, and what a running conversion keeps beside its target is nobody's.
func TestNotOwn(t *testing.T) {
	dir := sampleProject(t)
	root := roots(t, dir)[0]
	chat := filepath.Join(root, "chats", "ab", "cd", "store.db")
	if err := os.MkdirAll(filepath.Dir(chat), 0o700); err != nil {
		t.Fatal(err)
	}
	execute(t, chat, "CREATE TABLE blobs(id TEXT PRIMARY KEY, data BLOB)", "CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT)", "INSERT INTO blobs VALUES('ab',x'00')")
	staged := filepath.Join(root, ".out.jsonl.rehome-0123456789abcdef", "lock")
	if err := os.MkdirAll(filepath.Dir(staged), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(staged, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, at := range []string{dir, root, filepath.Join(root, sdkstore.IndexName)} {
		got := decoded(t, at)
		if n := strings.Count(strings.Join(got.lines, "\n"), "session "); n != 1 {
			t.Errorf("%s: %d sessions", at, n)
		}
		if notes := strings.Join(got.notes, "\n"); strings.Contains(notes, "rehome-") || !strings.Contains(notes, "chats/ab/cd/store.db L314") {
			t.Errorf("%s:\n%s", at, notes)
		}
	}
}

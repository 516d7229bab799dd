package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestBusySource: a source that its owner has not let go of ends in exit 5,
// with a hint, and nothing is placed. Here its journal belongs to a transaction
// over several files, which only its owner can undo.
func TestBusySource(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	furnish(t, dir)
	const magic = "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"
	journal := magic + strings.Repeat("\x00", 1024) + magic
	if err := os.WriteFile(filepath.Join("chat", "store.db-journal"), []byte(journal), 0o666); err != nil {
		t.Fatal(err)
	}
	stdout, stderr, code := call(t, "convert", "chat/store.db", "text", "--to", "archive")
	if code != 5 || !strings.Contains(stderr, "store.db") || !strings.Contains(stderr, "hint:") {
		t.Errorf("exit %d: %s%s", code, stdout, stderr)
	}
	stdout, _, code = call(t, "convert", "chat/store.db", "text", "--to", "archive", "--json")
	if code != 5 || !strings.Contains(stdout, `"code": 5`) {
		t.Errorf("exit %d: %s", code, stdout)
	}
	if _, err := os.Lstat("text"); err == nil {
		t.Error("something was placed")
	}
}

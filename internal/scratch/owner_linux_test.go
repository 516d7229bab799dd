package scratch

import (
	"os"
	"path/filepath"
	"testing"
)

// TestSweepOnlyMine: what another user left is not touched, even by root.
func TestSweepOnlyMine(t *testing.T) {
	dir := temporary(t)
	root := filepath.Join(dir, "rehome-copy-0123456789abcdef")
	if err := os.MkdirAll(filepath.Join(root, "tree"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "lock"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(root, 65534, 65534); err != nil {
		t.Logf("no right to give files away: %v", err)
		return
	}
	Sweep()
	if _, err := os.Lstat(root); err != nil {
		t.Error(err)
	}
}

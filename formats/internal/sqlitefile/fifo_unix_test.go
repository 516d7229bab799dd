//go:build unix

package sqlitefile

import (
	"path/filepath"
	"syscall"
	"testing"
)

// Opening a fifo would wait for a writer that never comes.
func TestFifo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Open(t.Context(), path, Options{})
	fails(t, err, "x.db", "not a regular file")
	side := build(t, filepath.Join(t.TempDir(), "y.db"), three...)
	if err := syscall.Mkfifo(side+"-journal", 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), side, Options{}); err == nil {
		t.Error("a fifo beside the file was let pass")
	}
}

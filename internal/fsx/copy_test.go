package fsx

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// TestCopy copies a file, with the same digest, and over no other.
func TestCopy(t *testing.T) {
	from, to := filepath.Join(t.TempDir(), "a"), filepath.Join(t.TempDir(), "b")
	if err := os.WriteFile(from, []byte("abc"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Copy(from, to, 0o600); err != nil {
		t.Fatal(err)
	}
	const want = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
	if got, err := Digest(to); got != want || err != nil {
		t.Error(got, err)
	}
	if err := Copy(from, to, 0o600); !errors.Is(err, fs.ErrExist) {
		t.Error(err)
	}
	missing := filepath.Join(t.TempDir(), "c")
	if _, err := Digest(missing); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if err := Copy(missing, missing+"d", 0o600); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

package fsx

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

// TestTree: a copy has the same digest, modes and times, and any change another digest.
func TestTree(t *testing.T) {
	dir := t.TempDir()
	from, sub := filepath.Join(dir, "a"), filepath.Join(dir, "a", "b")
	if err := os.MkdirAll(sub, 0o755); err != nil {
		t.Fatal(err)
	}
	file, at := filepath.Join(sub, "c"), time.Unix(1_700_000_000, 0)
	for _, err := range []error{os.WriteFile(file, []byte("abc"), 0o640), os.Chtimes(file, at, at), os.Chmod(sub, 0o500), os.Chtimes(sub, at, at)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	defer os.Chmod(sub, 0o700)
	was, err := DigestTree(from)
	if err != nil {
		t.Fatal(err)
	}
	for _, link := range []bool{false, true} {
		to := filepath.Join(dir, map[bool]string{false: "copy", true: "link"}[link])
		if err := CopyTree(from, to, link); err != nil {
			t.Fatal(err)
		}
		defer os.Chmod(filepath.Join(to, "b"), 0o700)
		if got, err := DigestTree(to); got != was || err != nil {
			t.Error(got, err)
		}
		for name, mode := range map[string]os.FileMode{"b": 0o500, "b/c": 0o640} {
			info, err := os.Stat(filepath.Join(to, name))
			if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != mode || !info.ModTime().Equal(at) {
				t.Error(name, info, err)
			}
		}
	}
	for _, change := range []func() error{
		func() error { return os.WriteFile(file, []byte("abd"), 0o640) },
		func() error { return os.Mkdir(filepath.Join(from, "d"), 0o700) },
	} {
		if err := change(); err != nil {
			t.Fatal(err)
		}
		got, err := DigestTree(from)
		if got == was || err != nil {
			t.Error("the same digest", err)
		}
		was = got
	}
}

// TestTreeLinks: a symbolic link stays one, and what it leads to is not touched.
func TestTreeLinks(t *testing.T) {
	dir := t.TempDir()
	from, outside := filepath.Join(dir, "a"), filepath.Join(dir, "outside")
	if err := os.Mkdir(from, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(outside, nil, 0o604); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(from, "link")); err != nil {
		t.Log("no links here:", err)
		return
	}
	to := filepath.Join(dir, "b")
	if err := CopyTree(from, to, false); err != nil {
		t.Fatal(err)
	}
	if at, err := os.Readlink(filepath.Join(to, "link")); err != nil || at != outside {
		t.Errorf("%q, %v", at, err)
	}
	if info, err := os.Stat(outside); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o604 {
		t.Error(info, err)
	}
}

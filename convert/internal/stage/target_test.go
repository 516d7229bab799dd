package stage

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestResolve: what does not exist yet of a target is its tail, without dots.
func TestResolve(t *testing.T) {
	dir := t.TempDir()
	for path, want := range map[string][]string{"/new": {"new"}, "/./new": {"new"}, "/gone/./new": {"gone", "new"}, "/gone/././sub/new/": {"gone", "sub", "new"}} {
		got, err := Resolve(dir + filepath.FromSlash(path))
		if err != nil || !slices.Equal(got.Tail, want) {
			t.Errorf("%s: %q, %v; want %q", path, got.Tail, err, want)
		}
	}
}

// TestCheckFolder: a folder that another store made a moment ago is no dangling link.
func TestCheckFolder(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "made"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(dir, "nowhere"), filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if err := (Target{Dir: dir, Tail: []string{"made", "new"}}).checkFolder(); err != nil {
		t.Error(err)
	}
	if err := (Target{Dir: dir, Tail: []string{"link", "new"}}).checkFolder(); err == nil {
		t.Error("a dangling link is taken for a folder")
	}
}

package stage

import (
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

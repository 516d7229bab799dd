package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestPathsAreBytes: names that are not UTF-8 are those of source and target,
// and of no other file.
func TestPathsAreBytes(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	furnish(t, dir)
	if err := os.Rename("chat", "n\xff\xfe"); err != nil {
		t.Fatal(err)
	}
	source := filepath.Join("n\xff\xfe", "store.db")
	for _, args := range [][]string{
		{"convert", source, "text\xff", "--to", "archive"},
		{"convert", "text\xff", "back\xff.db", "--sidecar", "rest\xff"},
		{"convert", source, "said\xff", "--to", "canonical"},
		{"convert", "n\xff\xfe", "all\xff", "--to", "archive"},
		{"check", source, "text\xff"}, {"detect", source}, {"ls", source}, {"show", source}, {"show", source + "#5d0b2b7e"},
		{"migrate", source, "--cwd", ".", "--claude-dir", "claude\xff"},
	} {
		if _, stderr, code := callWith(t, t.Context(), map[string]string{"HOME": dir}, args...); code != 0 {
			t.Errorf("%q: exit %d, %s", args, code, stderr)
		}
	}
	list, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range list {
		names = append(names, e.Name())
	}
	want := []string{".local", "all\xff", "back\xff.db", "claude\xff", "later", "n\xff\xfe", "rest\xff", "said\xff", "text\xff"}
	if !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
	if _, stderr, code := call(t, "convert", source, "text\xff", "--to", "archive"); code != 1 || !strings.Contains(stderr, "already exists") {
		t.Errorf("over itself: exit %d, %s", code, stderr)
	}
	if err := os.Mkdir("cwd\xff", 0o755); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"migrate", source, "--cwd", "cwd\xff", "--claude-dir", "c"}, {"convert", source, "moved", "--to", "archive", "--cwd", "cwd\xff"}} {
		if _, stderr, code := call(t, args...); code != 1 || !strings.Contains(stderr, "not valid UTF-8") {
			t.Errorf("%q: exit %d, %s", args, code, stderr)
		}
	}
}

package into

import (
	"os"
	"path/filepath"
	"testing"
)

// TestJoinLines: the lines of two files follow each other, also if the last line of the
// first one does not end.
func TestJoinLines(t *testing.T) {
	for _, c := range [][3]string{{"a\nb\n", "c\n", "a\nb\nc\n"}, {"a\nb", "c\n", "a\nb\nc\n"}, {"", "c\n", "c\n"}, {"a", "", "a\n"}} {
		dir := t.TempDir()
		first, second := filepath.Join(dir, "first"), filepath.Join(dir, "second")
		for path, text := range map[string]string{first: c[0], second: c[1]} {
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := joinLines(first, second); err != nil {
			t.Error(err)
		}
		if got, err := os.ReadFile(second); err != nil || string(got) != c[2] {
			t.Errorf("%q and %q are %q, %v", c[0], c[1], got, err)
		}
		if got, err := os.ReadFile(first); err != nil || string(got) != c[0] {
			t.Errorf("%q is %q, %v", c[0], got, err)
		}
		if list, err := os.ReadDir(dir); err != nil || len(list) != 2 {
			t.Errorf("%v, %v", list, err)
		}
	}
	if err := joinLines(filepath.Join(t.TempDir(), "missing"), filepath.Join(t.TempDir(), "second")); err == nil {
		t.Error("a missing file was joined")
	}
}

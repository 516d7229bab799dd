package fsx

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestMoveStepwise(t *testing.T) {
	for _, folder := range []bool{false, true} {
		dir := t.TempDir()
		a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
		file := func(path string) string {
			if folder {
				return filepath.Join(path, "f")
			}
			return path
		}
		for path, text := range map[string]string{a: "new", b: "old"} {
			if err := errors.Join(os.MkdirAll(filepath.Dir(file(path)), 0o777), os.WriteFile(file(path), []byte(text), 0o666)); err != nil {
				t.Fatal(err)
			}
		}
		for name, move := range map[string]func(string, string) error{"stepwise": moveStepwise, "at once": Move} {
			if err := move(a, b); !errors.Is(err, fs.ErrExist) {
				t.Errorf("%s, folder %v: %v", name, folder, err)
			}
			if text, err := os.ReadFile(file(b)); err != nil || string(text) != "old" {
				t.Errorf("%s, folder %v: %q, %v", name, folder, text, err)
			}
		}
		if err := moveStepwise(a, filepath.Join(dir, "c")); err != nil {
			t.Error(err)
		}
		if _, err := os.Lstat(a); err == nil {
			t.Error("the old name is still there")
		}
	}
}

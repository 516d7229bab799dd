package fsx

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestReplace(t *testing.T) {
	for name, replace := range map[string]func(string, string) error{"stepwise": swapStepwise, "at once": Replace} {
		dir := t.TempDir()
		a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
		for path, text := range map[string]string{a: "new", b: "old"} {
			if err := errors.Join(os.Mkdir(path, 0o777), os.WriteFile(filepath.Join(path, "f"), []byte(text), 0o666)); err != nil {
				t.Fatal(err)
			}
		}
		if err := replace(a, b); err != nil {
			t.Error(name, err)
		}
		for path, want := range map[string]string{a: "old", b: "new"} {
			if text, err := os.ReadFile(filepath.Join(path, "f")); err != nil || string(text) != want {
				t.Errorf("%s: %s is %q, %v", name, path, text, err)
			}
		}
		if err := replace(filepath.Join(dir, "missing"), b); err == nil {
			t.Errorf("%s: a missing folder replaces one", name)
		}
		if text, err := os.ReadFile(filepath.Join(b, "f")); err != nil || string(text) != "new" {
			t.Errorf("%s: after a failure: %q, %v", name, text, err)
		}
		if list, err := os.ReadDir(dir); err != nil || len(list) != 2 {
			t.Errorf("%s: %v, %v: something is left over", name, list, err)
		}
		file := filepath.Join(a, "f")
		if err := errors.Join(os.WriteFile(filepath.Join(dir, "g"), []byte("file"), 0o666), Replace(filepath.Join(dir, "g"), file)); err != nil {
			t.Error(err)
		}
		if text, err := os.ReadFile(file); err != nil || string(text) != "file" {
			t.Errorf("%q, %v", text, err)
		}
	}
}

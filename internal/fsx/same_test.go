package fsx

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestSame(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	long := strings.Repeat("x", 1<<16+1)
	for name, text := range map[string]string{
		"a/f": long, "b/f": long, "c/f": long[1:], "d/f": long[1:] + "y", "e/g": long, "f/f": long, "f/g": "", "empty": "", "none": "",
	} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(at(name)), 0o777), os.WriteFile(at(name), []byte(text), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	for with, want := range map[string]bool{"a": true, "b": true, "c": false, "d": false} {
		if same, err := Same(at("a/f"), at(with+"/f")); err != nil || same != want {
			t.Errorf("%s/f: %v, %v", with, same, err)
		}
	}
	for with, want := range map[string]bool{"a": true, "b": true, "c": false, "d": false, "e": false, "f": false, "empty": false, "missing": false} {
		if SameTree(at("a"), at(with)) != want || SameTree(at(with), at("a")) != want {
			t.Errorf("%s: want %v", with, want)
		}
	}
	if same, err := Same(at("empty"), at("none")); err != nil || !same {
		t.Errorf("empty files: %v, %v", same, err)
	}
	if _, err := Same(at("empty"), at("missing")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

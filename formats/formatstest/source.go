package formatstest

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"
)

// source is a fixture on disk that must not change.
type source struct {
	Fixture
	dir  string // everything in it is watched
	path string
}

func makeSource(t *testing.T, f Fixture) source {
	t.Helper()
	s := source{Fixture: f, dir: filepath.Join(t.TempDir(), "source")}
	if err := os.Mkdir(s.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	s.path = f.Make(t, s.dir)
	watch(t, s.dir)
	return s
}

// watch fails the test if the tree differs at its end.
func watch(t *testing.T, dir string) {
	t.Helper()
	before := snapshot(t, dir)
	t.Cleanup(func() {
		after := snapshot(t, dir)
		for _, name := range slices.Sorted(maps.Keys(before)) {
			if now, ok := after[name]; !ok {
				t.Errorf("the source lost %s", name)
			} else if now != before[name] {
				t.Errorf("the source was changed: %s was %s, is %s", name, before[name], now)
			}
		}
		for _, name := range slices.Sorted(maps.Keys(after)) {
			if _, ok := before[name]; !ok {
				t.Errorf("%s was left beside the source", name)
			}
		}
	})
}

// snapshot describes every file and folder of a tree: mode, time and contents.
func snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		says := fmt.Sprintf("%v %s", info.Mode(), info.ModTime().UTC().Format(time.RFC3339Nano))
		if info.Mode().IsRegular() {
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			says += fmt.Sprintf(" %d bytes %x", len(b), sha256.Sum256(b))
		}
		rel, err := filepath.Rel(dir, path)
		out[filepath.ToSlash(rel)] = says
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// steady fails the test if it leaks goroutines or open files. Those that are ending
// get a moment.
func steady(t *testing.T) {
	t.Helper()
	before, files := runtime.NumGoroutine(), openFiles()
	t.Cleanup(func() {
		for wait := time.Millisecond; wait < 2*time.Second; wait *= 2 {
			if runtime.NumGoroutine() <= before && len(openFiles()) <= len(files) {
				return
			}
			time.Sleep(wait)
		}
		stacks := make([]byte, 1<<16)
		stacks = stacks[:runtime.Stack(stacks, true)]
		t.Errorf("%d goroutines at the start, %d at the end; open files %q, then %q\n%s", before, runtime.NumGoroutine(), files, openFiles(), stacks)
	})
}

// openFiles returns the files that this process has open, on systems that say so.
// On Windows, a folder with open files cannot be removed at the end of a test.
func openFiles() (out []string) {
	list, _ := filepath.Glob("/proc/self/fd/*")
	for _, name := range list {
		if file, err := os.Readlink(name); err == nil && filepath.IsAbs(file) {
			out = append(out, file)
		}
	}
	return out
}

// tree is the contents of every regular file below dir by slash path.
func tree(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		out[filepath.ToSlash(rel)], err = os.ReadFile(path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// sameTree fails the test unless both trees hold the same bytes.
func sameTree(t *testing.T, what string, a, b map[string][]byte) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(a)) {
		if other, ok := b[name]; !ok {
			t.Errorf("%s: %s is missing", what, name)
		} else if string(other) != string(a[name]) {
			t.Errorf("%s: %s differs: %s", what, name, firstDifference(a[name], other))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(b)) {
		if _, ok := a[name]; !ok {
			t.Errorf("%s: %s is new", what, name)
		}
	}
}

func firstDifference(a, b []byte) string {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	near := func(p []byte) []byte { return p[max(0, i-40):min(len(p), i+40)] }
	return fmt.Sprintf("at byte %d of %d and %d: %q, %q", i, len(a), len(b), near(a), near(b))
}

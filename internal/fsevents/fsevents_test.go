package fsevents

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"
)

func watcher(t *testing.T) *Watcher {
	w, err := New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

// event waits for an event. Only a test that fails takes as long as the limit.
func event(t *testing.T, w *Watcher, what string) {
	t.Helper()
	select {
	case <-w.Changed():
	case <-time.After(time.Minute):
		t.Fatalf("%s: no event", what)
	}
}

func do(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestEvents(t *testing.T) {
	for what, change := range map[string]func(dir, file string) error{
		"a new folder":    func(dir, _ string) error { return os.Mkdir(filepath.Join(dir, "inner"), 0o777) },
		"a new file":      func(dir, _ string) error { return os.WriteFile(filepath.Join(dir, "new"), nil, 0o666) },
		"a longer file":   func(_, file string) error { return os.WriteFile(file, []byte("{}\n{}\n"), 0o666) },
		"a file is moved": func(_, file string) error { return os.Rename(file, file+".old") },
		"a file is gone":  func(_, file string) error { return os.Remove(file) },
	} {
		t.Run(what, func(t *testing.T) {
			w, dir := watcher(t), t.TempDir()
			file := filepath.Join(dir, "runs.ndjson")
			do(t, os.WriteFile(file, []byte("{}\n"), 0o666))
			if c := w.Watch([]Folder{{Path: dir}}); !c.Added || c.Missing != 0 || c.Err != nil {
				t.Fatalf("%+v", c)
			}
			do(t, change(dir, file))
			event(t, w, what)
		})
	}
}

// TestFolderAgain removes a watched folder, or moves it away, and makes another with
// its name.
func TestFolderAgain(t *testing.T) {
	for name, remove := range map[string]func(inner string) error{
		"removed": os.RemoveAll,
		"moved":   func(inner string) error { return os.Rename(inner, inner+".old") },
	} {
		t.Run(name, func(t *testing.T) {
			w, dir := watcher(t), t.TempDir()
			inner := filepath.Join(dir, "inner")
			folders := []Folder{{Path: dir}, {Path: inner}}
			watched := func() bool { return slices.Contains(w.lib.WatchList(), inner) }
			do(t, os.Mkdir(inner, 0o777))
			if w.Watch(folders); !watched() {
				t.Fatal("the folder is not watched")
			}
			do(t, remove(inner))
			for event(t, w, name); watched(); {
				event(t, w, name)
			}
			do(t, os.Mkdir(inner, 0o777))
			for event(t, w, "made again"); !watched(); {
				w.Watch(folders)
			}
		})
	}
}

func TestFolderLeft(t *testing.T) {
	w, a, b := watcher(t), t.TempDir(), t.TempDir()
	w.Watch([]Folder{{Path: a}, {Path: b}})
	if c := w.Watch([]Folder{{Path: b}}); c.Added || c.Missing != 0 {
		t.Errorf("%+v", c)
	}
	if list := w.lib.WatchList(); len(list) != 1 || list[0] != b {
		t.Errorf("%q are watched", list)
	}
}

func TestBounded(t *testing.T) {
	w, dir := watcher(t), t.TempDir()
	var folders []Folder
	for i := range maxWatches + 10 {
		path := filepath.Join(dir, fmt.Sprint(i))
		do(t, os.Mkdir(path, 0o777))
		folders = append(folders, Folder{Path: path})
	}
	if c := w.Watch(folders); c.Missing != 10 || c.Err != nil || !c.Added {
		t.Errorf("%+v", c)
	}
	if n := len(w.lib.WatchList()); n != maxWatches {
		t.Errorf("%d folders are watched", n)
	}
	large := choose([]Folder{{"large", 100_000}, {"small", 1}}, maxWatches)
	if want := map[bool]int{true: 1, false: 2}[filesOpened]; len(large) != want {
		t.Errorf("%v", large)
	}
}

func TestLimits(t *testing.T) {
	if runtime.GOOS == "windows" {
		return
	}
	for _, err := range []error{syscall.ENOSPC, syscall.EMFILE, syscall.ENFILE} {
		if !limitReached(&os.PathError{Err: err}) {
			t.Errorf("%v is no limit", err)
		}
	}
	if limitReached(syscall.ENOENT) {
		t.Error("a missing folder is a limit")
	}
	if isRemote(t.TempDir()) {
		t.Error("the folder for temporary files is on the network")
	}
}

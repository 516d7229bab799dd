package formatstest

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"rehome/formats"
	"rehome/formats/loss"
	"rehome/formats/session"
)

// sessionsStopped: a consumer that stops while the source is being written to is
// not called again, whatever errors the decoder finds while it cleans up. The
// runtime panics if an iterator does that.
func sessionsStopped(t *testing.T, c Case, s source) {
	for _, change := range []struct {
		name string
		do   func(file string, size int64) error
	}{{"grows", grow}, {"is cut", cutHalf}} {
		for _, messages := range []int{-1, 0, 1} { // -1: of the list
			path := copied(t, s)
			func() {
				defer func() {
					if p := recover(); p != nil {
						t.Errorf("stopped after %d messages (-1: heads alone) while the source %s: %v", messages, change.name, p)
					}
				}()
				stopAfter(t, c, path, messages, func() { changeAll(t, path, change.do) })
			}()
		}
	}
}

// stopAfter reads the beginning of a store, changes it, and stops.
func stopAfter(t *testing.T, c Case, path string, messages int, change func()) {
	l, err := formats.Locate(path)
	if err != nil {
		t.Fatal(err)
	}
	view := formats.View{OnLoss: func(loss.Loss) {}, OnNotice: func(string) {}}
	if messages < 0 && c.Format.Sessions != nil && c.Format.Sessions.Heads != nil {
		for range c.Format.Sessions.Heads(t.Context(), l, view) {
			change()
			break
		}
	}
	if messages < 0 {
		return
	}
	for one := range c.Format.Sessions.Decode(t.Context(), l, view, session.Selection{}) {
		if one != nil && one.Messages != nil && messages > 0 {
			for range one.Messages {
				change()
				break
			}
		}
		change()
		break
	}
}

// copied is a copy of a source, to be changed.
func copied(t *testing.T, s source) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(dir, os.DirFS(s.dir)); err != nil {
		t.Fatal(err)
	}
	rel, err := filepath.Rel(s.dir, s.path)
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, rel)
}

// changeAll changes a file, or every file of a folder.
func changeAll(t *testing.T, path string, change func(file string, size int64) error) {
	t.Helper()
	if info, err := os.Stat(path); err != nil || info.Mode().IsRegular() {
		if err == nil {
			err = change(path, info.Size())
		}
		if err != nil {
			t.Fatal(err)
		}
		return
	}
	files := tree(t, path)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := change(filepath.Join(path, filepath.FromSlash(name)), int64(len(files[name]))); err != nil {
			t.Fatal(err)
		}
	}
}

func grow(file string, _ int64) error {
	f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	if _, err := f.WriteString("\n"); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

func cutHalf(file string, size int64) error { return os.Truncate(file, size/2) }

package formatstest

import (
	"context"
	"errors"
	"maps"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"

	"rehome/formats"
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

// stopped: so is a consumer of records that stops while the source is being written
// to, and its reader can be closed.
func stopped(t *testing.T, c Case, s source) {
	for _, change := range []func(string, int64) error{grow, cutHalf} {
		path := copied(t, s)
		l, err := formats.Locate(path)
		if err != nil {
			t.Fatal(err)
		}
		r, err := c.Format.Records.Open(t.Context(), l, formats.View{Kind: c.kind, OnNotice: silent().OnNotice})
		if err != nil {
			t.Fatal(err)
		}
		for b, err := range r.Batches(t.Context()) {
			if err == nil {
				b.Release()
			}
			changeAll(t, path, change)
			break
		}
		_ = r.Close() // may say that the source changed
	}
}

// stopAfter reads the beginning of a store, changes it, and stops.
func stopAfter(t *testing.T, c Case, path string, messages int, change func()) {
	l, err := formats.Locate(path)
	if err != nil {
		t.Fatal(err)
	}
	if messages < 0 && c.Format.Sessions != nil && c.Format.Sessions.Heads != nil {
		for range c.Format.Sessions.Heads(t.Context(), l, silent()) {
			change()
			break
		}
	}
	if messages < 0 {
		return
	}
	for one := range c.Format.Sessions.Decode(t.Context(), l, silent(), session.Selection{}) {
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

// countdown is a context that is cancelled when it is asked for the nth time
// whether it is: at a place where the code under test finds out.
type countdown struct {
	context.Context
	cancel context.CancelFunc
	left   atomic.Int64
}

func (c *countdown) Err() error {
	if !askedByRows() && c.left.Add(-1) < 0 {
		c.cancel()
	}
	return c.Context.Err()
}

// askedByRows reports whether the context is asked by the goroutine that database/sql
// starts for a query: it can ask when the query is over, and nobody waits for it.
func askedByRows() bool {
	var caller [1]uintptr
	runtime.Callers(3, caller[:])
	frame, _ := runtime.CallersFrames(caller[:]).Next()
	return frame.Function == "database/sql.(*Rows).awaitDone"
}

// cancelAnywhere cancels a function before it begins and at some of the points
// where it asks its context. It must end with the context's error.
func cancelAnywhere(t *testing.T, f func(ctx context.Context) error) {
	t.Helper()
	try := func(n int64) (asked int, err error) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		c := &countdown{Context: ctx, cancel: cancel}
		c.left.Store(n)
		if n == 0 {
			cancel()
		}
		if err = f(c); ctx.Err() != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled when the context was asked the %dth time: error %v", n+1, err)
		}
		return int(n - c.left.Load()), err
	}
	asked, err := try(math.MaxInt64)
	if err != nil {
		t.Fatal(err)
	}
	points := 8
	if testing.Short() {
		points = 2
	}
	for i := range max(1, min(asked, points)) {
		try(int64(i * asked / points))
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

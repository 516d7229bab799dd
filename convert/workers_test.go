//go:build linux || darwin

package convert

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"rehome/formats"
	"rehome/formats/store"
)

// TestStoresWaitForFiles: a store that cannot be opened while others are open is
// carried when they are not, whatever is done with it.
func TestStoresWaitForFiles(t *testing.T) {
	dir := t.TempDir()
	for i := range 6 {
		write(t, filepath.Join(dir, "src", fmt.Sprint(i)), leftText(3))
	}
	var mu sync.Mutex
	tried := map[string]int{}
	reg := fakes(nil, nil)
	left := reg.Lookup("left")
	open := left.Records.Open
	left.Records.Open = func(ctx context.Context, l *formats.Location, v formats.View) (store.Reader, error) {
		mu.Lock()
		defer mu.Unlock()
		if tried[l.Path]++; strings.HasPrefix(l.Path, dir) && tried[l.Path] == 1 {
			return nil, &os.PathError{Op: "open", Path: l.Path, Err: syscall.EMFILE}
		}
		return open(ctx, l, v)
	}
	rep := must(t, reg, filepath.Join(dir, "src"), filepath.Join(dir, "out"), Options{To: "right", Jobs: 4})
	if rep.Failed() != 0 || len(rep.Stores) != 6 {
		t.Errorf("%d of %d failed: %v", rep.Failed(), len(rep.Stores), rep.Stores[0].err)
	}
}

// TestFewFiles lets the real program work with as few files as it can.
func TestFewFiles(t *testing.T) {
	bin := program(t)
	src := manyStores(t, 60)
	for _, args := range [][]string{
		{"convert", src, "OUT", "--to", "archive", "--jobs", "16"}, {"convert", src, "OUT", "--to", "canonical", "--jobs", "16"},
		{"check", src, "--jobs", "16"}, {"ls", src, "--jobs", "16"}, {"convert", filepath.Join(src, "00"), "OUT", "--to", "archive", "--jobs", "64"},
	} {
		for _, limit := range []int{18, 32, 64} {
			out := filepath.Join(t.TempDir(), "out")
			words := slices.Clone(args)
			if i := slices.Index(words, "OUT"); i > 0 {
				words[i] = out
			}
			cmd := exec.Command("sh", append([]string{"-c", fmt.Sprintf(`ulimit -n %d; exec "$0" "$@"`, limit), bin}, words...)...)
			if b, err := cmd.CombinedOutput(); err != nil || strings.Contains(string(b), "not read") {
				t.Errorf("%s with %d files: %v\n%s", args[0], limit, err, b[max(0, len(b)-600):])
			}
		}
	}
}

// TestCausesAreNotHidden: neither cleaning up nor a folder that somebody removed
// hides why a run failed, and where.
func TestCausesAreNotHidden(t *testing.T) {
	dir := t.TempDir()
	one := write(t, filepath.Join(dir, "src", "a"), leftText(3))
	write(t, filepath.Join(dir, "src", "b"), leftText(3))
	long := filepath.Join(dir, strings.Repeat("n", 256))
	for _, src := range []string{one, filepath.Dir(one)} {
		leavesNothing(t, dir, func() {
			_, err := Convert(t.Context(), fakes(nil, nil), src, long, Options{To: "right"})
			if !errors.Is(err, syscall.ENAMETOOLONG) || strings.Contains(fmt.Sprint(err), "unlinkat") {
				t.Errorf("%v", err)
			}
		})
	}
	for _, src := range []string{one, filepath.Dir(one)} {
		place := filepath.Join(t.TempDir(), "place")
		if err := os.Mkdir(place, 0o755); err != nil {
			t.Fatal(err)
		}
		h := &faults{onRow: func(int) { os.RemoveAll(place) }}
		_, err := Convert(t.Context(), fakes(h, h), src, filepath.Join(place, "out"), Options{To: "right"})
		if real, _ := filepath.EvalSymlinks(filepath.Dir(place)); err == nil || !strings.HasPrefix(err.Error(), filepath.Join(real, "place")+": ") || hintOf(err) == " " {
			t.Errorf("%v,%s", err, hintOf(err))
		}
		if _, err := os.Lstat(place); err == nil {
			t.Error("it is there again")
		}
	}
}

package convert

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"rehome/formats"
	"rehome/formats/loss"
)

func TestManyStores(t *testing.T) {
	dir := t.TempDir()
	src, dst := filepath.Join(dir, "src"), filepath.Join(dir, "dst")
	for i := range 20 {
		write(t, filepath.Join(src, fmt.Sprintf("d%02d", i%5), fmt.Sprintf("s%02d", i)), leftText(10+i))
	}
	write(t, filepath.Join(src, "bad", "one"), "left\norigin left\ntable t\ntorn\n")
	write(t, filepath.Join(src, "lossy"), leftText(1)+"7\t!loss\n")
	write(t, filepath.Join(src, ".git", "s"), leftText(1))
	write(t, filepath.Join(src, "node_modules", "s"), leftText(1))
	write(t, filepath.Join(src, ".hidden", "s"), leftText(1))
	write(t, filepath.Join(src, "readme.txt"), "no store")
	before := tree(t, src)
	rep := must(t, fakes(nil, nil), src, dst, Options{To: "right", Allow: loss.Inferred})
	if len(rep.Stores) != 23 || rep.Failed() != 1 || rep.Skipped() != 1 || !rep.Placed {
		t.Fatalf("stores %d, failed %d, withheld %d", len(rep.Stores), rep.Failed(), rep.Skipped())
	}
	if rep.Stores[0].Path != ".hidden/s" || rep.Stores[1].Path != "bad/one" || rep.Stores[22].Path != "lossy" {
		t.Errorf("not in the order of the walk: %s, %s, %s", rep.Stores[0].Path, rep.Stores[1].Path, rep.Stores[22].Path)
	}
	for _, gone := range []string{"bad", "lossy", ".git", "node_modules", "readme.txt"} {
		if _, err := os.Lstat(filepath.Join(dst, gone)); err == nil {
			t.Errorf("%s was placed", gone)
		}
	}
	back := filepath.Join(dir, "back")
	if rep = must(t, fakes(nil, nil), dst, back, Options{}); len(rep.Stores) != 21 {
		t.Errorf("%d stores came back", len(rep.Stores))
	}
	for i := range 20 {
		b, err := os.ReadFile(filepath.Join(back, fmt.Sprintf("d%02d", i%5), fmt.Sprintf("s%02d", i)))
		if err != nil || string(b) != leftText(10+i) {
			t.Errorf("store %d: %v", i, err)
		}
	}
	if after := tree(t, src); strings.Join(before, "\n") != strings.Join(after, "\n") {
		t.Error("the source changed")
	}
}

func TestSameBytesForAnyNumberOfWorkers(t *testing.T) {
	dir := t.TempDir()
	src := filepath.Join(dir, "src")
	for i := range 12 {
		write(t, filepath.Join(src, fmt.Sprintf("s%02d", i), "rows.txt"), "right\norigin left\ntable t\n1\t!withheld\n2\tx\n3\t!withheld\n")
	}
	must(t, fakes(nil, nil), src, filepath.Join(dir, "one", "dst"), Options{Jobs: 1})
	must(t, fakes(nil, nil), src, filepath.Join(dir, "eight", "dst"), Options{Jobs: 8})
	if a, b := strings.Join(tree(t, filepath.Join(dir, "one")), "\n"), strings.Join(tree(t, filepath.Join(dir, "eight")), "\n"); a != b {
		t.Errorf("one worker made\n%s\neight made\n%s", a, b)
	}
}

func TestAllStoresFail(t *testing.T) {
	dir := t.TempDir()
	for i := range 9 {
		write(t, filepath.Join(dir, "src", fmt.Sprint(i)), leftText(5))
	}
	leavesNothing(t, dir, func() {
		rep, err := Convert(t.Context(), fakes(&faults{busy: true}, nil), filepath.Join(dir, "src"), filepath.Join(dir, "dst"), Options{To: "right"})
		if !errors.Is(err, formats.ErrBusy) || rep.Failed() != 9 || strings.Count(err.Error(), "\n") != maxErrors || formats.Hint(err) != "stop the client" {
			t.Errorf("%d failed: %v (hint %q)", rep.Failed(), err, formats.Hint(err))
		}
	})
}

func TestCancelledAmongMany(t *testing.T) {
	dir := t.TempDir()
	for i := range 9 {
		write(t, filepath.Join(dir, "src", fmt.Sprint(i)), leftText(5))
	}
	ctx, cancel := context.WithCancel(t.Context())
	var rows atomic.Int32
	left := &faults{onRow: func(int) {
		if rows.Add(1) == 23 {
			cancel()
		}
	}}
	leavesNothing(t, dir, func() {
		rep, err := Convert(ctx, fakes(left, nil), filepath.Join(dir, "src"), filepath.Join(dir, "dst"), Options{To: "right"})
		if !errors.Is(err, context.Canceled) || rep.Failed() != 9 {
			t.Errorf("%d failed: %v", rep.Failed(), err)
		}
	})
}

func TestOneStoreInAFolderKeepsItsPath(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "src", "deep", "s"), leftText(5))
	must(t, fakes(nil, nil), filepath.Join(dir, "src"), filepath.Join(dir, "dst"), Options{To: "right"})
	if _, err := os.Stat(filepath.Join(dir, "dst", "deep", "s", "rows.txt")); err != nil {
		t.Error(err)
	}
}

func TestWalkFollowsNoFolderLinks(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "elsewhere", "s"), leftText(5))
	write(t, filepath.Join(dir, "src", "real"), leftText(5))
	for name, to := range map[string]string{"folder": "../elsewhere", "circle": ".", "file": "../elsewhere/s", "nowhere": "gone"} {
		if err := os.Symlink(to, filepath.Join(dir, "src", name)); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for f, err := range Stores(t.Context(), fakes(nil, nil), filepath.Join(dir, "src"), "", nil) {
		if err != nil {
			t.Error(err)
		}
		got = append(got, f.Rel)
	}
	if s := strings.Join(got, " "); s != "file real" {
		t.Errorf("found %s", s)
	}
	_, err := Convert(t.Context(), fakes(nil, nil), filepath.Join(dir, "src"), filepath.Join(dir, "elsewhere", "s"), Options{To: "right", Replace: true})
	if err == nil || !strings.Contains(err.Error(), "source and target are the same") {
		t.Errorf("a store behind a link was about to be replaced: %v", err)
	}
}

func TestStoresPassOverWhatRehomeLeaves(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, ".x.rehome-0123456789abcdef", "tree", "x"), leftText(5))
	write(t, filepath.Join(dir, "y.sidecar.ndjson"), leftText(5))
	write(t, filepath.Join(dir, ".x.rehome-notours", "x"), leftText(5))
	var got []string
	for f, err := range Stores(t.Context(), fakes(nil, nil), dir, "", nil) {
		got = append(got, f.Rel)
		if err != nil {
			t.Error(err)
		}
	}
	if s := strings.Join(got, " "); s != ".x.rehome-notours/x" {
		t.Errorf("found %s", s)
	}
}

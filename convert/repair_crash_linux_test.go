package convert

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/golden"

	"golang.org/x/sys/unix"
)

// brokenStores are stores of which one page of the table is not a page.
func brokenStores(t *testing.T, n int) string {
	t.Helper()
	src := manyStores(t, n)
	for i := range n {
		at := filepath.Join(src, fmt.Sprintf("%02d", i), "store.db")
		b, err := os.ReadFile(at)
		if err != nil {
			t.Fatal(err)
		}
		b[4096*5] = 0
		write(t, at, string(b))
	}
	return src
}

// TestRepairKilledAnywhere kills a repair at random points: the target is old or new.
func TestRepairKilledAnywhere(t *testing.T) {
	bin := program(t)
	src := brokenStores(t, 3)
	if fresh := killedAnywhere(t, bin, 40/golden.Every(), src, "repair", src); slices.Equal(fresh, tree(t, src)) {
		t.Fatal("nothing was repaired")
	}
}

// TestRepairOnFullDisk: a repair that finds no room leaves nothing.
func TestRepairOnFullDisk(t *testing.T) {
	disk := filepath.Join(t.TempDir(), "disk")
	os.Mkdir(disk, 0o777)
	bin := program(t)
	src := brokenStores(t, 2)
	before := tree(t, src)
	placed, refused := 0, 0
	for pages := 1; pages <= 64; pages += golden.Every() * (1 + pages/6) {
		if err := unix.Mount("tmpfs", disk, "tmpfs", 0, fmt.Sprintf("size=%d", pages*os.Getpagesize())); err != nil {
			t.Logf("no disk of our own (%v): only a limit on file sizes is tested here", err)
			return
		}
		out, err := exec.Command(bin, "repair", src, filepath.Join(disk, "b")).CombinedOutput()
		left := tree(t, disk)
		unix.Unmount(disk, unix.MNT_DETACH)
		if err == nil {
			placed++
			continue
		}
		refused++
		if !strings.Contains(string(out), "disk is full") || strings.Contains(string(out), formats.StagingMark) {
			t.Errorf("%d pages: %v: %s", pages, err, out)
		}
		if len(left) != 1 {
			t.Errorf("%d pages: left %q", pages, left)
		}
	}
	if !slices.Equal(before, tree(t, src)) {
		t.Error("the source changed")
	}
	t.Logf("placed %d, refused %d", placed, refused)
	if placed == 0 || refused == 0 {
		t.Error("the sizes do not straddle the need")
	}
}

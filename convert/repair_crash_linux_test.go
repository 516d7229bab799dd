package convert

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"rehome/formats"

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
	s := &scene{dir: memory(t), src: src, source: tree(t, src)}
	s.dst = filepath.Join(s.dir, "dst")
	args := []string{"repair", src, s.dst, "--quiet", "--replace"}
	run := func() error {
		out, err := exec.Command(bin, args...).CombinedOutput()
		if err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
		return nil
	}
	s.reset(t, nil)
	begin := time.Now()
	if err := run(); err != nil {
		t.Fatal(err)
	}
	took := time.Since(begin)
	s.fresh = tree(t, s.dst)
	if slices.Equal(s.fresh, s.source) {
		t.Fatal("nothing was repaired")
	}
	random := rand.New(rand.NewPCG(3, 4))
	states := map[string]int{}
	for i := range 40 {
		replace := i%2 == 0
		s.reset(t, nil)
		s.old = nil
		if replace {
			write(t, filepath.Join(s.dst, "mine"), "mine")
			s.old = tree(t, s.dst)
		}
		cmd := exec.Command(bin, args...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if i%4 == 0 { // as soon as the first rename shows
			waitFor(s.dst, replace, 4*took)
		} else {
			time.Sleep(time.Duration(random.Int64N(int64(took))))
		}
		cmd.Process.Kill()
		cmd.Wait()
		states[s.look(t)]++
		if i%10 == 0 {
			s.again(t, run)
		}
		if t.Failed() {
			t.Fatalf("kill %d", i)
		}
	}
	t.Logf("states: %v", states)
	if states["nothing"] == 0 || states["old"] == 0 {
		t.Errorf("the kills did not meet every state: %v", states)
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
	for pages := 1; pages <= 64; pages += 1 + pages/6 {
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

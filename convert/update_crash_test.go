//go:build linux || darwin

package convert

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"rehome/formats"
	"rehome/golden"
)

// TestUpdateKilledAtEveryRename stops an update right before and right after each rename.
// Whatever is there then is the old file or the new one, complete; the next run, also
// one with nothing to do, finishes all of it.
func TestUpdateKilledAtEveryRename(t *testing.T) {
	const renames = 6 // a, b and d go aside; a, b and c come
	for n := 1; n <= renames+1; n++ {
		for _, when := range []string{"before", "after"} {
			u := newUpdated(t)
			write(t, filepath.Join(u.dst, ".git", "HEAD"), "theirs")
			u.source("d", leftText(2))
			os.RemoveAll(filepath.Join(u.dst, "c"))
			u.source("c", leftText(2))
			os.Rename(filepath.Join(u.src, "c"), filepath.Join(u.dir, "c"))
			u.o.Delete = true
			u.run(u.o)
			os.Rename(filepath.Join(u.dir, "c"), filepath.Join(u.src, "c"))
			os.Remove(filepath.Join(u.src, "d"))
			u.source("a", leftText(7))
			u.source("b", leftText(8))
			out, err := exec.Command(os.Args[0], "victim", u.src, u.dst, "update", fmt.Sprint(n), when, u.o.State).CombinedOutput()
			killed := &exec.ExitError{}
			if errors.As(err, &killed) && killed.Exited() || (err == nil) != (n > renames) {
				t.Fatalf("%s rename %d: %v, %s", when, n, err, out)
			}
			for name, sizes := range map[string][]int{"a": {2, 7}, "b": {2, 8}, "c": {2}, "d": {2}} {
				b, err := os.ReadFile(filepath.Join(u.dst, name, "rows.txt"))
				if err == nil && !slices.ContainsFunc(sizes, func(n int) bool { return string(b) == rightText(n) }) {
					t.Errorf("%s rename %d: half of %s: %q", when, n, name, b)
				}
			}
			u.refusedUntilFinished(n <= renames)
			u.said = nil
			u.run(u.o)
			u.is("a/rows.txt", rightText(7))
			u.is("b/rows.txt", rightText(8))
			u.is("c/rows.txt", rightText(2))
			u.is("d/rows.txt", "")
			if _, err := os.Lstat(filepath.Join(u.dst, "d")); err == nil {
				t.Errorf("%s rename %d: an empty folder is left", when, n)
			}
			u.is(".git/HEAD", "theirs")
			if finished := slices.ContainsFunc(u.said, func(s string) bool { return strings.Contains(s, "finished an update") }); finished != (n <= renames) {
				t.Errorf("%s rename %d: said %q", when, n, u.said)
			}
			u.expect(u.run(u.o), "a unchanged; b unchanged; c unchanged")
			if left, _ := filepath.Glob(u.dst + ".bak-*"); len(left) > 0 || t.Failed() {
				t.Fatalf("%s rename %d: %q", when, n, left)
			}
		}
	}
}

// refusedUntilFinished expects that nothing reads a target with only some of its new
// files, and that git does not see those that are still to come.
func (u *updated) refusedUntilFinished(killed bool) {
	u.Helper()
	missing := 0
	for _, name := range []string{"a", "b"} { // both are replaced
		if _, err := os.Lstat(filepath.Join(u.dst, name, "rows.txt")); err != nil {
			missing++
		}
	}
	if missing > 1 {
		u.Error("more than one file is missing")
	}
	o := u.o
	o.DryRun = true
	_, again := Convert(u.Context(), u.registry(), u.src, u.dst, o)
	for what, err := range map[string]error{"dry run": again, "read": u.find(u.dst), "read below": u.find(filepath.Join(u.dst, "b")), "read above": u.find(filepath.Dir(u.dst))} {
		if errors.Is(err, formats.ErrBusy) != killed {
			u.Errorf("%s: %v", what, err)
		}
	}
	left, _ := filepath.Glob(filepath.Join(filepath.Dir(u.dst), ".*"+formats.StagingMark+"*"))
	for _, dir := range left {
		if b, _ := os.ReadFile(filepath.Join(dir, ".gitignore")); string(b) != "*\n" {
			u.Errorf("%s: git would add it", dir)
		}
	}
}

// find returns the first error of finding the stores at a path.
func (u *updated) find(at string) error {
	for _, err := range Stores(u.Context(), u.registry(), at, "", nil) {
		if err != nil {
			return err
		}
	}
	return nil
}

// TestUpdateKilledAnywhere kills the real program at many points of an update.
func TestUpdateKilledAnywhere(t *testing.T) {
	bin := program(t)
	dir := memory(t)
	src, dst := filepath.Join(dir, "src"), filepath.Join(dir, "dst")
	t.Setenv("XDG_STATE_HOME", filepath.Join(dir, "state"))
	store := func(from string) {
		b, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 6 {
			write(t, filepath.Join(src, fmt.Sprint(i), "store.db"), string(b))
		}
	}
	run := func(dst string) time.Duration {
		begin := time.Now()
		if out, err := exec.Command(bin, "convert", src, dst, "--to", "archive", "--update").CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return time.Since(begin)
	}
	versions := []string{sampleStore, "../testdata/chat/after.db"}
	var want [2][]string
	for i, v := range versions {
		store(v)
		run(filepath.Join(dir, fmt.Sprint(i)))
		want[i] = tree(t, filepath.Join(dir, fmt.Sprint(i)))
	}
	took := run(dst)
	for i := 0; i < 30; i += golden.Every() {
		store(versions[i%2])
		cmd := exec.Command(bin, "convert", src, dst, "--to", "archive", "--update")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(took * time.Duration(i) / 25)
		cmd.Process.Kill()
		cmd.Wait()
		if i%3 == 0 {
			run(dst)
			if now := tree(t, dst); !slices.Equal(now, want[i%2]) {
				t.Fatalf("kill %d: %q", i, now)
			}
			if left, _ := filepath.Glob(filepath.Join(dir, ".*"+formats.StagingMark+"*")); len(left) > 0 {
				t.Fatalf("kill %d left %q", i, left)
			}
		}
	}
}

// TestHostileJournal: a journal that came with a repository moves nothing that is not the
// target's, and nothing through links.
func TestHostileJournal(t *testing.T) {
	for _, steps := range []string{
		`{"from":"theirs","to":".text.rehome-update/old/0"}`,
		`{"from":".text.rehome-update/tree/x","to":"../escaped"}`,
		`{"from":".text.rehome-update/tree/x","to":"text/../../escaped"}`,
		`{"from":".text.rehome-update/tree/x","to":"text/link/escaped"}`,
		`{"from":".text.rehome-update/../theirs","to":"text/x"}`,
		`{"from":"text/a","to":"text/b"}`,
		`{"from":".text.rehome-update/tree/x","to":"theirs/x"}`,
	} {
		u := newUpdated(t)
		out := filepath.Dir(u.dst)
		os.Symlink(u.dir, filepath.Join(u.dst, "link"))
		write(t, filepath.Join(out, "theirs"), "theirs")
		write(t, filepath.Join(out, ".text.rehome-update", "tree", "x"), "x")
		write(t, filepath.Join(out, ".text.rehome-update", "journal"), `{"rehome":"journal","version":1,"steps":[`+steps+`]}`)
		leavesNothing(t, u.src, func() {
			_, err := Convert(t.Context(), u.registry(), u.src, u.dst, u.o)
			if err == nil || !strings.Contains(err.Error(), "finish an interrupted update") {
				t.Errorf("%s: %v", steps, err)
			}
		})
		if _, err := os.Lstat(filepath.Join(u.dir, "escaped")); err == nil {
			t.Errorf("%s: escaped", steps)
		}
		if b, _ := os.ReadFile(filepath.Join(out, "theirs")); string(b) != "theirs" {
			t.Errorf("%s: moved", steps)
		}
	}
}

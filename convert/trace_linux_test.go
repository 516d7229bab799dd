package convert

import (
	"errors"
	"os/exec"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"rehome/formats"
	"rehome/testdata/kill"
)

// TestProgramKilledAtEveryRename kills the real program right before and
// right after each of its renames, as a tracer that counts them.
func TestProgramKilledAtEveryRename(t *testing.T) {
	bin := program(t)
	text := filepath.Join(t.TempDir(), "text")
	if out, err := exec.Command(bin, "convert", sampleStore, text, "--to", "archive").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	s := &scene{dir: t.TempDir(), src: text, source: tree(t, text)}
	s.dst = filepath.Join(s.dir, "store.db")
	args := []string{"convert", text, s.dst, "--replace"}
	run := func() error { return exec.Command(bin, args...).Run() }
	if err := run(); err != nil {
		t.Fatal(err)
	}
	s.fresh, s.newIn = tree(t, s.dst), tree(t, s.dst+formats.SidecarSuffix)
	states := map[string]int{}
	for n := 1; n <= 4; n++ {
		for _, after := range []bool{false, true} {
			s.reset(t, func(dst string) {
				write(t, dst, "mine")
				write(t, dst+formats.SidecarSuffix, "my sidecar")
			})
			s.old = tree(t, s.dst)
			met, err := kill.AtRename(exec.Command(bin, args...), n, after)
			if errors.Is(err, unix.EPERM) {
				t.Logf("tracing is not allowed here: TestKilledAtEveryRename stands for it")
				return
			}
			if err != nil || !met {
				t.Fatalf("rename %d was not met: %v", n, err)
			}
			states[s.look(t)]++
			s.again(t, run)
		}
	}
	if states["old"] != 1 || states["backup"] != 6 || states["new"] != 1 {
		t.Errorf("states seen: %v, want 1 old, 6 backup, 1 new", states)
	}
}

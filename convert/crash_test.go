//go:build linux || darwin

package convert

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"rehome/formats"
	"rehome/golden"
)

// scene is a source, a target and what each state of the target looks like.
type scene struct {
	dir, src, dst string
	source, old   []string // nil old: nothing stood there
	fresh         []string // a whole new target
	newIn         []string // sidecar beside the new target
}

// look tells the state a killed run left, or why it must not be.
func (s *scene) look(t *testing.T) string {
	t.Helper()
	if !slices.Equal(tree(t, s.src), s.source) {
		t.Error("the source changed")
	}
	at := func(p string) []string {
		if _, err := os.Lstat(p); err != nil {
			return nil
		}
		return tree(t, p)
	}
	now, backup := at(s.dst), at(s.dst+".bak-1")
	switch {
	case now != nil && slices.Equal(now, s.fresh):
		if s.old != nil && !slices.Equal(backup, s.old) {
			t.Errorf("the new target stands, but the old is not kept: %q", backup)
		}
		if s.newIn != nil && !slices.Equal(at(s.dst+formats.SidecarSuffix), s.newIn) {
			t.Error("the new target stands without its sidecar")
		}
		return "new"
	case s.old != nil && slices.Equal(now, s.old):
		return "old"
	case now != nil:
		t.Errorf("half a target: %q", now)
		return "half"
	case s.old != nil && !slices.Equal(backup, s.old):
		t.Errorf("neither the old target nor its backup: %q", backup)
	}
	return pick(s.old != nil, "backup", "nothing")
}

// again proves that a later run is not hindered, and sweeps up.
func (s *scene) again(t *testing.T, run func() error) {
	t.Helper()
	if err := run(); err != nil {
		t.Errorf("the next run failed: %v", err)
		return
	}
	if now := tree(t, s.dst); !slices.Equal(now, s.fresh) {
		t.Errorf("the next run made %q", now)
	}
	if left, _ := filepath.Glob(filepath.Join(s.dir, ".*"+formats.StagingMark+"*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

func (s *scene) reset(t *testing.T, build func(dst string)) {
	t.Helper()
	list, err := os.ReadDir(s.dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		if err := os.RemoveAll(filepath.Join(s.dir, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
	if build != nil {
		build(s.dst)
	}
}

// TestKilledAtEveryRename stops a run right before and right after each of
// its renames: old target and old sidecar aside, new sidecar and new target
// in.
func TestKilledAtEveryRename(t *testing.T) {
	src := filepath.Join(t.TempDir(), "a.right")
	write(t, filepath.Join(src, "rows.txt"), withheldText)
	build := func(dst string) {
		write(t, dst, "mine")
		write(t, dst+formats.SidecarSuffix, "my sidecar")
	}
	s := &scene{dir: t.TempDir(), src: src, source: tree(t, src)}
	s.dst = filepath.Join(s.dir, "b")
	must(t, fakes(nil, nil), src, s.dst, Options{To: "left"})
	s.fresh, s.newIn = tree(t, s.dst), tree(t, s.dst+formats.SidecarSuffix)
	states := map[string]int{}
	for n := 1; n <= 4; n++ {
		for _, when := range []string{"before", "after"} {
			s.reset(t, build)
			s.old = tree(t, s.dst)
			out, err := exec.Command(os.Args[0], "victim", src, s.dst, "die", fmt.Sprint(n), when).CombinedOutput()
			if e, ok := err.(*exec.ExitError); !ok || e.Exited() {
				t.Fatalf("%s rename %d: the victim was not killed: %v, %s", when, n, err, out)
			}
			states[s.look(t)]++
			s.again(t, func() error {
				out, err := exec.Command(os.Args[0], "victim", src, s.dst, "limit", "1000000").CombinedOutput()
				if err != nil {
					return fmt.Errorf("%w: %s", err, out)
				}
				return nil
			})
		}
	}
	if states["old"] != 1 || states["backup"] != 6 || states["new"] != 1 {
		t.Errorf("states seen: %v, want 1 old, 6 backup, 1 new", states)
	}
}

// built is the real command, built once for all tests that ask for it.
var built = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "rehome-built-")
	if err != nil {
		return "", err
	}
	bin := filepath.Join(dir, "rehome")
	if out, err := exec.Command("go", "build", "-o", bin, "rehome/cmd/rehome").CombinedOutput(); err != nil {
		os.RemoveAll(dir)
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return bin, nil
})

func program(t *testing.T) string {
	t.Helper()
	bin, err := built()
	if err != nil {
		t.Fatal(err)
	}
	asked.Store(true)
	return bin
}

// asked says whether there is a built command to remove at the end.
var asked atomic.Bool

const sampleStore = "../testdata/chat/before.db"

// manyStores is a folder of copies of a real store.
func manyStores(t *testing.T, n int) string {
	t.Helper()
	b, err := os.ReadFile(sampleStore)
	if err != nil {
		t.Fatal(err)
	}
	src := filepath.Join(t.TempDir(), "src")
	for i := range n {
		write(t, filepath.Join(src, fmt.Sprintf("%02d", i), "store.db"), string(b))
	}
	return src
}

const kills = 220 // points at which the real program is killed

// stepBefore is the next step at which a program is killed: distance before at. The first step is
// the last one, and 0 follows.
func stepBefore(at, distance int) int {
	if at == 1 {
		return 0
	}
	return max(1, at-golden.Every()*distance)
}

// TestKilledAnywhere kills the real program at random points of its whole run,
// and densely around its end, with and without an old target.
func TestKilledAnywhere(t *testing.T) {
	bin := program(t)
	words := write(t, filepath.Join(t.TempDir(), "words"), "answer\n")
	src := manyStores(t, 6)
	t.Run("convert", func(t *testing.T) {
		killedAnywhere(t, bin, kills/golden.Every(), src, "convert", src, "--to", "archive")
	})
	t.Run("redact", func(t *testing.T) {
		killedAnywhere(t, bin, kills/4/golden.Every(), src, "redact", src, "--redact-file", words)
	})
}

// killedAnywhere kills a command that reads from src, and is given a target to replace. It
// returns what the target holds after a whole run.
func killedAnywhere(t *testing.T, bin string, kills int, src string, command ...string) (fresh []string) {
	s := &scene{dir: memory(t), src: src, source: tree(t, src)}
	s.dst = filepath.Join(s.dir, "dst")
	args := append(command, s.dst, "--quiet", "--replace")
	run := func() error {
		out, err := exec.Command(bin, args...).CombinedOutput()
		if err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
		return nil
	}
	took := time.Hour
	for range 3 {
		s.reset(t, nil)
		begin := time.Now()
		if err := run(); err != nil {
			t.Fatal(err)
		}
		took = min(took, time.Since(begin))
	}
	s.fresh = tree(t, s.dst)
	random := rand.New(rand.NewPCG(1, 2))
	states := map[string]int{}
	unmet := func() bool { return states["nothing"] == 0 || states["old"] == 0 || states["new"] == 0 }
	for i := 0; i < kills || unmet() && i < 10*kills; i++ { // where few are asked for, all states are met, too
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
		switch {
		case i%5 == 0: // as soon as the first rename shows
			waitFor(s.dst, replace, 2*took)
		case i%5 < 3: // around the end
			time.Sleep(took*7/10 + time.Duration(random.Int64N(int64(took)*5/10)))
		default:
			time.Sleep(time.Duration(random.Int64N(int64(took))))
		}
		cmd.Process.Kill()
		cmd.Wait()
		state := s.look(t)
		states[state]++
		// Others share the machine: the estimate follows what is seen.
		took = took * time.Duration(pick(state == "new", 98, 102)) / 100
		if i%20 == 0 {
			s.again(t, run)
		}
		if t.Failed() {
			t.Fatalf("kill %d of %d", i, kills)
		}
	}
	t.Logf("a run takes %v; states after %d kills: %v", took, kills, states)
	if unmet() {
		t.Errorf("the kills did not meet every state: %v", states)
	}
	return s.fresh
}

// memory is a folder that needs no disk where there is one: a killed process
// says nothing about what reaches a disk, and syncing waits for all others.
func memory(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "rehome-test-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// waitFor spins until the old target is aside, or, where there was none, the
// new one is there.
func waitFor(dst string, replace bool, most time.Duration) {
	watched := dst + pick(replace, ".bak-1", "")
	for end := time.Now().Add(most); time.Now().Before(end); {
		if _, err := os.Lstat(watched); err == nil {
			return
		}
	}
}

// TestFileSizeLimit is a disk that fills up at any byte, in any system.
func TestFileSizeLimit(t *testing.T) {
	dir := t.TempDir()
	src := write(t, filepath.Join(dir, "a"), leftText(200))
	dst := filepath.Join(dir, "out", "b")
	placed, refused := 0, 0
	for limit := 0; limit <= 4096; limit += 137 {
		before := tree(t, dir)
		out, err := exec.Command(os.Args[0], "victim", src, dst, "limit", fmt.Sprint(limit)).CombinedOutput()
		if err == nil {
			placed++
			os.RemoveAll(filepath.Join(dir, "out"))
			continue
		}
		refused++
		if !strings.Contains(string(out), "the disk is full") || strings.Contains(string(out), formats.StagingMark) {
			t.Errorf("limit %d: %v, %s", limit, err, out)
		}
		if after := tree(t, dir); !slices.Equal(before, after) {
			t.Errorf("limit %d left %q", limit, after)
		}
	}
	if placed == 0 || refused == 0 {
		t.Errorf("placed %d, refused %d: the limits do not straddle the need", placed, refused)
	}
}

// TestKilledScratch kills the real program while it holds what came through a
// pipe. The next run of any kind removes that.
func TestKilledScratch(t *testing.T) {
	bin := program(t)
	dir := t.TempDir()
	env := append(os.Environ(), "TMPDIR="+filepath.Join(dir, "tmp"), "HOME="+dir)
	if err := os.Mkdir(filepath.Join(dir, "tmp"), 0o755); err != nil {
		t.Fatal(err)
	}
	left := func() []os.DirEntry {
		list, err := os.ReadDir(filepath.Join(dir, "tmp"))
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	store := filepath.Join(manyStores(t, 1), "00", "store.db")
	for _, next := range [][]string{{"ls"}, {"check", store}, {"convert", store, filepath.Join(dir, "out"), "--to", "archive"}, {"migrate", store, "--cwd", dir}} {
		cmd := exec.Command(bin, "convert", "-", filepath.Join(dir, "from-stdin"), "--to", "canonical")
		cmd.Env = env
		stdin, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		for len(left()) == 0 {
			time.Sleep(time.Millisecond)
		}
		cmd.Process.Kill()
		cmd.Wait()
		stdin.Close()
		if len(left()) != 1 {
			t.Fatalf("the kill left %v", left())
		}
		again := exec.Command(bin, next...)
		again.Env = env
		if out, err := again.CombinedOutput(); err != nil || len(left()) != 0 {
			t.Errorf("%s: %v, left %v\n%s", next[0], err, left(), out)
		}
	}
}

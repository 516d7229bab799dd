//go:build linux || darwin

package convert

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// twoSources are folders of sessions that two people continued, most of them differently.
func twoSources(t *testing.T, sessions int) (dir, a, b string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "src")
	for i := range sessions {
		id := fmt.Sprintf("20000000-0000-4000-8000-%012d", i)
		line := func(word string) string {
			return fmt.Sprintf(`{"type":"user","uuid":"%s","sessionId":"%s","message":{"role":"user","content":"%s"}}`+"\n", word, id, strings.Repeat(word, 500))
		}
		for _, who := range []string{"a", "b"} {
			write(t, filepath.Join(dir, who, id+".jsonl"), line("base")+line(who))
		}
	}
	return dir, filepath.Join(dir, "a"), filepath.Join(dir, "b")
}

// TestMergeKilledAnywhere kills the real program at random points of a merge: there is the
// old target or its backup, or the new one as a whole.
func TestMergeKilledAnywhere(t *testing.T) {
	bin := program(t)
	src, a, b := twoSources(t, 30)
	s := &scene{dir: memory(t), src: src, source: tree(t, src)}
	s.dst = filepath.Join(s.dir, "dst")
	args := []string{"merge", a, b, s.dst, "--quiet", "--replace"}
	run := func() error {
		out, err := exec.Command(bin, args...).CombinedOutput()
		if err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
		return nil
	}
	began := time.Now()
	if err := run(); err != nil {
		t.Fatal(err)
	}
	took := time.Since(began)
	s.fresh = tree(t, s.dst)
	random, states := rand.New(rand.NewPCG(1, 2)), map[string]int{}
	for i := range 80 {
		s.reset(t, nil)
		if s.old = nil; i%2 == 0 {
			write(t, filepath.Join(s.dst, "mine"), "mine")
			s.old = tree(t, s.dst)
		}
		cmd := exec.Command(bin, args...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if i%4 == 0 { // as soon as the first rename shows
			waitFor(s.dst, s.old != nil, 4*took)
		} else {
			time.Sleep(time.Duration(random.Int64N(int64(took) * 12 / 10)))
		}
		cmd.Process.Kill()
		cmd.Wait()
		state := s.look(t)
		states[state]++
		took = took * time.Duration(pick(state == "new", 98, 102)) / 100
		if i%16 == 0 {
			s.again(t, run)
		}
		if t.Failed() {
			t.Fatalf("kill %d", i)
		}
	}
	t.Logf("states: %v", states)
	if states["nothing"] == 0 || states["old"] == 0 || states["new"] == 0 {
		t.Errorf("the kills did not meet every state: %v", states)
	}
}

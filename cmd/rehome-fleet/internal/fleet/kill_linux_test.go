package fleet

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// count is how often a test repeats: n, or what the environment says for a longer proof.
func count(t testing.TB, variable string, n int) int {
	t.Helper()
	if text := os.Getenv(variable); text != "" {
		v, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	if testing.Short() {
		return n / 8 * 2 // still two stores for each machine
	}
	return n
}

// TestKilledWorkers kills workers at random points. Whatever is visible is whole, and what
// they finish is byte for byte what one undisturbed worker writes.
func TestKilledWorkers(t *testing.T) {
	kills := count(t, "REHOME_TEST_KILLS", 20)
	bin, src, dir := program(t), machines(t, 12), t.TempDir()
	plan, one, tmp := filepath.Join(dir, "plan.ndjson"), filepath.Join(dir, "one"), filepath.Join(dir, "tmp")
	if err := os.Mkdir(tmp, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", tmp)
	must(t, 0, bin, "plan", src, "--out", plan, "--verb", "canonical")
	began := time.Now()
	must(t, 0, bin, "do", plan, "--shard", "0/1", "--out", one, "--jobs", "1")
	whole := time.Since(began)
	want, rounds, partial := tree(t, one), 0, 0
	for done := 0; done < kills; rounds++ {
		out := filepath.Join(dir, "out"+strconv.Itoa(rounds))
		for try := 0; done < kills && try < 4; try++ {
			workers := []*exec.Cmd{} // two of one shard at once
			for range 2 {
				c := exec.Command(bin, "do", plan, "--shard", "0/1", "--out", out, "--jobs", "1")
				if err := c.Start(); err != nil {
					t.Fatal(err)
				}
				workers = append(workers, c)
			}
			for _, c := range workers {
				time.Sleep(rand.N(whole/2 + 1))
				c.Process.Kill()
				c.Wait()
				done++
			}
			units, _ := os.ReadDir(filepath.Join(out, unitsName))
			for _, u := range units {
				if _, err := os.Stat(filepath.Join(out, unitsName, u.Name(), receiptName)); err != nil {
					t.Fatalf("a unit without a receipt is visible: %v", err)
				}
			}
			if len(units) > 0 && len(units) < 12 {
				partial++
			}
		}
		must(t, 0, bin, "do", plan, "--shard", "0/1", "--out", out)
		must(t, 0, bin, "report", plan, "--out", out, "--verify")
		sameTree(t, tree(t, out), want)
	}
	t.Logf("%d rounds; %d kills of units in the middle", rounds, partial)
	if partial == 0 {
		t.Error("no kill was in the middle of a plan")
	}
	if left, _ := os.ReadDir(tmp); len(left) != 0 {
		t.Errorf("left in the folder for temporary files: %v", left)
	}
}

//go:build services

package deploy

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestSlurm does a plan on three nodes, one of which dies with its tasks. The results are, to
// the byte, those of one process.
func TestSlurm(t *testing.T) {
	need(t, "SLURM_CONF")
	bin, src, dir := install(t), backups(t, 24, 3), t.TempDir()
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	plan, one, many := filepath.Join(dir, "plan.ndjson"), filepath.Join(dir, "one"), filepath.Join(dir, "many")
	must(t, exec.Command(program, "plan", src, "--verb", "archive", "--out", plan))

	sbatch := exec.Command("sbatch", "--parsable", "--array=1-12", "--output", filepath.Join(dir, "task-%a.txt"), "slurm.sh", plan, many)
	job := strings.TrimSpace(must(t, sbatch))
	defer func() {
		if t.Failed() {
			logs, _ := filepath.Glob(filepath.Join(dir, "task-*"))
			out, _ := exec.Command("tail", append([]string{"-n5"}, logs...)...).CombinedOutput()
			t.Logf("%s", out)
		}
	}()
	died := die(t, "n2")
	eventually(t, "the array ends", func() bool {
		return strings.TrimSpace(must(t, exec.Command("squeue", "--noheader", "--jobs", job, "--states", "PD,R,CG,CF"))) == ""
	})
	tasks := must(t, exec.Command("scontrol", "--oneliner", "show", "job", job))
	if n := strings.Count(tasks, "JobState=COMPLETED"); n != 12 {
		t.Errorf("%d of 12 tasks completed\n%s", n, tasks)
	}
	if again := len(regexp.MustCompile(`Restarts=[1-9]`).FindAllString(tasks, -1)); again != died {
		t.Errorf("%d tasks died and %d started again\n%s", died, again, tasks)
	}

	must(t, exec.Command(program, "do", plan, "--shard", "0/1", "--out", one))
	if want := tree(t, filepath.Join(one, "units")); !maps.Equal(tree(t, filepath.Join(many, "units")), want) {
		t.Error("the results of three nodes are not those of one process")
	}
	if left, _ := filepath.Glob(filepath.Join(many, ".*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
	must(t, exec.Command(program, "report", plan, "--out", many, "--verify"))
	must(t, exec.Command(need(t, "REHOME_TEST_SLURM_N2_CTL"), "start"))
}

// die ends a node while tasks run on it, as a power cut does: they and all that watches over
// them. It returns how many tasks that were.
func die(t *testing.T, node string) (tasks int) {
	t.Helper()
	var pids []int
	eventually(t, "tasks run on "+node, func() bool {
		pids = nil
		seen := map[string]bool{}
		for _, p := range processes("SLURMD_NODENAME=" + node) {
			_ = syscall.Kill(p.pid, syscall.SIGSTOP) // none of them ends now
			pids = append(pids, p.pid)
			if p.parent > 1 {
				pids = append(pids, p.parent) // slurmstepd, or a shell
			}
			seen[p.task] = true
		}
		tasks = len(seen)
		return tasks > 0
	})
	for _, p := range pids {
		_ = syscall.Kill(p, syscall.SIGKILL)
	}
	must(t, exec.Command(need(t, "REHOME_TEST_SLURM_"+strings.ToUpper(node)+"_CTL"), "kill"))
	return tasks
}

type process struct {
	pid, parent int
	task        string // its variable of the array
}

// processes are those of this run with a variable.
func processes(variable string) (list []process) {
	environs, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, name := range environs {
		env, _ := os.ReadFile(name)
		env = append([]byte{0}, env...)
		if !bytes.Contains(env, []byte("\x00"+variable+"\x00")) || !bytes.Contains(env, []byte("\x00REHOME_SERVICES="+os.Getenv("REHOME_SERVICES")+"\x00")) {
			continue
		}
		var p process
		stat, _ := os.ReadFile(filepath.Join(filepath.Dir(name), "stat"))
		_, after, _ := strings.Cut(string(stat), ") ")
		var state string
		_, err1 := fmt.Sscanf(name, "/proc/%d/", &p.pid)
		_, err2 := fmt.Sscan(after, &state, &p.parent)
		_, task, _ := bytes.Cut(env, []byte("\x00SLURM_ARRAY_TASK_ID="))
		task, _, _ = bytes.Cut(task, []byte{0})
		if p.task = string(task); err1 == nil && err2 == nil && state != "Z" {
			list = append(list, p)
		}
	}
	return list
}

func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	for until := time.Now().Add(3 * time.Minute); !done(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(until) {
			state, _ := exec.Command("sh", "-c", "sinfo; squeue").CombinedOutput()
			t.Fatalf("not so after 3 minutes: %s\n%s", what, state)
		}
	}
}

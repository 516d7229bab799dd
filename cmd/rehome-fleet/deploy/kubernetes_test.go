//go:build services

package deploy

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"
)

// job is what the manifest says, as far as the test plays the part of Kubernetes.
type job struct {
	APIVersion string `yaml:"apiVersion"`
	Kind       string
	Spec       struct {
		CompletionMode       string `yaml:"completionMode"`
		Completions          int
		Parallelism          int
		BackoffLimitPerIndex *int `yaml:"backoffLimitPerIndex"`
		Template             struct {
			Spec struct {
				RestartPolicy string `yaml:"restartPolicy"`
				Containers    []struct {
					Command, Args []string
					Env           []struct{ Name, Value string }
					VolumeMounts  []struct {
						Name string
						Path string `yaml:"mountPath"`
					} `yaml:"volumeMounts"`
				}
				Volumes []struct{ Name string }
			}
		}
	}
}

// TestKubernetes runs the manifest's command for each index as the controller of Indexed Jobs
// does: with the variable of the index, some at a time, a killed one again. Folders stand for
// its mounts, and a real S3 server for the bucket. The results are those of one process.
func TestKubernetes(t *testing.T) {
	text, err := os.ReadFile("kubernetes.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var j job
	if err := yaml.Unmarshal(text, &j); err != nil {
		t.Fatal(err)
	}
	n, pod := j.Spec.Completions, j.Spec.Template.Spec
	if j.APIVersion != "batch/v1" || j.Kind != "Job" || j.Spec.CompletionMode != "Indexed" || n < 1 || j.Spec.Parallelism < 1 || j.Spec.BackoffLimitPerIndex == nil || pod.RestartPolicy != "Never" || len(pod.Containers) != 1 {
		t.Fatalf("not an Indexed Job: %+v", j)
	}
	do := pod.Containers[0]
	if !slices.Contains(do.Args, fmt.Sprintf("auto/%d", n)) {
		t.Errorf("the arguments %q are not for %d completions", do.Args, n)
	}

	bin, src, dir := install(t), backups(t, n+n/2, 1), t.TempDir()
	buckets := need(t, "REHOME_TEST_S3_DIR")
	if err := os.Mkdir(filepath.Join(buckets, "results"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(filepath.Join(buckets, "results")) })
	mounts := map[string]string{}
	for _, m := range do.VolumeMounts {
		if !slices.ContainsFunc(pod.Volumes, func(v struct{ Name string }) bool { return v.Name == m.Name }) {
			t.Errorf("no volume %s", m.Name)
		}
		mounts[m.Path] = filepath.Join(dir, m.Name)
		if err := os.Mkdir(mounts[m.Path], 0o755); err != nil {
			t.Fatal(err)
		}
	}
	local := func(arg string) string {
		for mount, at := range mounts {
			if rest, ok := strings.CutPrefix(arg, mount); ok && (rest == "" || rest[0] == '/') {
				return at + rest
			}
		}
		return arg
	}
	env := []string{"PATH=" + bin, "AWS_ENDPOINT_URL=" + need(t, "REHOME_TEST_S3"), "AWS_ACCESS_KEY_ID=" + need(t, "AWS_ACCESS_KEY_ID"), "AWS_SECRET_ACCESS_KEY=" + need(t, "AWS_SECRET_ACCESS_KEY")}
	for _, v := range do.Env {
		env = append(env, v.Name+"="+local(v.Value))
	}
	var args []string
	for _, a := range do.Args {
		args = append(args, local(a))
	}
	plan := args[1]
	command := func(args ...string) *exec.Cmd {
		cmd := exec.Command(filepath.Join(bin, do.Command[0]), args...)
		cmd.Env = env
		return cmd
	}
	must(t, command("plan", src, "--verb", "archive", "--out", plan))

	work, done := make(chan int), make(chan error)
	for range min(2, j.Spec.Parallelism) {
		go func() {
			for index := range work {
				done <- try(func() *exec.Cmd {
					cmd := command(args...)
					cmd.Env = append(slices.Clone(env), fmt.Sprintf("JOB_COMPLETION_INDEX=%d", index))
					return cmd
				}, index%8 == 3, *j.Spec.BackoffLimitPerIndex)
			}
		}()
	}
	go func() {
		for index := range n {
			work <- index
		}
		close(work)
	}()
	for range n {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}

	to := args[slices.Index(args, "--out")+1]
	must(t, command("report", plan, "--out", to, "--verify"))
	one := filepath.Join(dir, "one")
	must(t, command("do", plan, "--shard", "0/1", "--out", one))
	_, prefix, _ := strings.Cut(strings.TrimPrefix(to, "s3://"), "/")
	if !maps.Equal(tree(t, filepath.Join(buckets, "results", prefix, "units")), tree(t, filepath.Join(one, "units"))) {
		t.Error("the results in the bucket are not those of one process")
	}
}

// try runs a pod, and again if it fails, at most so many times. One that is to die is killed
// during its first try.
func try(pod func() *exec.Cmd, dies bool, limit int) error {
	for failures := 0; ; failures++ {
		cmd := pod()
		var out strings.Builder
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Start(); err != nil {
			return err
		}
		if dies && failures == 0 {
			time.Sleep(30 * time.Millisecond)
			_ = cmd.Process.Kill()
		}
		err := cmd.Wait()
		if err == nil || failures == limit || cmd.ProcessState.ExitCode() == 2 {
			if err != nil {
				err = errors.Join(err, errors.New(out.String()))
			}
			return err
		}
	}
}

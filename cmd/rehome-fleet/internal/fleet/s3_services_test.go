//go:build services

package fleet

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rehome/cmd/rehome-fleet/internal/bucket"
	"rehome/internal/fsx"
)

// service returns a variable that the runner of services sets.
func service(t testing.TB, name string) string {
	t.Helper()
	v := os.Getenv(name)
	if v == "" {
		t.Fatalf("%s is not set: run `make services`", name)
	}
	return v
}

// serverMachines uploads machines to a new bucket and returns its address, and the folder in
// which the server keeps buckets.
func serverMachines(t testing.TB, name string, n int) (address, dir string) {
	t.Helper()
	t.Setenv("AWS_ENDPOINT_URL", service(t, "REHOME_TEST_S3"))
	dir = service(t, "REHOME_TEST_S3_DIR")
	for _, b := range []string{name, name + "-results"} {
		os.RemoveAll(filepath.Join(dir, b))
		if err := os.Mkdir(filepath.Join(dir, b), 0o777); err != nil {
			t.Fatal(err)
		}
		os.Chmod(filepath.Join(dir, b), 0o777)
	}
	to, err := bucket.Open("s3://"+name+"/laptops", bucket.Options{Getenv: os.Getenv})
	if err != nil {
		t.Fatal(err)
	}
	stage, err := to.Stage()
	if err != nil {
		t.Fatal(err)
	}
	defer stage.Close()
	src := machines(t, n)
	write(t, src, "complete", "")
	list, _ := os.ReadDir(src)
	for _, e := range list {
		if err := fsx.CopyTree(filepath.Join(src, e.Name()), filepath.Join(stage.Dir, e.Name()), false); err != nil {
			t.Fatal(err)
		}
	}
	if err := stage.Commit(t.Context(), "", "complete"); err != nil {
		t.Fatal(err)
	}
	if err := stage.Commit(t.Context(), "", "complete"); !errors.Is(err, bucket.ErrExists) {
		t.Fatalf("a second upload: %v", err)
	}
	return "s3://" + name + "/laptops", dir
}

// TestServerKilled kills a real S3 server while two workers do the same shard.
func TestServerKilled(t *testing.T) {
	src, dir := serverMachines(t, "killed", 12)
	ctl, bin := service(t, "REHOME_TEST_S3_CTL"), program(t)
	plan := filepath.Join(t.TempDir(), "plan.ndjson")
	total := decode[PlanResult](t, must(t, 0, bin, "--json", "plan", src, "--out", plan, "--verb", "canonical"))
	if total.Stores != 24 || total.Units != 12 {
		t.Fatalf("%+v", total.Total)
	}
	if again := decode[PlanResult](t, must(t, 0, bin, "--json", "plan", src, "--out", plan, "--verb", "canonical")); !again.Unchanged {
		t.Error("the second plan is another one")
	}
	began := time.Now()
	must(t, 0, bin, "do", plan, "--shard", "0/1", "--out", "s3://killed-results/one")
	whole := time.Since(began)
	var workers []*exec.Cmd
	for range 2 {
		c := exec.Command(bin, "do", plan, "--shard", "0/1", "--out", "s3://killed-results/two")
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		workers = append(workers, c)
	}
	time.Sleep(whole / 3)
	for _, how := range []string{"kill", "start"} {
		if out, err := exec.Command(ctl, how).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	for _, c := range workers {
		t.Log("worker: ", c.Wait()) // either it waited for the server, or it says that units are missing
	}
	must(t, 0, bin, "do", plan, "--shard", "0/1", "--out", "s3://killed-results/two")
	must(t, 0, bin, "report", plan, "--out", "s3://killed-results/two", "--verify")
	at := func(name string) string {
		return tree(t, filepath.Join(dir, "killed-results", name))
	}
	sameTree(t, at("two"), at("one"))
}

// TestServerChanges: a store that changes after the plan is reported, and a new plan does
// only its unit again.
func TestServerChanges(t *testing.T) {
	src, _ := serverMachines(t, "changes", 3)
	bin, dir := program(t), t.TempDir()
	plan, next := filepath.Join(dir, "plan.ndjson"), filepath.Join(dir, "next.ndjson")
	must(t, 0, bin, "plan", src, "--out", plan)
	replace(t, src, "machine-1/home/ann/.claude/projects/-home-ann-app/"+chatID+".jsonl", "{}\n")
	const out = "s3://changes-results/r"
	must(t, 5, bin, "do", plan, "--shard", "0/1", "--out", out)
	r := decode[Report](t, firstJSON(must(t, 4, bin, "--json", "report", plan, "--out", out)))
	if r.Outcomes[ok] != 4 || r.NotDone != 2 || r.Complete {
		t.Errorf("%+v", r)
	}
	must(t, 0, bin, "plan", src, "--out", next)
	if done := decode[DoResult](t, must(t, 0, bin, "--json", "do", next, "--shard", "0/1", "--out", out)); done.Already != 2 || done.Stores != 2 {
		t.Errorf("%+v", done.Done)
	}
	must(t, 0, bin, "report", next, "--out", out, "--verify")
}

// TestServerSecrets: no message has a credential in it.
func TestServerSecrets(t *testing.T) {
	src, _ := serverMachines(t, "secrets", 1)
	bin := program(t)
	t.Setenv("AWS_SECRET_ACCESS_KEY", "wrong-and-secret")
	for _, address := range []string{src, "s3://ann:wrong-and-secret@secrets/x", "s3://secrets/x?key=wrong-and-secret", "s3://missing-bucket/x"} {
		for _, args := range [][]string{{"plan", address, "--dry-run"}, {"--json", "plan", address, "--dry-run"}} {
			code, out := run(t, bin, args...)
			if code == 0 || strings.Contains(out, "wrong-and-secret") || strings.Contains(out, "Signature=") {
				t.Errorf("%q: exit %d: %s", args, code, out)
			}
		}
	}
}

// replace uploads another object under a key.
func replace(t testing.TB, src, key, text string) {
	t.Helper()
	name, prefix, _ := strings.Cut(strings.TrimPrefix(src, "s3://"), "/")
	at := filepath.Join(service(t, "REHOME_TEST_S3_DIR"), name, prefix, filepath.FromSlash(key))
	if err := os.Remove(at); err != nil {
		t.Fatal(err)
	}
	to, err := bucket.Open(src, bucket.Options{Getenv: os.Getenv})
	if err != nil {
		t.Fatal(err)
	}
	stage, err := to.Stage()
	if err != nil {
		t.Fatal(err)
	}
	defer stage.Close()
	write(t, stage.Dir, "object", text)
	if err := stage.Commit(t.Context(), filepath.ToSlash(filepath.Dir(key)), "object"); err != nil {
		t.Fatal(err)
	}
	// The condition of the commit is on the name object: give it its own.
	if err := os.Rename(filepath.Join(filepath.Dir(at), "object"), at); err != nil {
		t.Fatal(err)
	}
}

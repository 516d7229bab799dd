package fleet

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rehome/cmd/internal/cli"
	"rehome/cmd/rehome-fleet/internal/bucket"
	"rehome/cmd/rehome-fleet/internal/catalog"
	"rehome/internal/fsx"
)

const programName = "rehome-fleet-test"

// TestMain makes the test binary the program when it has its name, so that workers and the
// processes that they start are real ones.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == programName {
		commands := struct {
			Commands
			Catalog catalog.Command `cmd:""`
		}{}
		os.Exit(cli.Run(cli.Setup(), cli.Program{Name: "rehome-fleet", Commands: &commands}, os.Args[1:], os.Stdout, os.Stderr, os.Getenv))
	}
	os.Exit(m.Run())
}

// program returns the path of the program.
func program(t testing.TB) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(t.TempDir(), programName)
	if os.Link(self, to) != nil {
		if err := fsx.Copy(self, to, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return to
}

// run runs the program and returns its exit code and output.
func run(t testing.TB, bin string, args ...string) (int, string) {
	t.Helper()
	c := exec.Command(bin, args...)
	out, err := c.CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return c.ProcessState.ExitCode(), string(out)
}

// must runs the program, which must exit with a code.
func must(t testing.TB, code int, bin string, args ...string) string {
	t.Helper()
	got, out := run(t, bin, args...)
	if got != code {
		t.Fatalf("%q: exit %d, want %d\n%s", args, got, code, out)
	}
	return out
}

func decode[T any](t testing.TB, text string) (v T) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return v
}

const testdata = "../../../../testdata"

// place copies a file or folder of testdata to a path below dir.
func place(t testing.TB, from, dir, to string) {
	t.Helper()
	to = filepath.Join(dir, filepath.FromSlash(to))
	if err := errors.Join(os.MkdirAll(filepath.Dir(to), 0o777), fsx.CopyTree(filepath.Join(testdata, from), to, false)); err != nil {
		t.Fatal(err)
	}
}

func write(t testing.TB, dir, name, text string) {
	t.Helper()
	at := filepath.Join(dir, filepath.FromSlash(name))
	if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o777), os.WriteFile(at, []byte(text), 0o666)); err != nil {
		t.Fatal(err)
	}
}

const (
	chatID   = "5d0b2b7e-1111-4000-8000-000000000000"
	chatHash = "5734498605caec2da8801a5b40f5caa8"
	jsonLine = `{"type":"user","sessionId":"` + chatID + `","uuid":"11111111-1111-4111-8111-111111111111","parentUuid":null,"cwd":"/home/ann/app","version":"2.0.0","timestamp":"2026-01-02T03:04:05.000Z","isSidechain":false,"userType":"external","message":{"role":"user","content":"hello %d"}}` + "\n"
)

// machines lays out the stores of testdata as the homes of machines.
func machines(t testing.TB, n int) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "machines")
	for i := range n {
		m := fmt.Sprintf("machine-%d/home/ann/", i)
		place(t, "chat/before.db", dir, m+".cursor/chats/"+chatHash+"/"+chatID+"/store.db")
		write(t, dir, m+".claude/projects/-home-ann-app/"+chatID+".jsonl", fmt.Sprintf(jsonLine, i))
		write(t, dir, m+".claude/settings.json", "{}")
	}
	return dir
}

// tree returns the files below a folder with their content.
func tree(t testing.TB, dir string) string {
	t.Helper()
	list, err := listFiles(dir)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	for _, f := range list {
		fmt.Fprintln(&b, f.Name, f.Size, f.Digest)
	}
	return b.String()
}

// TestSlice plans, does and reports, and each of them a second time.
func TestSlice(t *testing.T) {
	bin, src := program(t), machines(t, 3)
	dir := t.TempDir()
	plan, out := filepath.Join(dir, "plan.ndjson"), filepath.Join(dir, "out")
	before := tree(t, src)
	first := decode[PlanResult](t, must(t, 0, bin, "--json", "plan", src, "--out", plan))
	if first.Units != 3 || first.Stores != 6 || first.Others != 3 || first.Unchanged {
		t.Errorf("%+v", first.Total)
	}
	text, _ := os.ReadFile(plan)
	if again := decode[PlanResult](t, must(t, 0, bin, "--json", "plan", src, "--out", plan)); !again.Unchanged {
		t.Error("the second plan is another one")
	}
	if r := decode[Report](t, firstJSON(must(t, 4, bin, "--json", "report", plan, "--out", out))); r.NotDone != 6 || r.Missing != 3 {
		t.Errorf("before: %+v", r)
	}
	for i := range 2 {
		must(t, 0, bin, "do", plan, "--shard", fmt.Sprintf("%d/2", i), "--out", out)
	}
	results := tree(t, out)
	r := decode[Report](t, must(t, 0, bin, "--json", "report", plan, "--out", out, "--verify"))
	if r.Outcomes[ok] != 6 || !r.Complete || r.NotDone != 0 {
		t.Errorf("%+v\n%s", r, text)
	}
	if done := decode[DoResult](t, must(t, 0, bin, "--json", "do", plan, "--shard", "0/1", "--out", out)); done.Already != 3 || done.Stores != 0 {
		t.Errorf("second run: %+v", done.Done)
	}
	if tree(t, out) != results || tree(t, src) != before {
		t.Error("a second run changed results, or the source changed")
	}
	if list, _ := os.ReadDir(out); len(list) != 1 {
		t.Errorf("left in the folder of results: %v", list)
	}
}

// firstJSON cuts what follows the first document.
func firstJSON(text string) string {
	var raw json.RawMessage
	if json.NewDecoder(strings.NewReader(text)).Decode(&raw) != nil {
		return text
	}
	return string(raw)
}

// sameTree compares two results of tree.
func sameTree(t testing.TB, got, want string) {
	t.Helper()
	if got == want {
		return
	}
	for _, pair := range [][2]string{{got, want}, {want, got}} {
		for line := range strings.Lines(pair[0]) {
			if !strings.Contains(pair[1], line) {
				t.Error("differs: " + line)
			}
		}
		t.Log("---")
	}
	t.FailNow()
}

// worker returns a worker for a plan, which reads stores with a program.
func worker(t testing.TB, p *planFile, out string, program ...string) *Worker {
	t.Helper()
	w := &Worker{Scratch: t.TempDir(), Jobs: 2, Limits: Limits{Program: program, Memory: 2e9, Time: time.Minute, Output: 1 << 30, CPUs: 1}}
	var err error
	if w.Source, err = bucket.Open(p.header.Source, bucket.Options{}); err == nil {
		w.Out, err = bucket.Open(out, bucket.Options{})
	}
	if err != nil {
		t.Fatal(err)
	}
	return w
}

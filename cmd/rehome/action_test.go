package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"rehome/golden"
)

// asProgram makes the test's own binary the program.
const asProgram = "REHOME_IS_THE_TEST"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
	}
	os.Exit(m.Run())
}

// TestAction runs what the GitHub action runs, where there is a bash: the check,
// with the paths and flags as they come from a workflow. What the action builds
// is taken for this very binary.
func TestAction(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		return // no runner is without one
	}
	root := filepath.Dir(golden.Path(t, ""))
	text, err := os.ReadFile(filepath.Join(root, "action.yml"))
	if err != nil {
		t.Fatal(err)
	}
	_, script, found := strings.Cut(string(text), "      run: |\n")
	if !found || !bytes.Contains(text, []byte(`run: go build -o "$RUNNER_TEMP/rehome/" ./cmd/rehome`)) || !bytes.Contains(text, []byte("actions/setup-go@")) {
		t.Fatal("action.yml has no such steps")
	}
	temp, dir := t.TempDir(), t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(temp, "rehome"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(temp, "rehome", "rehome")); err != nil {
		t.Fatal(err)
	}
	furnish(t, dir)
	if err := os.MkdirAll(filepath.Join(dir, "a b"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "a b", "runs.ndjson"), []byte(`{"runId":`), 0o666); err != nil {
		t.Fatal(err)
	}
	run := func(env ...string) (string, int) {
		cmd := exec.Command(bash, "-e", "-o", "pipefail", "-c", script)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), append(env, "RUNNER_TEMP="+temp, asProgram+"=1", "GITHUB_STEP_SUMMARY="+temp+"/summary.md")...)
		out, err := cmd.CombinedOutput()
		if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		return string(out), cmd.ProcessState.ExitCode()
	}
	for _, c := range []struct {
		paths, flags string
		code         int
		want         string
	}{
		{"chat\nlater", "", 0, "ok, "},
		{"chat\na b\n", "", 4, "::error file=a b/runs.ndjson,title=RH190 "},
		{".", "--skip=RH190\n--notes", 0, "::notice file="},
		{"--rules", "", 1, "not examined"},
	} {
		out, code := run("PATHS="+c.paths, "FLAGS="+c.flags)
		if code != c.code || !strings.Contains(out, c.want) {
			t.Errorf("%q %q: exit %d: %s", c.paths, c.flags, code, out)
		}
	}
	if page, err := os.ReadFile(filepath.Join(temp, "summary.md")); err != nil || strings.Count(string(page), "### rehome check") != 4 {
		t.Errorf("%v: %s", err, page)
	}
}

// TestHook: what pre-commit runs is a command line of ours.
func TestHook(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(filepath.Dir(golden.Path(t, "")), ".pre-commit-hooks.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	entry := regexp.MustCompile(`(?m)^  entry: rehome (.*)\n  args: \[(.*)\]$`).FindSubmatch(text)
	if entry == nil {
		t.Fatalf("no entry in %s", text)
	}
	dir := t.TempDir()
	furnish(t, dir)
	t.Chdir(dir)
	if stdout, stderr, code := call(t, string(entry[1]), string(entry[2])); code != 0 || !strings.Contains(stdout, "2 stores") {
		t.Errorf("exit %d: %s%s", code, stdout, stderr)
	}
	files := regexp.MustCompile(`(?m)^  files: '(.*)'$`).FindSubmatch(text)
	if files == nil {
		t.Fatal("no files")
	}
	pattern := regexp.MustCompile(string(files[1]))
	for name, want := range map[string]bool{
		"agents/runs.ndjson": true, "chat/manifest.json": true, "chat/blobs.ndjson.zst": true, "store.db": true, "x/state.vscdb": true, "said.jsonl": true,
		"main.go": false, "package.json": false, "notstore.db": false,
	} {
		if pattern.MatchString(name) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
}

// TestActionWithoutSessions: what the action and the hook check by default may
// hold no sessions at all.
func TestActionWithoutSessions(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("main.go", []byte("package main\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		code int
	}{{[]string{"check", "--format", "github", "--", "."}, 0}, {[]string{"check", "."}, 0}, {[]string{"check", ".", "--require"}, 1}} {
		if stdout, stderr, code := call(t, c.args...); code != c.code || !strings.Contains(stdout+stderr, "no sessions found") {
			t.Errorf("%q: exit %d, %s%s", c.args, code, stdout, stderr)
		}
	}
}

package clitest

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"rehome/cmd/internal/demochat"
	"rehome/golden"
)

// AsProgram makes the test's own binary the program. If its value is a time, that is
// the time for the program.
const AsProgram = "REHOME_IS_THE_TEST"

func Checkout(t *testing.T) string { return filepath.Dir(golden.Path(t, "")) }

// ActionSteps returns the scripts of the steps of the action, by their names.
func ActionSteps(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(Checkout(t), "action.yml"))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, step := range strings.Split(string(text), "\n    - ")[1:] {
		name := strings.TrimPrefix(strings.SplitN(step, "\n", 2)[0], "name: ")
		_, script, _ := strings.Cut(step, "\n      run: ")
		out[name] = strings.TrimPrefix(script, "|\n")
	}
	return out
}

// Bash runs a script as a runner does, and returns its output and exit status.
func Bash(t *testing.T, dir, script string, env ...string) (string, int) {
	t.Helper()
	cmd := exec.Command("bash", "-e", "-o", "pipefail", "-c", script)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), append(env, AsProgram+"=1")...)
	out, err := cmd.CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

func Write(t *testing.T, text string, path ...string) string {
	t.Helper()
	at := filepath.Join(path...)
	if err := os.MkdirAll(filepath.Dir(at), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at, []byte(text), 0o777); err != nil {
		t.Fatal(err)
	}
	return at
}

// Repository is a git repository with the sessions of the demo: as lines of JSON, as an
// archive and as a database. rehome and git are on the PATH.
func Repository(t *testing.T) (dir string, run func(script string) (string, int)) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin, dir := t.TempDir(), t.TempDir()
	Write(t, "#!/bin/sh\nexec '"+filepath.ToSlash(self)+"' \"$@\"\n", bin, "rehome")
	b, err := demochat.Stores.ReadFile("login.db")
	if err != nil {
		t.Fatal(err)
	}
	Write(t, string(b), dir, "db", "store.db")
	env := []string{"PATH=" + bin + string(filepath.ListSeparator) + os.Getenv("PATH"), "TMPDIR=" + t.TempDir(), "HOME=" + t.TempDir(),
		"GIT_CONFIG_NOSYSTEM=1", "TZ=UTC",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b.invalid", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b.invalid"}
	run = func(script string) (string, int) { return Bash(t, dir, script, env...) }
	out, code := run("git init -q && rehome convert db sessions --to canonical -q && rehome convert db/store.db archive --to archive -q && git add . && git commit -qm one")
	if code != 0 {
		t.Fatal(out)
	}
	return dir, run
}

func DigestOf(word string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(word))) }

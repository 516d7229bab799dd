package cli

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"rehome/cmd/internal/clitest"
	"rehome/golden"
)

// TestWeek plays a week of two people who keep their chats in one repository, with git and
// hooks as they are.
func TestWeek(t *testing.T) {
	w := &week{t: t}
	commands := map[string]golden.Command{"cd": w.cd, "client": w.client}
	for _, name := range []string{"git", "rehome", "mkdir", "mv"} {
		commands[name] = func(c golden.Call) int { return w.exec(c, name) }
	}
	golden.Scripts(t, "week/*.txt", commands, w.begin)
}

// sizes depend on the paths of the folders.
var sizes = regexp.MustCompile(`[0-9.]+ kB`)

type week struct {
	t         *testing.T
	dir, home string
	env       []string
}

// begin gives Ann a chat, and both an empty clone of a repository.
func (w *week) begin(t *testing.T, dir string) {
	w.dir = dir
	_, run := clitest.Repository(t)
	out, code := run(`printf '%s\n' "$PATH" "$TMPDIR" && git init -q --bare -b main "` + dir + `/hub.git"`)
	if code != 0 {
		t.Fatal(out)
	}
	lines := strings.Split(out, "\n")
	w.env = append(os.Environ(), "PATH="+lines[0], "TMPDIR="+lines[1], clitest.AsProgram+"=1", "TZ=UTC", "GIT_CONFIG_NOSYSTEM=1")
	furnishHome(t, filepath.Join(dir, "ann"))
	if err := os.RemoveAll(filepath.Join(dir, "ann", "app")); err != nil {
		t.Fatal(err)
	}
	for _, who := range []string{"ann", "ben"} {
		app := filepath.Join(dir, who, "app")
		if out, code := run("git clone -q '" + dir + "/hub.git' '" + app + "' && cd '" + app +
			"' && git config pull.rebase false && git config user.name " + who + " && git config user.email " + who +
			"@example.invalid"); code != 0 {
			t.Fatal(out)
		}
	}
}

func (w *week) cd(c golden.Call) int {
	at := w.path(c.Args[0])
	if err := os.Chdir(at); err != nil {
		w.t.Error(err)
		return 1
	}
	if rest, in := strings.CutPrefix(at, w.dir+"/"); in {
		who, _, _ := strings.Cut(rest, "/")
		w.home = filepath.Join(w.dir, who)
	}
	return 0
}

// path replaces ~ and ~ann by home folders, and the token, which no test holds.
func (w *week) path(arg string) string {
	for _, who := range []string{"ann", "ben"} {
		if rest, ok := strings.CutPrefix(arg, "~"+who); ok {
			return filepath.Join(w.dir, who, rest)
		}
	}
	if rest, ok := strings.CutPrefix(arg, "~"); ok {
		return filepath.Join(w.home, rest)
	}
	return strings.ReplaceAll(arg, "ghp_EXAMPLE", "ghp_"+strings.Repeat("a1B2c3D4e5F6", 3))
}

func (w *week) exec(c golden.Call, name string) int {
	for i, a := range c.Args {
		c.Args[i] = w.path(a)
	}
	found := name
	for _, v := range w.env {
		if list, ok := strings.CutPrefix(v, "PATH="); ok && name == "rehome" {
			found = filepath.Join(filepath.SplitList(list)[0], name)
		}
	}
	cmd := exec.CommandContext(w.t.Context(), found, c.Args...)
	cmd.Env = append(w.env, "HOME="+w.home, "COLUMNS="+cmp.Or(c.Env["COLUMNS"], "80"))
	var out, says strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &says
	err := cmd.Run()
	if name == "rehome" { // git has other words in each version
		fmt.Fprint(c.Stdout, sizes.ReplaceAllString(withoutVariables(out.String()), "4 kB"))
	}
	fmt.Fprint(c.Stderr, sizes.ReplaceAllString(withoutVariables(says.String()), "4 kB"))
	if exit := new(exec.ExitError); errors.As(err, &exit) {
		return exit.ExitCode()
	}
	if err != nil {
		w.t.Error(err)
	}
	return 0
}

// client continues the chat that somebody has with a turn. Without one, it leaves the last
// line of a file in the repository incomplete, as on a full disk.
func (w *week) client(c golden.Call) int {
	do := func(args ...string) {
		if code := w.exec(golden.Call{Args: args, Stdout: c.Stderr, Stderr: c.Stderr}, "rehome"); code != 0 {
			w.t.Errorf("%q: exit %d", args, code)
		}
	}
	pattern := filepath.Join("sessions", "*", "*.jsonl")
	if len(c.Args) > 0 {
		text := w.t.TempDir()
		do("convert", "~/.cursor/chats", filepath.Join(text, "text"), "--to", "canonical", "-q")
		pattern = filepath.Join(text, "text", "*", "*.jsonl")
	}
	list, err := filepath.Glob(pattern)
	if err != nil || len(list) == 0 {
		w.t.Fatal(pattern, err)
	}
	b, err := os.ReadFile(list[0])
	if err != nil {
		w.t.Fatal(err)
	}
	if len(c.Args) == 0 {
		clitest.Write(w.t, string(b[:len(b)-40]), list[0])
		return 0
	}
	for i, role := range []string{"user", "assistant"} {
		turn := ""
		if i == 0 {
			turn = `"turn":{"number":2,"start":"2026-10-14T09:00:00.000Z"},`
		}
		b = fmt.Appendf(b, `{"type":"message","id":"%s","role":%q,%s"at":"2026-10-14T09:00:0%d.000Z","parts":[{"type":"text","text":%q}]}`+"\n",
			clitest.DigestOf(c.Args[i])[:16], role, turn, i, w.path(c.Args[i]))
	}
	clitest.Write(w.t, string(b), list[0])
	made := filepath.Join(filepath.Dir(filepath.Dir(filepath.Dir(list[0]))), "made")
	do("convert", filepath.Dir(filepath.Dir(list[0])), made, "--to", "cursor-chat", "-q")
	if err := errors.Join(os.RemoveAll(w.path("~/.cursor/chats")),
		os.Rename(filepath.Join(made, "chats"), w.path("~/.cursor/chats"))); err != nil {
		w.t.Fatal(err)
	}
	return 0
}

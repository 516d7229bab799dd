package cli

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"rehome/cmd/internal/console"
)

// TestCompletionScripts: every script is one that its shell can read, where
// that shell is at hand, and asks the program.
func TestCompletionScripts(t *testing.T) {
	dir := t.TempDir()
	for shell, check := range map[string][]string{
		"bash": {"bash", "-n"}, "zsh": {"zsh", "-n"}, "fish": {"fish", "-n"},
		"powershell": {"pwsh", "-NoProfile", "-File"},
	} {
		script, stderr, code := call(t, "completion", shell)
		if code != 0 || stderr != "" || !strings.Contains(script, "rehome __complete -- ") {
			t.Fatalf("%s: exit %d, stderr %q, script %s", shell, code, stderr, script)
		}
		path := filepath.Join(dir, "rehome."+shell+".ps1")
		if err := os.WriteFile(path, []byte(script), 0o644); err != nil {
			t.Fatal(err)
		}
		if program, err := exec.LookPath(check[0]); err == nil {
			if out, err := exec.Command(program, append(check[1:], path)...).CombinedOutput(); err != nil || len(out) > 0 {
				t.Errorf("%s does not take its script: %v\n%s", shell, err, out)
			}
		}
	}
}

// TestComplete: what is offered for the last word of a command line.
func TestComplete(t *testing.T) {
	home := t.TempDir()
	furnishAnn(t, home)
	env := map[string]string{console.HomeVariable(): home}
	for line, want := range map[string]string{
		"con":                                "continue convert",
		"--col":                              "--color",
		"--color a":                          "auto always",
		"--color=a":                          "--color=auto --color=always",
		"--json --color never sh":            "show",
		"show --to":                          "--tools",
		"view --to":                          "--tools",
		"show --tools ":                      "brief full none",
		"show --tools = f":                   "full",
		"show --format =":                    "text markdown html json",
		"show --last --tools full --no-p":    "--no-pager",
		"convert --to archi":                 "archive",
		"convert store.db --to archive --qu": "--quiet",
		"convert --allow m":                  "missing",
		"convert --sidecar ":                 "beside none :files",
		"convert --jobs ":                    "",
		"convert store.db ":                  ":files",
		"convert a b ":                       "",
		"check a b ":                         ":files",
		"convert --cwd ":                     ":dirs",
		"ls --client c":                      "claude-code codex copilot cursor-sdk cursor-ide cursor-cli cline crush continue",
		"search --client c":                  "claude-code codex copilot cursor-sdk cursor-ide cursor-cli",
		"ls --since y":                       "yesterday",
		"check --rule RH30":                  "RH301 RH302 RH303 RH304 RH305 RH306 RH307 RH308 RH309",
		"check --layer me":                   "meaning",
		"schema canon":                       "canonical-1",
		"completion ":                        "bash zsh fish powershell",
		"version ":                           "",
		"help conv":                          "convert",
		"help convert ":                      "",
		"help al":                            "all",
		"show nothing-like-it":               ":files",
		"show -- --x":                        ":files",
		"nonsense --col":                     "--color",
		"convert --nonsense=x --fro":         "--from",
		"show --nonsense=":                   "",
		`show --tools ""`:                    "brief full none",
		"ls __":                              ":files",
		"__":                                 "",
	} {
		stdout, stderr, code := callWith(t, t.Context(), env, append([]string{"__complete", "--"}, strings.Split(line, " ")...)...)
		var got []string
		for row := range strings.Lines(stdout) {
			word, _, _ := strings.Cut(strings.TrimSuffix(row, "\n"), "\t")
			got = append(got, word)
		}
		if strings.Join(got, " ") != want || code != 0 || stderr != "" {
			t.Errorf("%q: %q, want %q (exit %d, %s)", line, strings.Join(got, " "), want, code, stderr)
		}
	}
	if stdout, _, _ := callWith(t, t.Context(), env, "__complete"); !strings.HasPrefix(stdout,
		"ls\tList the sessions on this machine, from every client\n") || strings.Contains(stdout, "__") {
		t.Error(stdout)
	}
}

// TestCompleteSessions: sessions come with their titles, each id once, and
// nothing in them acts on the shell or the terminal.
func TestCompleteSessions(t *testing.T) {
	home := t.TempDir()
	furnishAnn(t, home)
	env := map[string]string{console.HomeVariable(): home}
	stdout, _, _ := callWith(t, t.Context(), env, "__complete", "--", "show", "")
	listed, _, _ := callWith(t, t.Context(), env, "ls", "--json")
	var res struct{ Sessions []struct{ ID, Title string } }
	if err := json.Unmarshal([]byte(listed), &res); err != nil || len(res.Sessions) < 3 {
		t.Fatalf("%v, %d sessions", err, len(res.Sessions))
	}
	seen := map[string]bool{}
	titled := 0
	for row := range strings.Lines(strings.TrimSuffix(stdout, ":files\n")) {
		id, title, ok := strings.Cut(strings.TrimSuffix(row, "\n"), "\t")
		if seen[id] || !isPlainWord(id) {
			t.Errorf("%q is offered twice, or is not a plain word", id)
		}
		seen[id] = true
		if ok && title != "" {
			titled++
		}
	}
	if len(seen) < 3 || titled == 0 {
		t.Errorf("%d sessions, %d with titles:\n%s", len(seen), titled, stdout)
	}
	var c completion
	c.add("5d0b2b7e", "a\x1b[2J\ttitle\n"+strings.Repeat("x", 100))
	c.add("5d0b2b7e", "again")
	var out strings.Builder
	if err := c.print(&out, "--session=", "5d"); err != nil || out.String() != `--session=5d0b2b7e`+"\t"+`a\x1b[2J\ttitle\n`+
		strings.Repeat("x", 70-17-1)+"…\n" {
		t.Errorf("%q, %v", out.String(), err)
	}
}

// TestPlainWord: an id that a shell would act on is not offered to it.
func TestPlainWord(t *testing.T) {
	for in, want := range map[string]bool{"5d0b2b7e": true, "agent-5d0b.x_y": true, "": false, "-rf": false, "$(id)": false, "a b": false, "a;b": false, "a\nb": false, "`id`": false, "日本": false} {
		if isPlainWord(in) != want {
			t.Errorf("%q: %v", in, !want)
		}
	}
}

// TestManual: the page holds every command, flag and exit code, and nothing in
// it is taken for a macro that is not ours.
func TestManual(t *testing.T) {
	page, stderr, code := call(t, "man")
	if code != 0 || stderr != "" {
		t.Fatalf("exit %d, stderr %q", code, stderr)
	}
	m := Rehome().cliModel()
	for _, n := range commands(m) {
		if !strings.Contains(page, "\n.SS rehome "+roff(n.Name)) {
			t.Errorf("%s is not in the manual", n.Name)
		}
		for _, f := range flagsOf(m, n) {
			if !strings.Contains(page, `\fB\-\-`+roff(f.Name)+`\fR`) {
				t.Errorf("%s --%s is not in the manual", n.Name, f.Name)
			}
		}
	}
	for _, o := range console.ExitStatuses() {
		if !strings.Contains(page, "\n"+roff(o.Meaning)+"\n") {
			t.Errorf("%q is not in the manual", o.Meaning)
		}
	}
	for _, want := range []string{"\n.SH EXAMPLES\n", "\n    rehome show \\-\\-last\n", "\n.SH FILES\n.TP\n.I \\(ti/.claude\n"} {
		if !strings.Contains(page, want) {
			t.Errorf("%q is not in the manual", want)
		}
	}
	for line := range strings.Lines(page) {
		word, _, _ := strings.Cut(strings.TrimRight(line, "\n"), " ")
		if macros := ".TH .SH .SS .TP .PP .B .BR .I .nf .fi .\\\""; (line[0] == '.' || line[0] == '\'') &&
			!strings.Contains(" "+macros+" ", " "+word+" ") {
			t.Errorf("%q is taken for a macro", line)
		}
	}
	if groff, err := exec.LookPath("groff"); err == nil {
		cmd := exec.Command(groff, "-man", "-Tutf8", "-ww", "-z")
		cmd.Stdin = strings.NewReader(page)
		if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("groff: %v\n%s", err, out)
		}
	}
}

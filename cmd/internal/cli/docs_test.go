package cli

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"rehome/cmd/internal/clitest"
	"rehome/cmd/internal/console"
	"rehome/golden"
)

// shownCommand is a command line that a document shows.
type shownCommand struct {
	page    string
	line    int
	section string // the heading it stands under
	text    string
	exit    int // the exit status that the remark after it states
}

// shownCommands finds the command lines of a document: in blocks of sh and
// console, the examples of help, and what a CI job runs. Transcripts
// are left out, because TestCommands runs them.
func shownCommands(t *testing.T, page string) (out []shownCommand) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(filepath.Dir(golden.Path(t, "")), filepath.FromSlash(page)))
	if err != nil {
		t.Fatal(err)
	}
	script := regexp.MustCompile(`^ *(?:- )?(?:before_script|script|run): \[?([^\]|]*)\]?$`)
	example := regexp.MustCompile(`^  (rehome .*)`)
	status := regexp.MustCompile(`exits with status (\d+)`)
	section, fence, transcript := "", "", false
	for i, line := range strings.Split(string(text), "\n") {
		found := ""
		mark, isMark := strings.CutPrefix(strings.TrimSpace(line), "```")
		switch {
		case isMark && fence == "":
			fence = mark + " block"
		case isMark:
			fence = ""
		case fence == "" && strings.HasPrefix(line, "#"):
			section = line
		case strings.HasPrefix(line, "<!-- "):
			transcript = strings.HasPrefix(line, "<!-- transcript ")
		case transcript:
		case fence == "sh block":
			found = line
		case fence == "console block":
			found, _ = strings.CutPrefix(line, "$ ")
		case fence == "yaml block":
			if m := script.FindStringSubmatch(line); m != nil {
				found = m[1]
			}
		case fence == "text block":
			if m := example.FindStringSubmatch(line); m != nil {
				found = m[1]
			}
		}
		found, remark, _ := strings.Cut(found, "  #")
		exit := 0
		if m := status.FindStringSubmatch(remark); m != nil {
			exit, _ = strconv.Atoi(m[1])
		}
		if found = strings.TrimSpace(found); found != "" && found[0] != '#' {
			out = append(out, shownCommand{page, i + 1, section, found, exit})
		}
	}
	return out
}

// TestShownCommands runs every command line that the README and the docs show:
// those of one section in order, in the home folder of somebody who has
// sessions of every client. Each must exit with the status that the remark
// after it states, or with 0. commandCases lists what a line needs besides, or
// why it is not run. A line that is neither run nor listed fails the test.
func TestShownCommands(t *testing.T) {
	t.Setenv("COLUMNS", "80")
	cases, used, ran := commandCases(), map[string]bool{}, map[string]int{}
	for _, page := range append(guides(t), "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md") {
		lines := shownCommands(t, page)
		for len(lines) > 0 {
			n := slices.IndexFunc(lines, func(c shownCommand) bool { return c.section != lines[0].section })
			if n < 0 {
				n = len(lines)
			}
			part := lines[:n]
			lines = lines[n:]
			t.Run(fmt.Sprintf("%s:%d", page, part[0].line), func(t *testing.T) {
				var sh *docShell
				for _, c := range part {
					name, known := caseOf(cases, c.text)
					used[name] = true
					if known && cases[name].not != "" {
						continue
					}
					if sh == nil {
						sh = newDocShell(t)
					}
					for _, step := range cases[name].before {
						if code := sh.run(step); code != 0 {
							t.Fatalf("before %s: %s: exit status %d\n%s", c.text, step, code, sh.output)
						}
					}
					ran[strings.Fields(c.text)[0]]++
					if code, want := sh.run(c.text), max(c.exit, cases[name].exit); code != want {
						t.Errorf("%s:%d: %s: exit status %d, want %d\n%s", page, c.line, c.text, code, want, sh.output)
					}
				}
			})
		}
	}
	for name := range cases {
		if !used[name] {
			t.Errorf("commandCases lists %q, which no document shows", name)
		}
	}
	if ran["rehome"] < 60 || ran["git"] < 4 {
		t.Errorf("only %v ran", ran)
	}
}

// docShell runs command lines in a home folder of its own.
type docShell struct {
	t      *testing.T
	home   string
	output string // what the last command printed
}

func newDocShell(t *testing.T) *docShell {
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", t.TempDir())
	t.Setenv("TMP", os.Getenv("TMPDIR")) // the same on Windows
	t.Setenv(clitest.AsProgram, "1")     // for hooks
	sh := &docShell{t: t, home: home}
	furnishAnn(t, home)
	t.Chdir(filepath.Join(home, "app"))
	for _, step := range []string{"git init --quiet", "git add go.mod", "git commit --quiet -m Begin"} {
		if code := sh.run(step); code != 0 {
			t.Fatalf("%s: %s", step, sh.output)
		}
	}
	return sh
}

// run runs a command line and returns its exit status. It supports quotes, "~",
// a ">" at the end, and a pipe to a pager, which it leaves out. rehome runs in
// this process, git as itself.
func (sh *docShell) run(line string) int {
	sh.t.Helper()
	words := sh.words(line)
	to := ""
	if i := slices.Index(words, ">"); i >= 0 && i == len(words)-2 {
		words, to = words[:i], words[i+1]
	}
	if i := slices.Index(words, "|"); i >= 0 {
		if viewers := []string{"less", "man", "fzf"}; i+1 == len(words) || !slices.Contains(viewers, words[i+1]) {
			sh.t.Errorf("%s: docShell can only pipe to %q", line, viewers)
		}
		words = words[:i]
	}
	var stdout, stderr bytes.Buffer
	code := 0
	switch program := words[0]; {
	case filepath.Base(program) == "rehome":
		code = run(sh.t.Context(), words[1:], &stdout, &stderr, func(name string) string { return map[string]string{console.HomeVariable(): sh.home}[name] })
	case program == "git" && slices.Contains([]string{"init", "add", "commit", "config", "diff"}, words[1]):
		cmd := exec.CommandContext(sh.t.Context(), "git", words[1:]...)
		cmd.Env = append(os.Environ(), "HOME="+sh.home, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=Ann", "GIT_AUTHOR_EMAIL=ann@example.invalid",
			"GIT_COMMITTER_NAME=Ann", "GIT_COMMITTER_EMAIL=ann@example.invalid", "GIT_CEILING_DIRECTORIES="+sh.home)
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		if err := cmd.Run(); err != nil {
			fmt.Fprintln(&stderr, err)
			code = max(1, cmd.ProcessState.ExitCode())
		}
	case program == "rm":
		for _, name := range words[1:] {
			if err := os.RemoveAll(name); err != nil {
				sh.t.Error(err)
			}
		}
	default:
		sh.t.Errorf("%s: no test runs this line: extend docShell, or list it in commandCases with a reason", line)
	}
	if to != "" {
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			sh.t.Fatal(err)
		}
		if err := os.WriteFile(to, stdout.Bytes(), 0o644); err != nil {
			sh.t.Fatal(err)
		}
		if stdout.Len() == 0 && code == 0 {
			sh.t.Errorf("%s: %s is empty", line, to)
		}
	}
	sh.output = stdout.String() + stderr.String()
	return code
}

// words takes a line apart at blanks outside of quotes, and puts the home
// folder of this test where the docs have "~" and "/home/ann".
func (sh *docShell) words(line string) (out []string) {
	for _, w := range regexp.MustCompile(`(?:"[^"]*"|'[^']*'|[^ "'])+`).FindAllString(line, -1) {
		if w[0] == '~' {
			w = sh.home + w[1:]
		}
		w = strings.ReplaceAll(w, "/home/ann", filepath.ToSlash(sh.home))
		out = append(out, strings.NewReplacer(`"`, "", `'`, "").Replace(w))
	}
	return out
}

// TestInlineCommands: commands and flags that the text of the docs names exist.
func TestInlineCommands(t *testing.T) {
	m := Rehome().cliModel()
	flags := map[string][]string{"help": {"--help"}}
	for _, n := range commands(m) {
		for _, f := range flagsOf(m, n) {
			flags[n.Name] = append(flags[n.Name], "--"+f.Name)
			if f.Short != 0 {
				flags[n.Name] = append(flags[n.Name], "-"+string(f.Short))
			}
		}
	}
	span := regexp.MustCompile("`rehome ([a-z][^`\n]*)`")
	seen := 0
	for _, page := range append(guides(t), "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md") {
		text, err := os.ReadFile(filepath.Join(filepath.Dir(golden.Path(t, "")), filepath.FromSlash(page)))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range span.FindAllStringSubmatch(string(text), -1) {
			words := strings.Fields(m[1])
			if flags[words[0]] == nil {
				t.Errorf("%s: %s: no such command", page, m[0])
			}
			for _, w := range words[1:] {
				if name, _, _ := strings.Cut(w, "="); strings.HasPrefix(w, "-") && w != "-" && !slices.Contains(flags[words[0]], name) {
					t.Errorf("%s: %s: no flag %s", page, m[0], w)
				}
			}
			seen++
		}
	}
	if seen < 30 {
		t.Errorf("only %d commands found", seen)
	}
}

// TestLinks: relative links in the README and the docs lead to a file, and to a
// heading of it.
func TestLinks(t *testing.T) {
	root := filepath.Dir(golden.Path(t, ""))
	link := regexp.MustCompile(`\]\(([^)#:]*)(#[^)]*)?\)`)
	code := regexp.MustCompile("`[^`\n]*`")
	heading := regexp.MustCompile(`(?m)^#+ (.*)$`)
	notInAnchor := regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
	seen := 0
	for _, page := range append(guides(t), "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md") {
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(page)))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(code.ReplaceAllString(string(text), ""), -1) {
			seen++
			target := filepath.Join(root, filepath.FromSlash(page))
			if m[1] != "" {
				target = filepath.Join(filepath.Dir(target), filepath.FromSlash(m[1]))
			}
			text, err := os.ReadFile(target)
			if err != nil {
				t.Errorf("%s: %s: %v", page, m[0], err)
				continue
			}
			anchors := []string{""}
			for _, h := range heading.FindAllStringSubmatch(string(text), -1) {
				anchors = append(anchors, "#"+strings.ReplaceAll(notInAnchor.ReplaceAllString(strings.ToLower(h[1]), ""), " ", "-"))
			}
			if !slices.Contains(anchors, m[2]) {
				t.Errorf("%s: %s: no such heading", page, m[0])
			}
		}
	}
	if seen < 40 {
		t.Errorf("only %d links found", seen)
	}
}

package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"rehome/cmd/internal/clitest"
	"rehome/cmd/internal/screen"
	"rehome/testdata/homes"
)

// onTerminal runs the program with stdout on a pseudo-terminal and returns what
// the person in front of it would be sent.
func onTerminal(t *testing.T, width, rows int, env map[string]string, args ...string) string {
	t.Helper()
	master, slave := terminal(t, width, rows)
	defer master.Close()
	sent := make(chan string)
	go func() {
		all, _ := io.ReadAll(master) // ends with an error when the last writer leaves
		sent <- string(all)
	}()
	var stderr strings.Builder
	code := run(t.Context(), args, slave, &stderr, func(name string) string { return env[name] })
	if err := slave.Close(); err != nil {
		t.Fatal(err)
	}
	if code != 0 || stderr.Len() > 0 {
		t.Errorf("%q: exit %d, stderr %q", args, code, stderr.String())
	}
	return strings.ReplaceAll(<-sent, "\r\n", "\n")
}

// TestTerminal: on terminals of both widths, with color and without, whatever
// titles and texts hold, lines keep to the width and nothing of them acts.
func TestTerminal(t *testing.T) {
	dir := t.TempDir()
	furnishSession(t, dir)
	path := filepath.Join(dir, "session.jsonl")
	hostile := filepath.Join(dir, "hostile.jsonl")
	for i, title := range []string{"\x1b]0;gotcha\a\x1b[2J", "\u202eltr \u2066oops", "👩\u200d🚀 emoji 🚀 日本", strings.Repeat("10 KB of title ", 700), strings.Repeat("x", 10<<10), "Zalgo\u0336\u0335 \u0000"} {
		s, messages, _ := sample()
		s.Title = title
		writeSession(t, hostile, s, messages, title)
		for _, width := range []int{80, 200} {
			for _, env := range []map[string]string{{"TERM": "xterm", "TZ": "UTC"}, {"TERM": "xterm", "NO_COLOR": "1"}, {"TERM": "dumb"}} {
				for _, src := range []string{path, hostile} {
					got := onTerminal(t, width, 24, env, "show", src, "--no-pager", "--thinking")
					if colored := strings.Contains(got, "\x1b["); colored != (len(env) == 2 && env["TZ"] != "") {
						t.Errorf("title %d, %v: color is %v", i, env, colored)
					}
					keepsTo(t, width, clitest.Bare(got))
				}
			}
		}
	}
}

func keepsTo(t *testing.T, width int, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		for _, r := range line {
			if r != 0x200d && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) {
				t.Fatalf("%U comes through: %q", r, line)
			}
		}
		if n := screen.Cells(screen.Safe(line)); n > width && !strings.Contains(line, "  rehome ") &&
			!strings.Contains(line, ": rehome ") { // a command to copy
			t.Errorf("%d of %d cells: %q", n, width, line)
		}
	}
}

// TestHelpOnTerminal: help keeps to the width of the terminal, and goes through
// the pager if it is longer than the screen.
func TestHelpOnTerminal(t *testing.T) {
	env := map[string]string{"TERM": "xterm", "PATH": os.Getenv("PATH"), "PAGER": "sed s/^/paged:/"}
	for _, n := range append(commands(Rehome().cliModel()), nil) {
		for _, width := range []int{60, 100} {
			for _, flag := range []string{"--help", "--help-all"} {
				args := []string{flag}
				if n != nil {
					args = []string{n.Name, flag}
				}
				got := clitest.Bare(onTerminal(t, width, 200, env, args...))
				if strings.Contains(got, "paged:") {
					t.Errorf("%q: paged on 200 rows", args)
				}
				for line := range strings.Lines(got) {
					if w := screen.Cells(screen.Safe(strings.TrimRight(line, "\n"))); w > width && !strings.HasPrefix(line, "  rehome ") &&
						!strings.HasPrefix(line, "  #") && !strings.HasPrefix(line, "  agent ") {
						t.Errorf("%q: %d of %d cells: %s", args, w, width, line)
					}
				}
			}
		}
	}
	if got := onTerminal(t, 100, 40, env, "convert", "--help-all"); strings.Count(got, "paged:") != strings.Count(got, "\n") {
		t.Error("long help is not paged")
	}
	if got := onTerminal(t, 100, 40, env, "convert", "--help"); strings.Contains(got, "paged:") {
		t.Error("help that fits is paged")
	}
}

// TestLsOnTerminal: a list fits on the screen, with the sessions of the current
// directory first, and says how to see the others; with --limit it is paged.
func TestLsOnTerminal(t *testing.T) {
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := homes.Make(home, homes.Count{Chats: 200, Subagents: 20}); err != nil {
		t.Fatal(err)
	}
	here := filepath.Join(home, "src", "project-07")
	for i := range 40 {
		if err := os.MkdirAll(filepath.Join(home, "src", fmt.Sprintf("project-%02d", i)), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(here)
	env := map[string]string{"HOME": home, "TERM": "xterm", "PATH": os.Getenv("PATH"), "PAGER": "sed s/^/paged:/"}
	for _, size := range [][2]int{{100, 40}, {60, 20}, {30, 15}} {
		colored := onTerminal(t, size[0], size[1], env, "ls")
		got := clitest.Bare(colored)
		keepsTo(t, size[0], got)
		lines := strings.Split(strings.TrimSuffix(got, "\n"), "\n")
		if len(lines) > size[1]-1 || len(lines) < size[1]-4 {
			t.Errorf("%d lines of %d:\n%s", len(lines), size[1], got)
		}
		if lines[1] != "This folder" || lines[8] != "" || lines[9] != "Other folders" || !strings.Contains(got, "; all: --limit 0") {
			t.Errorf("sections of\n%s", got)
		}
		if !strings.Contains(colored, "\x1b[36m"+homes.ID(167)[:8]+"\x1b[0m") ||
			strings.Contains(colored, "\x1b[38;5;66mcursor-cli") != (size[0] >= 50) || strings.Contains(got, "turns") != (size[0] >= 80) {
			t.Errorf("colors or columns of\n%q", colored)
		}
		if all := onTerminal(t, size[0], size[1], env, "ls", "--limit=0"); strings.Count(all, "paged:") != 224 {
			t.Errorf("%d lines were paged", strings.Count(all, "paged:"))
		}
	}
	long := onTerminal(t, 100, 40, env, "ls", "--long", "--project=.")
	if links := strings.Count(long, "\x1b]8;;file://"+here[:3]); links != 6 || !strings.Contains(clitest.Bare(long), "    id "+homes.ID(167)) {
		t.Errorf("%d links in\n%q", links, long)
	}
}

// TestPager: text that is longer than the screen goes through $PAGER, other
// text does not.
func TestPager(t *testing.T) {
	dir := t.TempDir()
	furnishSession(t, dir)
	path := filepath.Join(dir, "session.jsonl")
	env := map[string]string{"TERM": "xterm", "PATH": os.Getenv("PATH"), "PAGER": "sed s/^/paged:/", "NO_COLOR": "1"}
	for _, c := range []struct {
		rows  int
		args  []string
		paged bool
	}{
		{24, []string{"show", path}, true},
		{500, []string{"show", path}, false},
		{24, []string{"show", path, "--no-pager"}, false},
		{24, []string{"show", path, "--format", "markdown"}, true},
		{2, []string{"show", path, "--json"}, false},
	} {
		got := onTerminal(t, 80, c.rows, env, c.args...)
		lines := strings.Count(got, "\n")
		if n := strings.Count(got, "paged:"); c.paged && n != lines || !c.paged && n != 0 || lines < 10 {
			t.Errorf("%q on %d rows: %d of %d lines went through the pager\n%s", c.args, c.rows, n, lines, got)
		}
	}
	env["PAGER"] = "head -n 3" // somebody who leaves early
	if got := onTerminal(t, 80, 24, env, "show", path); strings.Count(got, "\n") != 3 {
		t.Errorf("got\n%s", got)
	}
	env["PAGER"] = filepath.Join(dir, "no such pager")
	if got := onTerminal(t, 80, 24, env, "show", path); strings.Count(got, "\n") < 30 {
		t.Errorf("without a pager that runs:\n%s", got)
	}
}

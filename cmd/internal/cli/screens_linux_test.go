package cli

import (
	"bytes"
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"rehome/cmd/internal/clitest"
	"rehome/golden"
	"rehome/testdata/homes"
	"rehome/testdata/vt"
)

// newcomer is somebody who tries rehome for the first time, in a home folder that
// has sessions of every client. Its path always has the same length, so that lines
// break at the same places.
type newcomer struct {
	t        *testing.T
	home     string
	width    int
	rows     int
	env      []string
	recorded bytes.Buffer
}

// visit is one command of the newcomer: the keys typed into its list, and its
// exit code.
type visit struct {
	args []string
	keys string
	code int
}

// visits is the walk through everything that a newcomer tries.
func visits() []visit {
	return []visit{
		{keys: "\x1b"},
		{args: []string{"help"}},
		{args: []string{"ls"}},
		{args: []string{"ls", "--help"}},
		{args: []string{"ls", "--long", "--limit", "3"}},
		{args: []string{"show", "flaky login"}},
		{args: []string{"show", "5d0b", "--turns", "9"}, code: 1},
		{args: []string{"search", "flaky"}},
		{args: []string{"search", "TestLogin", "--client", "cursor-cli"}},
		{args: []string{"search", "zeppelin"}, code: 1},
		{args: []string{"migrate", "5d0b", "--dry-run"}},
		{args: []string{"migrate", "flaky login"}},
		{args: []string{"migrate", "flaky login"}},
		{args: []string{"migrate", "flaky login", "--again", "--losses"}},
		{args: []string{"continue", "5d0b", "--print"}},
		{args: []string{"ls", "--project", "."}},
		{args: []string{"check"}, code: 4},
		{args: []string{"check", "5d0b"}},
		{args: []string{"check", "--explain", "rh303"}},
		{args: []string{"doctor"}},
		{args: []string{"backup", "kept"}},
		{args: []string{"backup", "kept"}},
		{args: []string{"redact", "../.cursor/chats", "shared", "--redact-paths"}},
		{args: []string{"redact", "5d0b"}, code: 2},
		{args: []string{"repair", "../.claude", "fixed"}},
		{args: []string{"merge", "../.cursor/chats", "shared", "both"}},
		{args: []string{"mv", ".", "../moved", "--dry-run"}},
		{args: []string{"mv", ".", "../moved"}},
		{args: []string{"undo"}},
		{args: []string{"formats"}},
		{args: []string{"lst"}, code: 2},
		{args: []string{"ls", "--limt", "3"}, code: 2},
		{args: []string{"show", "zeppelin"}, code: 2},
		{args: []string{"show", "0"}, code: 2},
		{args: []string{"--version"}},
	}
}

// TestScreens walks a newcomer through rehome, on a large and a small terminal and
// with stdout captured. Nothing is higher than the screen unless a pager shows it.
func TestScreens(t *testing.T) {
	for _, size := range [][2]int{{100, 40}, {60, 20}, {}} {
		name := fmt.Sprintf("%dx%d", size[0], size[1])
		if size[0] == 0 {
			name = "piped"
		}
		t.Run(name, func(t *testing.T) {
			n := newNewcomer(t, size[0], size[1])
			for _, v := range visits() {
				fmt.Fprintln(&n.recorded, strings.TrimSpace("$ rehome "+strings.Join(v.args, " ")))
				if size[0] == 0 {
					n.pipes(v)
				} else {
					n.tries(v)
				}
			}
			golden.Bytes(t, "screens/"+name+".txt", n.recorded.Bytes())
		})
	}
}

func newNewcomer(t *testing.T, width, rows int) *newcomer {
	t.Helper()
	home := fmt.Sprintf("/tmp/h%08d", rand.N(100_000_000))
	if err := os.Mkdir(home, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(home) })
	furnishAnn(t, home)
	furnishClaude(t, home)
	if err := homes.Make(home, homes.Count{Chats: 30, Subagents: 2}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, "bin", "less"), []byte("#!/bin/sh\nprintf '"+strings.ReplaceAll(paged, "\x1b", "\\033")+
		"'\ncat\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	n := &newcomer{t: t, home: home, width: width, rows: rows, env: []string{
		clitest.AsProgram + "=2026-11-20T18:00:00Z", "TERM=xterm-256color", "HOME=" + home, "TZ=UTC", "TMPDIR=" + t.TempDir(),
		"PATH=" + filepath.Join(home, "bin") + ":" + os.Getenv("PATH"),
	}}
	n.sortsChats()
	return n
}

// sortsChats renames the folders of chats, which are hashes of paths, so that their
// order is the same in each run.
func (n *newcomer) sortsChats() {
	n.t.Helper()
	metas, err := filepath.Glob(filepath.Join(n.home, ".cursor", "chats", "*", "*", "meta.json"))
	if err != nil {
		n.t.Fatal(err)
	}
	for _, meta := range metas {
		var m struct{ Cwd string }
		b, err := os.ReadFile(meta)
		if os.IsNotExist(err) {
			continue // renamed with another chat of its folder
		}
		if err == nil {
			err = json.Unmarshal(b, &m)
		}
		if err == nil {
			sum := md5.Sum([]byte(n.masked(m.Cwd)))
			from := filepath.Dir(filepath.Dir(meta))
			err = os.Rename(from, filepath.Join(filepath.Dir(from), hex.EncodeToString(sum[:])))
		}
		if err != nil {
			n.t.Fatal(err)
		}
	}
}

// paged is what the newcomer's pager begins with: a sequence that terminals ignore.
const paged = "\x1b]7777;paged\x1b\\"

// tries runs a command on the terminal, and records its screens.
func (n *newcomer) tries(v visit) {
	n.t.Helper()
	p := inFrontOf(n.t, n.width, n.rows, filepath.Join(n.home, "app"), n.env, nil, v.args...)
	if v.keys != "" {
		p.sees("esc quit")
		last := "add slow table 17" // on the screen of 20 lines
		if n.rows >= 40 {
			last = "Fixed." // the preview
		}
		p.sees(last)
		p.rests()
		p.mu.Lock()
		n.records(p.sent)
		p.mu.Unlock()
		fmt.Fprintf(&n.recorded, "[keys %q]\n", v.keys)
		p.types(v.keys)
	}
	p.ends(v.code)
	if high := n.records(p.sent); high > n.rows {
		n.t.Errorf("%q: %d lines on a screen of %d without a pager", v.args, high, n.rows)
	}
	n.exits(v)
}

// records draws what the terminal got, of paged text the first screen, and returns how
// many rows it takes.
func (n *newcomer) records(sent []byte) int {
	screen := vt.Screen{Rows: n.rows, Columns: n.width}
	screen.Write([]byte(n.masked(string(sent))))
	lines := strings.SplitAfter(screen.Marked(), "\n")
	lines = lines[:len(lines)-1]
	if strings.Contains(string(sent), paged) {
		if len(lines) < n.rows {
			n.t.Errorf("a pager for %d lines on a screen of %d:\n%s", len(lines), n.rows, strings.Join(lines, ""))
		}
		lines = append(lines[:min(n.rows-1, len(lines))], ":\n")
	}
	for _, line := range lines {
		n.recorded.WriteString("| " + line)
	}
	return len(lines)
}

// pipes runs a command in a script, which reads its stdout.
func (n *newcomer) pipes(v visit) {
	n.t.Helper()
	var stdout, stderr strings.Builder
	cmd := exec.Command(os.Args[0], v.args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = filepath.Join(n.home, "app"), n.env, &stdout, &stderr
	if err := cmd.Run(); cmd.ProcessState.ExitCode() != v.code {
		n.t.Errorf("%q: %v, want exit %d: %s", v.args, err, v.code, stderr.String())
	}
	for line := range strings.Lines(n.masked(stdout.String())) {
		n.recorded.WriteString("| " + strings.ReplaceAll(line, "\t", "→"))
	}
	for line := range strings.Lines(n.masked(stderr.String())) {
		n.recorded.WriteString("2| " + line)
	}
	n.exits(v)
}

func (n *newcomer) exits(v visit) {
	if v.code != 0 {
		fmt.Fprintf(&n.recorded, "exit %d\n", v.code)
	}
}

// masked replaces what differs between runs by text of the same length.
func (n *newcomer) masked(s string) string {
	dashed := func(path string) string { return strings.ReplaceAll(path, "/", "-") }
	s = strings.NewReplacer(n.home, "/home/newcomer", dashed(n.home), "-home-newcomer").Replace(s)
	for _, v := range []string{`(\d{4}-\d\d-\d\dT\d{6}Z)`, `claude --resume ([0-9a-f-]{36})`, `-home-newcomer-app/([0-9a-f-]{36})`} {
		re := regexp.MustCompile(v)
		s = re.ReplaceAllStringFunc(s, func(hit string) string {
			at := re.FindStringSubmatchIndex(hit)
			return hit[:at[2]] + strings.Repeat("0", at[3]-at[2]) + hit[at[3]:]
		})
	}
	return s
}

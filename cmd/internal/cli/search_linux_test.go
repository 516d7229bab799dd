package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rehome/cmd/internal/clitest"
)

// TestSearchOnTerminal: matches stand under their sessions, are highlighted, keep to the
// width, and go through the pager as soon as they fill the screen.
func TestSearchOnTerminal(t *testing.T) {
	dir := t.TempDir()
	for i, prompts := range [][]string{{"a \x1b[2Jneedle in hay", strings.Repeat("left ", 50) + "needle" + strings.Repeat(" right", 50)}, {"needle", "needle", "needle", "needle", "needle", "needle", "needle"}} {
		id := fmt.Sprintf("%da000000-0000-4000-8000-000000000001", i+1)
		var b strings.Builder
		for n, text := range prompts {
			fmt.Fprintf(&b, `{"type":"user","uuid":"u%d","sessionId":"%s","cwd":"/home/ann/app","timestamp":"2026-01-0%dT00:00:00.000Z","message":{"role":"user","content":"%s"}}`+"\n", n, id, 2-i, strings.ReplaceAll(text, "\x1b", `\u001b`))
		}
		if err := os.WriteFile(filepath.Join(dir, id+".jsonl"), []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want := `1a000000  a \x1b[2Jneedle in hay                claude-code  /home/ann/app  2026-01-02
  turn 1    prompt    a \x1b[2Jneedle in hay
  turn 2    prompt    …left left left left needle right right right right right right…

2a000000  needle                                claude-code  /home/ann/app  2026-01-01
  turn 1    prompt    needle
  turn 2    prompt    needle
  turn 3    prompt    needle
  turn 4    prompt    needle
  turn 5    prompt    needle
  and 2 more (--all)

11 matches in 2 sessions; to read or continue the first:
  rehome show STORE#1a000000-0000-4000-8000-000000000001 --turns 1
  rehome continue STORE#1a000000-0000-4000-8000-000000000001
`
	want = strings.ReplaceAll(want, "STORE", dir)
	env := map[string]string{"TERM": "xterm", "PATH": os.Getenv("PATH")}
	got := onTerminal(t, 86, 40, env, "search", "NEEDLE", "-i", "--path", dir)
	if clitest.Bare(got) != want {
		t.Errorf("got\n%s\nwant\n%s", clitest.Bare(got), want)
	}
	if strings.Count(got, "\x1b[1m\x1b[31mneedle\x1b[0m") != 7 {
		t.Errorf("highlights: %q", got)
	}
	for _, width := range []int{60, 100} {
		got := onTerminal(t, width, 40, env, "search", "needle", "--path", dir, "--all")
		keepsTo(t, width, clitest.Bare(got))
		if n := strings.Count(got, "  prompt  "); n != 9 {
			t.Errorf("%d matches at width %d:\n%s", n, width, got)
		}
	}
	if got := clitest.Bare(onTerminal(t, 100, 40, env, "search", "-l", "needle", "--path", dir)); strings.Count(got, "prompt") > 0 ||
		strings.Count(got, "claude-code") != 2 {
		t.Errorf("sessions only:\n%s", got)
	}
	env["PAGER"] = "cat"
	got = onTerminal(t, 100, 6, env, "search", "needle", "--path", dir, "--all")
	screens := strings.Split(got, "\x1b[5A\x1b[J")
	if len(screens) != 2 || !strings.HasPrefix(screens[1], screens[0]) || strings.Count(screens[1], "  prompt  ") != 9 {
		t.Errorf("with a pager:\n%q", got)
	}
}

// TestSearchTitles: sessions of which only the title matches stand one below the other.
func TestSearchTitles(t *testing.T) {
	dir := t.TempDir()
	for i := range 3 {
		id := fmt.Sprintf("%da000000-0000-4000-8000-000000000001", i+1)
		text := `{"type":"user","uuid":"u","sessionId":"ID","cwd":"/home/ann/app","timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"user","content":"hay"}}` + "\n" +
			`{"type":"custom-title","customTitle":"a needle","sessionId":"ID"}` + "\n"
		if err := os.WriteFile(filepath.Join(dir, id+".jsonl"), []byte(strings.ReplaceAll(text, "ID", id)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got := clitest.Bare(onTerminal(t, 100, 40, map[string]string{"TERM": "xterm"}, "search", "needle", "--path", dir))
	lines := strings.Split(got, "\n")
	if len(lines) < 6 || lines[3] != "" || !strings.HasPrefix(lines[4], "3 matches in 3 sessions") {
		t.Errorf("got\n%s", got)
	}
}

// TestSearchProgress: progress is shown until the first match, and then removed.
func TestSearchProgress(t *testing.T) {
	home := chatHome(t)
	secondChat(t, home)
	p := inFront(t, 100, 40, home, nil, "search", "ten fails")
	p.ends(1) // it is a phrase, which nobody wrote
	if !strings.Contains(string(p.sent), "\r\x1b[Ksearching ") || !strings.Contains(string(p.sent), "100%") ||
		strings.Contains(p.text(), "searching") {
		t.Errorf("without a match: %q", p.sent)
	}
	p = inFront(t, 100, 40, home, nil, "search", "one run in ten")
	p.ends(0)
	if strings.Contains(p.text(), "searching") || !strings.Contains(p.text(), "to read or continue") {
		t.Errorf("with a match:\n%s", p.text())
	}
}

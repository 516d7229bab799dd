package cli

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// exported returns the names of the files in a folder.
func exported(t *testing.T, dir string) (names []string) {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names
}

// TestShowOut: a folder of stores becomes a Markdown file for each session, which
// the next run leaves as they are, and which nothing overwrites unasked.
func TestShowOut(t *testing.T) {
	dir := t.TempDir()
	furnishSession(t, dir)
	two, out := filepath.Join(dir, "two"), filepath.Join(dir, "notes", "of", "ann")
	stdout, stderr, code := call(t, "show", two, "--out", out)
	want := []string{"2026-01-01-1200-fix-the-31mflaky-test-5d0b2b7e.md", "2026-01-01-1200-mend-the-31mflaky-test-77777777.md"}
	if got := exported(t, out); code != 0 || stdout != "✓ wrote 2 sessions to "+out+"\n" || !slices.Equal(got, want) {
		t.Fatalf("exit %d, %q: %s%s", code, got, stdout, stderr)
	}
	page, _, _ := call(t, "show", filepath.Join(dir, "two")+"#77777777", "--format", "markdown")
	file := filepath.Join(out, want[1])
	text, err := os.ReadFile(file)
	if err != nil || strings.ReplaceAll(string(text), two+"/cursor-cli/77777777.jsonl", two) != strings.ReplaceAll(page, two+"/cursor-cli/77777777.jsonl", two) {
		t.Errorf("%v\n%s\nwant\n%s", err, text, page)
	}
	if stdout, _, code := call(t, "show", two, "--out", out); code != 0 || stdout != "✓ "+out+" is up to date, 2 unchanged\n" {
		t.Errorf("exit %d: %s", code, stdout)
	}
	if err := os.WriteFile(file, []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(out, want[0])); err != nil {
		t.Fatal(err)
	}
	if stdout, stderr, code := call(t, "show", two, "--out", out); code != 1 || stdout != "" || !strings.Contains(stderr, want[1]+": file exists\n  hint: nothing was written; pass --replace") {
		t.Errorf("exit %d: %s%s", code, stdout, stderr)
	}
	if text, _ := os.ReadFile(file); string(text) != "mine" || len(exported(t, out)) != 1 {
		t.Errorf("%q was written over, or something else was written: %q", text, exported(t, out))
	}
	if stdout, stderr, code := call(t, "show", two, "--out", out, "--replace"); code != 0 || stdout != "✓ wrote 2 sessions to "+out+"\n" || !slices.Equal(exported(t, out), want) {
		t.Errorf("exit %d: %s%s", code, stdout, stderr)
	}
}

// TestShowSelected: the flags of ls select sessions of a folder, or of the machine.
func TestShowSelected(t *testing.T) {
	dir := t.TempDir()
	furnishSession(t, dir)
	two := filepath.Join(dir, "two")
	for _, c := range []struct {
		args []string
		n    int
		why  string
	}{
		{[]string{"--client", "cursor-cli"}, 2, ""}, {[]string{"--client", "cursor", "--project", "/home/ann"}, 2, ""},
		{[]string{"--project", "/home/bob"}, 0, "no such folder"}, {[]string{"--project", dir}, 0, "no sessions found"},
		{[]string{"--since", "2025-12-31"}, 2, ""}, {[]string{"--since", "2026-02-01"}, 0, "no sessions found"},
	} {
		stdout, stderr, code := call(t, append([]string{"show", two, "--turns", "3"}, c.args...)...)
		if n := strings.Count(stdout, "── turn 3"); n != c.n || (code == 0) != (n > 0) || !strings.Contains(stderr, c.why) {
			t.Errorf("%q: exit %d, %d sessions: %s", c.args, code, n, stderr)
		}
	}
	both, _, code := call(t, "show", filepath.Join(dir, "session.jsonl"), two+"#77777777", "--turns", "3")
	if code != 0 || strings.Count(both, "── turn 3") != 2 || !strings.Contains(both, "\n\nMend the") {
		t.Errorf("exit %d:\n%s", code, both)
	}
	one, stderr, code := call(t, "show", two, "--client", "cursor-cli", "--turns", "9")
	if code != 1 || one != "" || strings.Count(stderr, "the session has 3 turns") != 2 {
		t.Errorf("exit %d: %s%s", code, one, stderr)
	}
}

// TestShowOutTwins: sessions of one store that have the same id get a file each.
func TestShowOutTwins(t *testing.T) {
	dir, out := t.TempDir(), t.TempDir()
	const id = "1a000000-0000-4000-8000-000000000001"
	for _, project := range []string{"-home-ann-app", "-home-bob-app"} {
		file := filepath.Join(dir, ".claude", "projects", project, id+".jsonl")
		line := `{"type":"user","uuid":"u1","sessionId":"` + id + `","cwd":"` + strings.ReplaceAll(project, "-", "/") + `","timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"user","content":"in ` + project + `"}}` + "\n"
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(line), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, ".claude", "history.jsonl"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if stdout, stderr, code := call(t, "show", filepath.Join(dir, ".claude"), "--out", out); code != 0 || len(exported(t, out)) != 2 {
		t.Errorf("exit %d, %q: %s%s", code, exported(t, out), stdout, stderr)
	}
}

// TestShowOutNames: whatever a session is called, its file is in the folder, and
// two sessions never share one.
func TestShowOutNames(t *testing.T) {
	dir := t.TempDir()
	var list []string
	for i, title := range []string{"../../etc/passwd", "", "con", "a/b\\c:d*e?", strings.Repeat("日本語", 100), "\x00\xff\u202e", ".hidden", "Ünïcode Ω"} {
		s, messages, _ := sample()
		s.Title, s.ID = title, "5d0b2b7e-0000-4000-8000-00000000000"+string(rune('0'+i/2))
		path := filepath.Join(dir, "s"+string(rune('0'+i))+".jsonl")
		writeSession(t, path, s, messages, title)
		list = append(list, path)
	}
	out := filepath.Join(dir, "out")
	if _, stderr, code := call(t, append([]string{"show", "--out", out}, list...)...); code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	names := exported(t, out)
	if len(names) != len(list) {
		t.Errorf("%d files of %d sessions: %q", len(names), len(list), names)
	}
	for _, name := range names {
		if !strings.HasPrefix(name, "2026-01-01-1200-") || !strings.HasSuffix(name, ".md") || len(name) > 200 || strings.ContainsAny(name, "/\\:*?\x00") {
			t.Errorf("%q", name)
		}
	}
}

// TestShowOutFails: a session that cannot be read is reported, and the others are
// written.
func TestShowOutFails(t *testing.T) {
	dir := t.TempDir()
	furnishSession(t, dir)
	short := filepath.Join(dir, "short.jsonl")
	s, messages, _ := sample()
	s.ID = "88888888"
	writeSession(t, short, s, messages[:2], "short")
	out := filepath.Join(dir, "out")
	stdout, stderr, code := call(t, "show", filepath.Join(dir, "session.jsonl"), short, "--turns", "2", "--out", out)
	if names := exported(t, out); code != 1 || len(names) != 1 || !strings.Contains(stdout, "wrote "+filepath.Join(out, names[0])) || !strings.Contains(stderr, "short.jsonl") || !strings.Contains(stderr, "the session has 1 turn") {
		t.Errorf("exit %d: %q %s%s", code, names, stdout, stderr)
	}
	for _, args := range [][]string{{"--json"}, {"--format", "json"}} {
		if _, _, code := call(t, append([]string{"show", short, "--out", out}, args...)...); code != 2 {
			t.Errorf("%q: exit %d", args, code)
		}
	}
	if _, stderr, code := call(t, "show", "-", short); code != 2 || !strings.Contains(stderr, "- cannot be combined") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}

// TestFileIDs: names have the part of an id that ls shows, or more where that is shared.
func TestFileIDs(t *testing.T) {
	const agent, alike = "agent-7e855a8f-feb9-4628-8e9d-78780973ae9a", "5d0b2b7e-1111-4000-8000-00000000000"
	list := []source{{session: agent}, {session: alike + "1"}, {session: alike + "2"}, {session: "odd"}}
	got := fileIDs(list)
	for i, want := range []string{"7e855a8f", alike + "1", alike + "2", "odd"} {
		if got[list[i]] != want {
			t.Errorf("%s: %q, want %q", list[i].session, got[list[i]], want)
		}
	}
}

package cli

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestQuietAndVerbose: -q keeps reports back, but not what was asked for; -v
// is the detail that a command has.
func TestQuietAndVerbose(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	furnish(t, dir)
	for _, c := range []struct {
		args   []string
		prints bool
	}{
		{[]string{"check", "chat", "-q"}, false}, {[]string{"convert", "chat/store.db", "text", "--to", "archive", "-q"}, false},
		{[]string{"migrate", "chat/store.db", "--cwd", ".", "--claude-dir", "claude", "-q"}, false},
		{[]string{"ls", ".", "-q"}, true}, {[]string{"show", "chat", "-q"}, true}, {[]string{"formats", "-q"}, true}, {[]string{"version", "--quiet"}, true},
	} {
		stdout, stderr, code := call(t, c.args...)
		if code != 0 || stderr != "" || (stdout != "") != c.prints {
			t.Errorf("%q: exit %d, %s%s", c.args, code, stdout, stderr)
		}
	}
	for long, args := range map[string][]string{"--long": {"ls", "chat"}, "--notes": {"check", "chat"}} {
		short, _, _ := call(t, args...)
		want, _, _ := call(t, append(args, long)...)
		if got, stderr, _ := call(t, append(args, "-v")...); got != want || got == short || want == "" {
			t.Errorf("%q -v: %s%s", args, got, stderr)
		}
	}
}

// TestOldNames: flags that were renamed are still understood, and not shown.
func TestOldNames(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	furnish(t, dir)
	for _, args := range [][]string{
		{"convert", "chat/store.db", "out", "--to", "canonical", "--workspace", "/proj/demo"}, {"convert", "chat/store.db", "more", "--to", "canonical", "--branches"},
		{"migrate", "chat/store.db", "--cwd", ".", "--claude-dir", "claude", "--full-history"},
		{"migrate", "chat/store.db", "--cwd", ".", "--claude-dir", "other", "--thinking", "drop"},
		{"ls", ".", "--agent", "cursor-cli"}, {"show", "chat", "--branches"},
	} {
		if _, stderr, code := call(t, args...); code != 0 {
			t.Errorf("%q: exit %d: %s", args, code, stderr)
		}
		help, _, _ := call(t, args[0], "--help-all")
		for _, word := range args {
			if old := word == "--workspace" || word == "--branches" || word == "--full-history" || word == "--agent"; old && strings.Contains(help, word) {
				t.Errorf("%s --help-all shows %s", args[0], word)
			}
		}
	}
	kept, _, _ := call(t, "show", filepath.Join(dir, "claude"), "--thinking")
	if !strings.Contains(kept, "Need to look at the file.") {
		t.Error("the reasoning is not kept")
	}
	if _, stderr, code := call(t, "migrate", "chat/store.db", "--cwd", ".", "--claude-dir", "third", "--no-thinking"); code != 0 {
		t.Errorf("exit %d: %s", code, stderr)
	}
	for _, at := range []string{"other", "third"} {
		if got, _, code := call(t, "show", filepath.Join(dir, at), "--thinking"); code != 0 || strings.Contains(got, "Need to look at the file.") {
			t.Errorf("%s: exit %d: the reasoning is there", at, code)
		}
	}
}

package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestWelcomeInEmptyHome: where there are no sessions, rehome says where it
// looked, and its suggestions work.
func TestWelcomeInEmptyHome(t *testing.T) {
	env := map[string]string{homeVariable(): t.TempDir(), "TMPDIR": t.TempDir()}
	stdout, stderr, code := callWith(t, t.Context(), env)
	if code != 0 || stderr != "" || !strings.Contains(stdout, "\n  ~/.claude (does not exist)\n") || !strings.Contains(stdout, "\n  rehome demo ") {
		t.Errorf("exit %d: %s%s", code, stdout, stderr)
	}
	if n := strings.Count(stdout, "\n"); n >= 20 {
		t.Errorf("%d lines", n)
	}
	for _, suggested := range []string{"help", "ls"} {
		if stdout, stderr, code := callWith(t, t.Context(), env, suggested); code != 0 {
			t.Errorf("%s: exit %d: %s%s", suggested, code, stdout, stderr)
		}
	}
	stdout, _, _ = callWith(t, t.Context(), env, "--json")
	checkJSON(t, []string{"--json"}, []byte(stdout))
	if !strings.Contains(stdout, `"sessions": 0`) || !strings.Contains(stdout, `.claude"`) {
		t.Error(stdout)
	}
}

// TestWelcomeExample: the example is a session of the working directory, if it
// has one, and can be shown.
func TestWelcomeExample(t *testing.T) {
	home := t.TempDir()
	furnishAnn(t, home)
	env := map[string]string{homeVariable(): home}
	t.Chdir(filepath.Join(home, "app"))
	stdout, stderr, code := callWith(t, t.Context(), env)
	_, rest, _ := strings.Cut(stdout, "  rehome show ")
	id, _, ok := strings.Cut(rest, " ")
	if code != 0 || stderr != "" || !ok {
		t.Fatalf("exit %d: %s%s", code, stdout, stderr)
	}
	if doc, _, _ := callWith(t, t.Context(), env, "--json"); strings.Contains(doc, `"sessions": 0`) {
		t.Error(doc)
	} else {
		checkJSON(t, []string{"--json"}, []byte(doc))
	}
	if out, stderr, code := callWith(t, t.Context(), env, "show", id); code != 0 || !strings.Contains(out, filepath.Join(home, "app")) {
		t.Errorf("show %s: exit %d: %s%s", id, code, out, stderr)
	}
}

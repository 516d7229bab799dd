package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestBashCompletes asks bash itself, on a machine that has sessions.
func TestBashCompletes(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Fatal(err)
	}
	script, _, _ := call(t, "completion", "bash")
	dir, bin, home := t.TempDir(), t.TempDir(), t.TempDir()
	furnishAnn(t, home)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(bin, "rehome")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a file", "store.db"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for line, want := range map[string]string{
		"show --tools = f": "full",
		"show --format=":   "text markdown json",
		"--color a":        "auto always",
		"show 5d":          "5d0b2b7e",
		"show st":          "store.db",
		"show a":           "a file",
		"co":               "continue convert completion",
	} {
		words := append([]string{"rehome"}, strings.Split(strings.ReplaceAll(line, "=", " = "), " ")...)
		if strings.HasSuffix(line, "=") {
			words = words[:len(words)-1]
		}
		var quoted []string
		quote := func(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
		for _, w := range words {
			if w != "" || len(quoted) == len(words)-1 {
				quoted = append(quoted, quote(w))
			}
		}
		test := script + "COMP_WORDS=(" + strings.Join(quoted, " ") + "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _rehome; echo \"${COMPREPLY[*]}\"\n"
		cmd := exec.Command(bash, "--norc", "-c", test)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), asProgram+"=1", "HOME="+home, "PATH="+bin+":"+os.Getenv("PATH"))
		out, err := cmd.CombinedOutput()
		if got := strings.TrimSpace(string(out)); err != nil || got != want {
			t.Errorf("rehome %s: %q, want %q (%v)", line, got, want, err)
		}
	}
}

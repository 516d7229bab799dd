package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestBashCompletes asks bash itself, with a rehome that knows two sessions.
func TestBashCompletes(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Fatal(err)
	}
	script, _, _ := call(t, "completion", "bash")
	dir := t.TempDir()
	for _, name := range []string{"a file", "store.db"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for line, want := range map[string]string{
		"co":                        "continue convert completion",
		"show --to":                 "--tools",
		"show --tools ":             "brief full none",
		"show --tools = f":          "full",
		"show --format=":            "text markdown json",
		"convert --to archi":        "archive",
		"convert --allow m":         "missing",
		"--color a":                 "auto always",
		"ls --color n":              "never",
		"show 5d":                   "5d0b2b7e",
		"show st":                   "store.db",
		"show a":                    "a file",
		"schema canon":              "canonical-1",
		"completion ":               "bash zsh fish powershell",
		"convert --jobs ":           "",
		"convert store.db --qu":     "--quiet",
		"convert --compress gzip s": "store.db",
	} {
		words := append([]string{"rehome"}, strings.Split(strings.ReplaceAll(line, "=", " = "), " ")...)
		if strings.HasSuffix(line, "=") {
			words = words[:len(words)-1]
		}
		var quoted []string
		for _, w := range words {
			if w != "" || len(quoted) == len(words)-1 {
				quoted = append(quoted, singleQuoted(w))
			}
		}
		test := script + "\nrehome() { if [[ $1 == __complete ]]; then echo 5d0b2b7e; echo 777; fi; }\n" +
			"COMP_WORDS=(" + strings.Join(quoted, " ") + "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _rehome; echo \"${COMPREPLY[*]}\"\n"
		cmd := exec.Command(bash, "--norc", "-c", test)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if got := strings.TrimSpace(string(out)); err != nil || got != want {
			t.Errorf("rehome %s: %q, want %q (%v)", line, got, want, err)
		}
	}
}

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestTextconv follows the recipe for git diff with the real git: a changed prompt is
// shown as rehome show prints it, and as JSON with --no-textconv.
func TestTextconv(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(checkout(t), "docs", "recipes.md"))
	if err != nil {
		t.Fatal(err)
	}
	shown := shownCommands(t, "docs/recipes.md")
	sh := newDocShell(t)
	bin := t.TempDir()
	write(t, "#!/bin/sh\nexec '"+filepath.ToSlash(self)+"' \"$@\"\n", bin, "rehome")
	t.Setenv("PATH", bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	t.Setenv(asProgram, "1")
	write(t, regexp.MustCompile(`(?m)^.* diff=rehome$`).FindString(string(page))+"\n", ".gitattributes")
	steps := []string{"rehome convert ~/.cursor/chats sessions --to canonical", "git add .", "git commit --quiet -m Sessions"}
	for _, c := range shown {
		if strings.HasPrefix(c.text, "git config diff.rehome.") {
			steps = append(steps, c.text)
		}
	}
	if len(steps) != 4 {
		t.Fatalf("%q: want one git config in docs/recipes.md", steps)
	}
	for _, step := range steps {
		if code := sh.run(step); code != 0 {
			t.Fatalf("%s: exit status %d\n%s", step, code, sh.output)
		}
	}
	files, err := filepath.Glob("sessions/*/*.jsonl")
	if err != nil || len(files) != 1 {
		t.Fatalf("%q, %v", files, err)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	write(t, strings.Replace(string(text), "about one run in ten", "in every run", 1), files[0])
	const removed, added = "\n-> TestLogin fails about one run in ten.", "\n+> TestLogin fails in every run."
	if code := sh.run("git diff"); code != 0 || !strings.Contains(sh.output, removed) || !strings.Contains(sh.output, added) || strings.Contains(sh.output, `{"`) {
		t.Errorf("git diff: exit status %d\n%s", code, sh.output)
	}
	if code := sh.run("git diff --no-textconv"); code != 0 || !strings.Contains(sh.output, "\n+{\"") {
		t.Errorf("git diff --no-textconv: exit status %d\n%s", code, sh.output)
	}
}

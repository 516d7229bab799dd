package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestCompletionScripts: every script is one that its shell can read, where
// that shell is at hand, and knows every command, flag, and word that a flag
// takes.
func TestCompletionScripts(t *testing.T) {
	dir := t.TempDir()
	for shell, check := range map[string][]string{
		"bash": {"bash", "-n"}, "zsh": {"zsh", "-n"}, "fish": {"fish", "-n"},
		"powershell": {"pwsh", "-NoProfile", "-File"},
	} {
		script, stderr, code := call(t, "completion", shell)
		if code != 0 || stderr != "" {
			t.Fatalf("%s: exit %d, stderr %q", shell, code, stderr)
		}
		path := filepath.Join(dir, "rehome."+shell+".ps1")
		if err := os.WriteFile(path, []byte(script), 0o644); err != nil {
			t.Fatal(err)
		}
		if program, err := exec.LookPath(check[0]); err == nil {
			if out, err := exec.Command(program, append(check[1:], path)...).CombinedOutput(); err != nil || len(out) > 0 {
				t.Errorf("%s does not take its script: %v\n%s", shell, err, out)
			}
		}
		contains := func(what, word string) {
			if !strings.Contains(script, word) {
				t.Errorf("%s: %s is not in the script", shell, what)
			}
		}
		m := cliModel()
		for _, n := range commands(m) {
			contains(n.Name, n.Name)
			for _, f := range flagsOf(m, n) {
				if flag := "--" + f.Name; shell == "fish" {
					contains(flag, " -l "+f.Name+" ")
				} else {
					contains(flag, flag)
				}
				for _, w := range flagCompletion(f).words {
					contains("--"+f.Name+" "+w, w)
				}
			}
		}
		if strings.Contains(script, "'__complete") || strings.Contains(script, "$'\\'") {
			t.Errorf("%s: what is hidden is offered", shell)
		}
	}
}

// TestPlainWord: an id that a shell would act on is not offered to it.
func TestPlainWord(t *testing.T) {
	for in, want := range map[string]bool{"5d0b2b7e": true, "agent-5d0b.x_y": true, "": false, "-rf": false, "$(id)": false, "a b": false, "a;b": false, "a\nb": false, "`id`": false, "日本": false} {
		if isPlainWord(in) != want {
			t.Errorf("%q: %v", in, !want)
		}
	}
}

// TestManual: the page holds every command, flag and exit code, and nothing in
// it is taken for a macro that is not ours.
func TestManual(t *testing.T) {
	page, stderr, code := call(t, "man")
	if code != 0 || stderr != "" {
		t.Fatalf("exit %d, stderr %q", code, stderr)
	}
	m := cliModel()
	for _, n := range commands(m) {
		if !strings.Contains(page, "\n.SS rehome "+roff(n.Name)) {
			t.Errorf("%s is not in the manual", n.Name)
		}
		for _, f := range flagsOf(m, n) {
			if !strings.Contains(page, `\fB\-\-`+roff(f.Name)+`\fR`) {
				t.Errorf("%s --%s is not in the manual", n.Name, f.Name)
			}
		}
	}
	for _, o := range exitStatuses() {
		if !strings.Contains(page, "\n"+roff(o.meaning)+"\n") {
			t.Errorf("%q is not in the manual", o.meaning)
		}
	}
	for line := range strings.Lines(page) {
		word, _, _ := strings.Cut(strings.TrimRight(line, "\n"), " ")
		if macros := ".TH .SH .SS .TP .PP .B .BR .I .nf .fi .\\\""; (line[0] == '.' || line[0] == '\'') && !strings.Contains(" "+macros+" ", " "+word+" ") {
			t.Errorf("%q is taken for a macro", line)
		}
	}
	if groff, err := exec.LookPath("groff"); err == nil {
		cmd := exec.Command(groff, "-man", "-Tutf8", "-ww", "-z")
		cmd.Stdin = strings.NewReader(page)
		if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("groff: %v\n%s", err, out)
		}
	}
}

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"rehome/golden"
)

// TestReadme keeps what the README and docs print true: each block between
// <!-- rehome ARGS --> and <!-- end --> is what that command prints.
// `make golden` rewrites them.
func TestReadme(t *testing.T) {
	t.Setenv("COLUMNS", "")
	block := regexp.MustCompile("(?s)<!-- rehome ([a-z -]+) -->\n```text\n.*?```\n<!-- end -->")
	found := 0
	for _, name := range []string{"README.md", "docs/command-line.md"} {
		path := filepath.Join("..", "..", filepath.FromSlash(name))
		old, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		fresh := block.ReplaceAllStringFunc(string(old), func(s string) string {
			found++
			args := block.FindStringSubmatch(s)[1]
			stdout, stderr, code := call(t, strings.Fields(args)...)
			if code != 0 {
				t.Errorf("%s: rehome %s: exit %d: %s", name, args, code, stderr)
			}
			return fmt.Sprintf("<!-- rehome %s -->\n```text\n%s```\n<!-- end -->", args, stdout)
		})
		if fresh == string(old) {
			continue
		}
		if !golden.Updating() {
			t.Errorf("%s shows what the program no longer prints; make golden rewrites it\n%s", name, golden.Diff(old, []byte(fresh)))
			continue
		}
		if err := os.WriteFile(path, []byte(fresh), 0o644); err != nil {
			t.Fatal(err)
		}
		t.Logf("golden: %s rewritten", name)
	}
	if found != 13 {
		t.Errorf("%d blocks found in README and docs, want the format table and 12 pages of help", found)
	}
}

// TestReadmeCommands: every command line that the README and the guides show
// is one that the program understands.
func TestReadmeCommands(t *testing.T) {
	seen, root := 0, filepath.Dir(golden.Path(t, ""))
	for _, name := range []string{"README.md", "CHANGELOG.md", "CONTRIBUTING.md", "docs/command-line.md"} {
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			line, ok := strings.CutPrefix(strings.TrimSpace(line), "rehome ")
			if !ok {
				continue
			}
			line, _, _ = strings.Cut(line, " > ")
			line, _, _ = strings.Cut(line, " | ")
			line, _, _ = strings.Cut(line, "  #")
			args := strings.Fields(line)
			if !slices.Contains([]string{"convert", "ls", "show", "detect", "formats", "schema", "demo", "version", "completion", "man"}, args[0]) {
				continue // prose
			}
			seen++
			// --help is answered before the rest is judged, so the words are
			// held against a source that does not exist instead.
			for i, a := range args {
				if i > 0 && !strings.HasPrefix(a, "-") && strings.ContainsAny(a, "/.~") {
					args[i] = filepath.Join(t.TempDir(), "nowhere")
				}
			}
			if args[0] == "demo" {
				continue
			}
			t.Chdir(t.TempDir())
			if _, stderr, code := call(t, args...); code == 80 {
				t.Errorf("%s: rehome %s: %s", name, line, stderr)
			}
		}
	}
	if seen < 10 {
		t.Errorf("only %d command lines found", seen)
	}
}

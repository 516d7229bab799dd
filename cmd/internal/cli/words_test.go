package cli

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"rehome/formats/rule"
	"rehome/golden"
)

// retired is a phrase that no text for people uses any more.
type retired struct {
	pattern *regexp.Regexp
	instead string
	example string
}

// retiredWords reads testdata/words/retired.tsv.
func retiredWords(t *testing.T) (out []retired) {
	t.Helper()
	text, err := os.ReadFile("testdata/words/retired.tsv")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(f) != 3 {
			t.Fatalf("retired.tsv: %q: want a pattern, what to write instead, and an example", line)
		}
		out = append(out, retired{regexp.MustCompile("(?i)" + f[0]), f[1], f[2]})
	}
	return out
}

// TestRetired: each pattern matches its example.
func TestRetired(t *testing.T) {
	for _, r := range retiredWords(t) {
		if !r.pattern.MatchString(r.example) {
			t.Errorf("%s does not match its example %q", r.pattern, r.example)
		}
		if r.pattern.MatchString(r.instead) {
			t.Errorf("%s matches what to write instead: %q", r.pattern, r.instead)
		}
	}
}

// TestWords: rules, losses, help, errors, schemas, docs, and the descriptions of
// packages, hooks and targets use no retired phrase. Documents and packages that
// still do are listed in testdata/words/pending.txt, a list that only gets shorter:
// what is clean must not stay in it, and `make golden` removes it.
func TestWords(t *testing.T) {
	const list = "testdata/words/pending.txt"
	text, err := os.ReadFile(list)
	if err != nil {
		t.Fatal(err)
	}
	pending := strings.Fields(string(text))
	words := retiredWords(t)
	dirty := map[string]bool{}
	look := func(unit, at, s string) {
		for _, r := range words {
			found := r.pattern.FindString(s)
			if found == "" {
				continue
			}
			if dirty[unit] = true; !slices.Contains(pending, unit) {
				t.Errorf("%s: %q is retired, write %q: %.120q", at, found, r.instead, s)
			}
		}
	}
	for _, r := range rule.All() {
		for _, s := range []string{r.Title, r.Why, r.Fix} {
			look("rules", r.ID, s)
		}
	}
	root := filepath.Join("..", "..", "..")
	err = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		name := filepath.ToSlash(path[min(len(path), len(root)+1):])
		switch {
		case err != nil:
			return err
		case e.IsDir():
			if name == ".git" || e.Name() == "testdata" || name == "golden" || name == "dist" || name == "bin" {
				return filepath.SkipDir
			}
		case strings.HasSuffix(name, "_test.go"):
		case strings.HasSuffix(name, ".go"):
			for at, s := range literals(t, path) {
				look(filepath.ToSlash(filepath.Dir(name)), fmt.Sprintf("%s:%d", name, at.Line), s)
			}
		case slices.Contains([]string{".md", ".yml", ".yaml"}, filepath.Ext(name)), strings.HasPrefix(name, "formats/loss/"),
			strings.HasPrefix(name, "schemas/"),
			slices.Contains([]string{"NOTICE", "Makefile", ".ci/run"}, name):
			for n, s := range docLines(t, path) {
				if s == "" && name == "NOTICE" { // the licenses of others follow
					break
				}
				look(name, fmt.Sprintf("%s:%d", name, n+1), s)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	left := slices.DeleteFunc(slices.Clone(pending), func(name string) bool { return !dirty[name] })
	switch {
	case len(left) == len(pending):
	case golden.Updating():
		if err := os.WriteFile(list, []byte(strings.Join(left, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		t.Logf("golden: cmd/internal/cli/%s rewritten", list)
	default:
		for _, name := range pending {
			if !dirty[name] {
				t.Errorf("%s is clean: take it out of %s, or run make golden", name, list)
			}
		}
	}
}

// literals returns the strings of a Go file that can be prose: those with a
// space, and the help in struct tags.
func literals(t *testing.T, path string) map[token.Position]string {
	t.Helper()
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	out := map[token.Position]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		if f, ok := n.(*ast.Field); ok && f.Tag != nil {
			tag, err := strconv.Unquote(f.Tag.Value)
			if help := reflect.StructTag(tag).Get("help"); err == nil && help != "" {
				out[set.Position(f.Tag.Pos())] = help
			}
			return false
		}
		lit, ok := n.(*ast.BasicLit)
		if !ok || lit.Kind != token.STRING {
			return true
		}
		if s, err := strconv.Unquote(lit.Value); err == nil && strings.Contains(s, " ") {
			out[set.Position(lit.Pos())] = s
		}
		return true
	})
	return out
}

// docLines are the lines of a document without code, and without the names in a
// schema: members keep the names they were published with.
func docLines(t *testing.T, path string) []string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	code := regexp.MustCompile("`[^`\n]*`")
	if filepath.Ext(path) == ".json" {
		code = regexp.MustCompile("`[^`\n]*`|\"[^\" ]*\"")
	}
	lines := strings.Split(string(text), "\n")
	for i, line := range lines {
		lines[i] = code.ReplaceAllString(line, "``")
	}
	return lines
}

package loss

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestTables reads every loss as people will.
func TestTables(t *testing.T) {
	all := All()
	if len(all) < 150 {
		t.Fatalf("only %d losses", len(all))
	}
	sentences, named := map[string]Code{}, regexp.MustCompile(`\{(\w+)\}`)
	for i, l := range all {
		if i > 0 && l.Code == all[i-1].Code {
			t.Errorf("%s is in the tables twice", l.Code)
		}
		if area := int(l.Code[1] - '0'); area >= len(Areas()) || Areas()[area] == "" {
			t.Errorf("%s is in no area", l.Code)
		}
		for _, s := range []string{l.One, l.Many} {
			if other, twice := sentences[s]; twice {
				t.Errorf("%s and %s: the same words: %s", other, l.Code, s)
			}
			sentences[s] = l.Code
			if len(s) > 120 || strings.HasSuffix(s, ".") || regexp.MustCompile(`^(a|an|the) `).MatchString(s) {
				t.Errorf("%s: not a short phrase that a number can precede: %s", l.Code, s)
			}
			for _, m := range named.FindAllStringSubmatch(s, -1) {
				if !slices.Contains(l.Args, m[1]) {
					t.Errorf("%s: no argument is named %s", l.Code, m[1])
				}
			}
		}
		for _, a := range l.Args {
			if !strings.Contains(l.One, "{"+a+"}") {
				t.Errorf("%s: argument %s is not shown", l.Code, a)
			}
		}
		for i, brief := range l.Brief {
			if (brief != "") != l.Consequence.matters() || len(brief) > 50 || brief != "" && brief == l.Brief[1-i] || strings.ContainsAny(brief, "{}()") {
				t.Errorf("%s: not a brief phrase: %q", l.Code, brief)
			}
		}
		if !strings.HasSuffix(l.Means, ".") {
			t.Errorf("%s: a sentence ends with a period: %s", l.Code, l.Means)
		}
		if l.Code.Definition().Code != l.Code || l.Code.Kind() != l.Kind {
			t.Errorf("%s is not found by its code", l.Code)
		}
	}
}

// TestCodes holds the constants, the tables and the call sites against each
// other: every code is reported by some, and none is spelled out.
func TestCodes(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "codes.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]Code{}
	ast.Inspect(file, func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok {
			code, _ := strconv.Unquote(v.Values[0].(*ast.BasicLit).Value)
			names[v.Names[0].Name] = Code(code)
		}
		return true
	})
	inTable := map[Code]bool{}
	for _, l := range All() {
		inTable[l.Code] = true
	}
	if len(names) != len(inTable) {
		t.Errorf("%d names for %d losses", len(names), len(inTable))
	}
	used, spelled := map[string]bool{}, regexp.MustCompile(`"L[1-9]\d\d"`)
	use := regexp.MustCompile(`\bloss\.([A-Z]\w+)`)
	for _, top := range []string{"../../formats", "../../convert", "../../cmd"} {
		err := filepath.WalkDir(top, func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || filepath.Base(path) == "codes.go" {
				return err
			}
			text, err := os.ReadFile(path)
			for _, m := range use.FindAllSubmatch(text, -1) {
				used[string(m[1])] = true
			}
			if s := spelled.Find(text); s != nil {
				t.Errorf("%s spells the code %s out: use its name", filepath.ToSlash(path), s)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, code := range names {
		if !inTable[code] {
			t.Errorf("%s is in no table: %s", name, code)
		}
		if !used[name] {
			t.Errorf("nobody reports %s, %s", name, code)
		}
	}
}

func TestParse(t *testing.T) {
	const good = "# remark\n\nL101 dropped none x y\none: a {x} and\n a {y}\nmany: as of {x}\nmeans: b.\n\nL202 missing unseen\none: c\nmany: cs\nbrief: e / es\nmeans: d.\n"
	list, err := parse(good)
	if err != nil || len(list) != 2 || list[1].Kind != Missing || list[1].Consequence != Unseen || list[1].Brief != [2]string{"e", "es"} {
		t.Fatal(list, err)
	}
	l := list[0]
	if l.Code != "L101" || l.Kind != Dropped || !slices.Equal(l.Args, []string{"x", "y"}) || l.One != "a {x} and a {y}" || l.Means != "b." || !slices.Equal(l.shared(), []string{"x"}) {
		t.Errorf("%+v", l)
	}
	for _, bad := range []string{
		"L101 dropped fatal\none: a\nmany: b\nmeans: c.", "L101 dropped client\none: a\nmany: b\nmeans: c.", "L101 dropped none\none: a\nmany: b\nbrief: d / e\nmeans: c.",
		"L101\none: a\nmany: b\nmeans: c.", "L001 dropped none\none: a\nmany: b\nmeans: c.", "L101 lost none\none: a\nmany: b\nmeans: c.",
		"L101 dropped none\none: a\nmany: b", "L101 dropped none\nmany: a\none: b\nmeans: c.", "X101 dropped none\none: a\nmany: b\nmeans: c.",
	} {
		if _, err := parse(bad); err == nil {
			t.Errorf("%q is taken for a loss", bad)
		}
	}
}

package markup

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestURL(t *testing.T) {
	for s, ok := range map[string]bool{
		"https://x.org/a?b=c#d": true, "HTTP://x.org": true, "mailto:a@x.org": true, "https://[::1]/": true,
		"": false, "x": false, "/x": false, "//x.org": false, "#x": false, "javascript:alert(1)": false, "java\nscript:x": false, " javascript:x": false, "JaVaScRiPt:x": false,
		"data:text/html,x": false, "vbscript:x": false, "file:///x": false, "https:x": false, "https://": false, "mailto:": false, "https://u:p@x.org": false,
		"https://x.org/\u202e": false, "https://x.org/\x00": false, "https://x.org/%zz": false, "https://x.org/" + strings.Repeat("a", maxURL): false,
	} {
		if got, is := URL(s); is != ok || strings.ContainsAny(string(got), "\"<>'\n ") {
			t.Errorf("%q: %q, %v", s, got, is)
		}
	}
}

func TestText(t *testing.T) {
	for s, want := range map[string]HTML{
		"<a href='x'>&\"": "&lt;a href=&#39;x&#39;&gt;&amp;&#34;", "a\u202eb\x00\xff": `a\u202eb\x00\xff`, "a\n\tb": "a\n\tb", "\xed\xa0\x80": `\xed\xa0\x80`,
	} {
		if got := Text(s); got != want {
			t.Errorf("%q: %q, want %q", s, got, want)
		}
	}
	if got := (Template{"a": "{x} {y}"}).Fill("a", "x", "{y}", "y", "1"); got != "{y} 1" {
		t.Errorf("a value was searched for slots: %s", got)
	}
}

// TestOneDoor: nothing but this package makes HTML of strings that are not constant.
func TestOneDoor(t *testing.T) {
	for _, pattern := range []string{"../*.go", "../code/*.go", "../markdown/*.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v", pattern, err)
		}
		for _, name := range files {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			f, err := parser.ParseFile(token.NewFileSet(), name, text, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(f, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok || len(call.Args) != 1 {
					return true
				}
				sel, _ := call.Fun.(*ast.SelectorExpr)
				if sel == nil || sel.Sel.Name != "HTML" && sel.Sel.Name != "Trusted" {
					return true
				}
				if _, constant := call.Args[0].(*ast.BasicLit); !constant && !trusted(call.Args[0]) {
					t.Errorf("%s: %s makes HTML by itself", name, text[call.Pos()-1:call.End()-1])
				}
				return true
			})
		}
	}
}

// trusted reports whether an expression is one of those that are known: the stylesheet, its hash, and
// the type of an image, which is one of four.
func trusted(e ast.Expr) bool {
	switch x := e.(type) {
	case *ast.Ident:
		return x.Name == "style"
	case *ast.CallExpr:
		sel, _ := x.Fun.(*ast.SelectorExpr)
		return sel != nil && (sel.Sel.Name == "EncodeToString" || sel.Sel.Name == "ToUpper")
	}
	return false
}

package shell_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// command is the beginning of a command that a person may paste, up to a word that is put in.
var command = regexp.MustCompile("(?:^|[`:;(] ?|  |run |or |, )(?:(?:rehome|rehome-fleet|git|npm) [a-z-]+|cd|export) (?:[^`]* )?['\"]?$")

// verb is a verb of fmt, but for numbers.
var verb = regexp.MustCompile(`%[-+# 0-9.]*[svq]`)

// TestEveryCommandIsQuoted: words that are put into commands go through this package. A name in a
// command may be anybody's.
func TestEveryCommandIsQuoted(t *testing.T) {
	seen := 0
	for _, room := range []string{"cmd", "convert", "formats", "internal"} {
		err := filepath.WalkDir(filepath.Join("..", "..", room), func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			for _, place := range unquoted(t, path, nil) {
				t.Errorf("%s: a word of a command is not quoted: use shell.Command or shell.Word", place)
			}
			seen++
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if seen < 500 {
		t.Errorf("only %d files were read", seen)
	}
}

// TestUnquotedIsFound: the test above finds what it is for.
func TestUnquotedIsFound(t *testing.T) {
	for code, want := range map[string]int{
		`"git add -- " + name`:                                         1,
		`"keep one: git checkout -- " + name + "; or not"`:             1,
		"\"run `rehome ls \" + path + \"` to list\"":                   1,
		"fmt.Sprintf(\"run `rehome migrate %s --again`\", id)":         1,
		"fmt.Sprintf(\"%s: run `rehome undo %d`, or cd %s\", a, 1, b)": 1,
		`"cd '" + dir + "'"`:                                           1,
		`"git add -- " + shell.Word(name)`:                             0,
		`"rehome undo " + strconv.Itoa(n)`:                             0,
		"fmt.Sprintf(\"run `%s`\", shell.Command(\"rehome\", id))":     0,
		"fmt.Sprintf(\"rehome undo %d\", id)":                          0,
		`"sessions of " + name`:                                        0,
	} {
		if got := unquoted(t, "code.go", "package p\nvar _ = "+code); len(got) != want {
			t.Errorf("%s: %d, want %d", code, len(got), want)
		}
	}
}

// unquoted returns the places of a file where a word is put into a command as it is.
func unquoted(t *testing.T, path string, src any) (out []string) {
	t.Helper()
	files := token.NewFileSet()
	if src == nil {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		src = text
	}
	file, err := parser.ParseFile(files, path, src, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	found := func(n ast.Node) { out = append(out, files.Position(n.Pos()).String()) }
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			if n.Op == token.ADD {
				if text, ok := literal(last(n.X)); ok && command.MatchString(text) && !isQuoted(n.Y) {
					found(n)
				}
			}
		case *ast.CallExpr:
			for i, arg := range n.Args {
				format, ok := literal(arg)
				if !ok || !strings.HasSuffix(name(n.Fun), "f") || name(n.Fun) == "fmt.Errorf" {
					continue
				}
				verbs := regexp.MustCompile(`%[-+# 0-9.]*[a-z]`).FindAllStringIndex(format, -1)
				for k, at := range verbs {
					if verb.MatchString(format[at[0]:at[1]]) && command.MatchString(format[:at[0]]) && i+1+k < len(n.Args) && !isQuoted(n.Args[i+1+k]) {
						found(n)
					}
				}
				break
			}
		}
		return true
	})
	return out
}

func literal(e ast.Expr) (string, bool) {
	lit, ok := e.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(lit.Value)
	return text, err == nil
}

// last returns the last operand of a sum.
func last(e ast.Expr) ast.Expr {
	if sum, ok := e.(*ast.BinaryExpr); ok {
		return sum.Y
	}
	return e
}

// isQuoted reports whether an expression is a literal, a number or a word that this package quoted.
func isQuoted(e ast.Expr) bool {
	if _, ok := literal(e); ok {
		return true
	}
	call, ok := e.(*ast.CallExpr)
	if !ok {
		return false
	}
	switch name(call.Fun) {
	case "shell.Command", "shell.Word", "shell.Join", "quote", "cursortools.Quoted", "strconv.Itoa":
		return true
	case "visible", "screen.Visible", "string", "screen.Safe":
		return isQuoted(call.Args[0])
	}
	return false
}

func name(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return name(e.X) + "." + e.Sel.Name
	}
	return ""
}

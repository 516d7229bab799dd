package formatstest_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The rule against package state.

// TestNoHiddenState looks for init functions and for package variables that
// somebody could change.
func TestNoHiddenState(t *testing.T) {
	used := map[string]bool{}
	for _, p := range ours(t) {
		name := strings.TrimPrefix(p.ImportPath, module)
		for _, complaint := range hiddenState(t, p) {
			if reason := allowedState()[name+"."+complaint.name]; reason != "" {
				used[name+"."+complaint.name] = true
				continue
			}
			t.Errorf("%s: %s: %s", name, complaint.name, complaint.what)
		}
	}
	for name := range allowedState() {
		if !used[name] {
			t.Errorf("%s is allowed and not there any more: take it off the list", name)
		}
	}
}

// allowedState are the exceptions, each with its reason.
func allowedState() map[string]string {
	return map[string]string{
		"formats/store.batches":                      "a pool: what it holds has no meaning",
		"cmd/internal/cli.release":                   "the version of a released build, set by the linker",
		"cmd/rehome-fleet/adapter.Schema":            "a file, embedded",
		"cmd/rehome-fleet/internal/bucket.ErrExists": "an error of the standard library",
		"golden.update":                              "a flag of the test binary, set once by its command line",
		"golden.compared":                            "the files that the tests of one binary compared, counted at its end",
		"formats/internal/sqlitefile.sink":           "the driver's table of SQL functions is global; this is our entry in it",
	}
}

type complaint struct{ name, what string }

// hiddenState reads one package without its tests.
func hiddenState(t *testing.T, p pkg) []complaint {
	t.Helper()
	var parsed []*ast.File
	fset := token.NewFileSet()
	for _, f := range p.GoFiles {
		file, err := parser.ParseFile(fset, filepath.Join(p.Dir, f), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		parsed = append(parsed, file)
	}
	return judge(parsed)
}

// judge complains of init functions, and of package variables that are
// neither sentinel errors, embedded files, nor tables that nobody writes to.
func judge(parsed []*ast.File) []complaint {
	var out []complaint
	written := map[string]bool{}
	for _, f := range parsed {
		ast.Inspect(f, func(n ast.Node) bool { return note(n, written) })
	}
	for _, f := range parsed {
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
				out = append(out, complaint{"init", "init() is not allowed"})
			}
			gen, ok := d.(*ast.GenDecl)
			if !ok || gen.Tok != token.VAR {
				continue
			}
			for _, s := range gen.Specs {
				spec := s.(*ast.ValueSpec)
				for i, id := range spec.Names {
					if what := mutable(spec, i, written[id.Name]); what != "" && id.Name != "_" {
						out = append(out, complaint{id.Name, what})
					}
				}
			}
		}
	}
	return out
}

// note collects the names that are assigned to, counted up, or whose address
// is taken. A local variable of the same name counts too: choose another.
func note(n ast.Node, written map[string]bool) bool {
	root := func(e ast.Expr) {
		for {
			switch x := e.(type) {
			case *ast.IndexExpr:
				e = x.X
			case *ast.SelectorExpr:
				e = x.X
			case *ast.ParenExpr:
				e = x.X
			case *ast.StarExpr:
				e = x.X
			case *ast.Ident:
				written[x.Name] = true
				return
			default:
				return
			}
		}
	}
	switch x := n.(type) {
	case *ast.AssignStmt:
		if x.Tok != token.DEFINE {
			for _, l := range x.Lhs {
				root(l)
			}
		}
	case *ast.IncDecStmt:
		root(x.X)
	case *ast.UnaryExpr:
		if x.Op == token.AND {
			root(x.X)
		}
	}
	return true
}

// mutable says what is wrong with a package variable; "" if nothing is.
func mutable(spec *ast.ValueSpec, i int, written bool) string {
	if written {
		return "this package variable is written to"
	}
	if sel, ok := spec.Type.(*ast.SelectorExpr); ok && fmt.Sprint(sel.X, sel.Sel) == "embed FS" {
		return ""
	}
	if i >= len(spec.Values) {
		return "a package variable without a value is there to be written to"
	}
	switch v := spec.Values[i].(type) {
	case *ast.BasicLit:
		return ""
	case *ast.SelectorExpr:
		if fmt.Sprint(v.X) == "base64" {
			return "" // an encoding: each variant is a value of its own
		}
	case *ast.CompositeLit:
		switch typ := v.Type.(type) {
		case *ast.ArrayType, *ast.MapType:
			return "" // a table; that nobody writes to it was seen above
		case *ast.SelectorExpr:
			return fmt.Sprintf("a package variable of type %v.%v holds state", typ.X, typ.Sel)
		}
	case *ast.CallExpr:
		if immutable(v) {
			return ""
		}
	}
	return "a package variable that is neither a sentinel error nor a table"
}

// immutable reports whether a call makes something that nobody can change:
// an error, a pattern, a value made once, an encoding, or a table that a
// function on the spot fills in.
func immutable(c *ast.CallExpr) bool {
	switch fun := c.Fun.(type) {
	case *ast.FuncLit:
		if results := fun.Type.Results; results != nil && len(results.List) == 1 {
			switch results.List[0].Type.(type) {
			case *ast.ArrayType, *ast.MapType:
				return true
			}
		}
	case *ast.SelectorExpr:
		switch x := fun.X.(type) {
		case *ast.Ident:
			return slices.Contains([]string{"errors New", "fmt Errorf", "regexp MustCompile", "strings NewReplacer",
				"sync OnceValue", "sync OnceValues", "crc32 MakeTable"}, x.Name+" "+fun.Sel.Name)
		case *ast.SelectorExpr:
			return fmt.Sprint(x.X) == "base64" // each variant is a value of its own
		}
	}
	return false
}

func TestJudge(t *testing.T) {
	const src = `package p
import ("errors"; "embed"; "sync")
var ErrA = errors.New("a")
var files embed.FS
var table = map[string]int{"a": 1}
var names = [...]string{"a"}
var counter int
var cache = map[string]int{}
var once sync.Once
var pointer = &struct{}{}
func init() {}
func f() { cache["a"] = 1; counter++ }
`
	file, err := parser.ParseFile(token.NewFileSet(), "p.go", src, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range judge([]*ast.File{file}) {
		got = append(got, c.name)
	}
	if want := []string{"counter", "cache", "once", "pointer", "init"}; !slices.Equal(got, want) {
		t.Errorf("complained of %q, want %q", got, want)
	}
}

// TestOneScratchDoor: what a killed run leaves behind is found by the next one,
// so that nobody makes temporary files in a way of their own.
func TestOneScratchDoor(t *testing.T) {
	allowed := []string{
		"internal/scratch",
		"cmd/internal/cli/demo.go",                    // the folder is what the demo is for, and stays
		"formats/claudecode/internal/write/branch.go", // in the folder of what is being built
	}
	for _, p := range ours(t) {
		name := strings.TrimPrefix(p.ImportPath, module)
		for _, f := range p.GoFiles {
			if strings.HasPrefix(name, "testdata/") || slices.Contains(allowed, name) || slices.Contains(allowed, name+"/"+f) {
				continue
			}
			text, err := os.ReadFile(filepath.Join(p.Dir, f))
			if err != nil {
				t.Fatal(err)
			}
			for _, call := range []string{"os.MkdirTemp(", "os.CreateTemp("} {
				if strings.Contains(string(text), call) {
					t.Errorf("%s/%s: %s: package internal/scratch is the door to temporary files", name, f, call)
				}
			}
		}
	}
}

package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// The kinds of changes.
const (
	bound  = "bound"  // < is <=, and so on
	negate = "negate" // a comparison is negated
	number = "number" // a constant of a bound is one more
	ignore = "ignore" // an error does not return
	side   = "side"   // one side of && or || is not tested
	jump   = "jump"   // break is continue, or the reverse
	join   = "join"   // one error of errors.Join is lost
)

// mutant is one change: other text for a part of a file.
type mutant struct {
	kind, pkg, file string
	line            int
	from, to        int
	was, with       string
	fn              string // the function that it is in, if any
}

func (m mutant) String() string {
	return strings.TrimSpace(fmt.Sprintf("%s:%d %s", m.path(), m.line, m.fn)) + "\t" + m.change()
}

func (m mutant) path() string {
	wd, _ := os.Getwd()
	name, err := filepath.Rel(wd, m.file)
	if err != nil {
		name = m.file
	}
	return filepath.ToSlash(name)
}

func (m mutant) change() string {
	return strings.TrimSpace(fmt.Sprintf("%s: %s => %s", m.kind, flat(m.was), flat(m.with)))
}

func flat(s string) string { return strings.Join(strings.Fields(s), " ") }

// find returns every possible change by its kind, in the order of the files: those of codecs, or
// of all code.
func find(packages map[string]*pkg, codecs bool) (map[string][]mutant, error) {
	out := map[string][]mutant{}
	for _, name := range slices.Sorted(maps.Keys(packages)) {
		if slices.ContainsFunc(exempt, func(s string) bool { return strings.HasPrefix(name, s) }) || codecs && !strings.HasPrefix(name, "rehome/formats/") {
			continue
		}
		for _, file := range packages[name].GoFiles {
			f := &finder{fset: token.NewFileSet(), pkg: name, file: filepath.Join(packages[name].Dir, file), out: out}
			var err error
			if f.text, err = os.ReadFile(f.file); err != nil {
				return nil, err
			}
			tree, err := parser.ParseFile(f.fset, f.file, f.text, parser.SkipObjectResolution)
			if err != nil {
				return nil, err
			}
			for _, d := range tree.Decls {
				f.declares(d)
				switch {
				case !codecs:
					ast.Inspect(d, f.visit)
				case name == registry:
					ast.Inspect(d, f.register)
				case isCodec(file, tree):
					ast.Inspect(d, f.visitCodec)
				}
			}
		}
	}
	return out, nil
}

type finder struct {
	fset      *token.FileSet
	pkg, file string
	text      []byte
	fn        string // that is visited, if any
	out       map[string][]mutant
}

// declares notes which function is visited.
func (f *finder) declares(d ast.Decl) {
	f.fn = ""
	if d, ok := d.(*ast.FuncDecl); ok {
		f.fn = d.Name.Name
		if d.Recv != nil {
			f.fn = strings.Trim(f.source(d.Recv.List[0].Type), "*") + "." + f.fn
		}
	}
}

func (f *finder) offset(p token.Pos) int { return f.fset.Position(p).Offset }

func (f *finder) source(n ast.Node) string {
	return string(f.text[f.offset(n.Pos()):f.offset(n.End())])
}

func (f *finder) add(kind string, n ast.Node, with string) { f.replace(kind, n.Pos(), n.End(), with) }

func (f *finder) replace(kind string, from, to token.Pos, with string) *mutant {
	m := mutant{kind: kind, pkg: f.pkg, file: f.file, line: f.fset.Position(from).Line, from: f.offset(from), to: f.offset(to), with: with, fn: f.fn}
	m.was = string(f.text[m.from:m.to])
	f.out[kind] = append(f.out[kind], m)
	return &f.out[kind][len(f.out[kind])-1]
}

var shifted = map[token.Token]string{token.LSS: "<=", token.LEQ: "<", token.GTR: ">=", token.GEQ: ">"}

func (f *finder) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		f.binary(n)
	case *ast.SliceExpr:
		f.one(n.Low, n)
		f.one(n.High, n)
	case *ast.IfStmt:
		f.branch(n)
	case *ast.BranchStmt:
		if n.Label == nil && n.Tok == token.BREAK {
			f.add(jump, n, "continue")
		} else if n.Label == nil && n.Tok == token.CONTINUE {
			f.add(jump, n, "break")
		}
	case *ast.CallExpr:
		if f.source(n.Fun) != "errors.Join" || len(n.Args) < 2 {
			break
		}
		for i := range n.Args {
			var rest []string
			for j, a := range n.Args {
				if j != i {
					rest = append(rest, f.source(a))
				}
			}
			f.add(join, n, "errors.Join("+strings.Join(rest, ", ")+")")
		}
	}
	return true
}

func (f *finder) binary(n *ast.BinaryExpr) {
	x, y := f.source(n.X), f.source(n.Y)
	switch n.Op {
	case token.LSS, token.LEQ, token.GTR, token.GEQ:
		f.add(bound, n, x+" "+shifted[n.Op]+" "+y)
		f.one(n.Y, n)
	case token.ADD, token.SUB:
		f.one(n.Y, n)
	case token.LAND, token.LOR:
		f.add(side, n, x)
		f.add(side, n, y)
	}
}

// one adds the change of a number to the next, within an expression.
func (f *finder) one(n ast.Expr, within ast.Expr) {
	lit, ok := n.(*ast.BasicLit)
	if !ok || lit.Kind != token.INT {
		return
	}
	v, err := strconv.ParseInt(lit.Value, 0, 64)
	if err != nil {
		return
	}
	whole, at := f.source(within), f.offset(lit.Pos())-f.offset(within.Pos())
	f.add(number, within, whole[:at]+strconv.FormatInt(v+1, 10)+whole[at+len(lit.Value):])
}

// branch negates a comparison, or lets an error pass.
func (f *finder) branch(n *ast.IfStmt) {
	c, ok := n.Cond.(*ast.BinaryExpr)
	if !ok || len(n.Body.List) == 0 {
		return
	}
	_, returns := n.Body.List[len(n.Body.List)-1].(*ast.ReturnStmt)
	switch cond := f.source(c); {
	case returns && strings.HasSuffix(cond, "rr != nil") && n.Else == nil:
		f.add(ignore, n, strings.TrimSuffix(f.source(n), f.source(n.Body))+"{}")
	case c.Op == token.LAND || c.Op == token.LOR || f.source(c.Y) == "nil":
	default:
		f.add(negate, c, "!("+cond+")")
	}
}

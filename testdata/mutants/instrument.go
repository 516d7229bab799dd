package main

import (
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
)

// errPlace says that a change is at a place that cannot choose when it runs.
var errPlace = errors.New("cannot be switched on")

// instrumented is a file all of whose changes are compiled in. The package at says which one
// is made. Each function is there once as it is, and once for each change; the first one calls
// the others.
type instrumented struct {
	finder
	tree   *ast.File
	edits  []edit
	copies strings.Builder
}

type edit struct {
	from, to int
	with     string
}

// instrument returns a file with changes, by their numbers.
func instrument(file string, text []byte, changes map[int]mutant) ([]byte, error) {
	f := &instrumented{finder: finder{fset: token.NewFileSet(), file: file, text: text}}
	var err error
	if f.tree, err = parser.ParseFile(f.fset, file, text, parser.SkipObjectResolution); err != nil {
		return nil, err
	}
	at := f.offset(f.tree.Name.End())
	imports := `; import at_ "rehome/testdata/mutants/at"`
	for _, m := range changes {
		if m.kind == careless {
			imports = `; import at_ "rehome/testdata/mutants/at"; import careless_ "rehome/testdata/mutants/careless"`
		}
	}
	f.edits = append(f.edits, edit{at, at, imports})
	for _, d := range f.tree.Decls {
		var here []int
		for n, m := range changes {
			if f.offset(d.Pos()) <= m.from && m.to <= f.offset(d.End()) {
				here = append(here, n)
			}
		}
		slices.Sort(here)
		if len(here) == 0 {
			continue
		}
		if err := f.declared(d, here, changes); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	return append(apply(text, f.edits), f.copies.String()...), nil
}

func (f *instrumented) declared(d ast.Decl, here []int, changes map[int]mutant) error {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if recovers(d) {
			return fmt.Errorf("%s: %w: it calls recover", d.Name.Name, errPlace)
		}
		f.function(d, here, changes)
		return nil
	case *ast.GenDecl:
		for _, s := range d.Specs {
			if v, ok := s.(*ast.ValueSpec); ok && d.Tok == token.VAR {
				here = f.values(v, here, changes)
			}
		}
	}
	if len(here) > 0 {
		return fmt.Errorf("%v: %w", changes[here[0]], errPlace)
	}
	return nil
}

// recovers reports whether a function itself stops a panic, which it can do only if it is
// called by defer.
func recovers(d *ast.FuncDecl) (yes bool) {
	ast.Inspect(d.Body, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			if name, ok := call.Fun.(*ast.Ident); ok && name.Name == "recover" {
				yes = true
			}
		}
		_, inner := n.(*ast.FuncLit)
		return !inner
	})
	return yes
}

// function lets a function call its copy that has the change.
func (f *instrumented) function(d *ast.FuncDecl, here []int, changes map[int]mutant) {
	signature, call := f.signature(d)
	begin, end := f.offset(d.Body.Lbrace)+1, f.offset(d.Body.End())
	var choose strings.Builder
	for _, n := range here {
		m := changes[n]
		name := fmt.Sprintf("%s_%d", d.Name.Name, n)
		if d.Type.Results == nil {
			fmt.Fprintf(&choose, " case %d: %s; return;", n, call(name))
		} else {
			fmt.Fprintf(&choose, " case %d: return %s;", n, call(name))
		}
		body := apply(f.text[begin:end], []edit{{m.from - begin, m.to - begin, m.with}})
		fmt.Fprintf(&f.copies, "\n%s{%s\n", signature(name), body)
		at := f.reached(d, m)
		f.edits = append(f.edits, edit{at, at, fmt.Sprintf("; at_.Reach(%d); ", n)})
	}
	f.edits = append(f.edits, edit{f.offset(d.Pos()), begin, signature(d.Name.Name) + "{ switch at_.Change {" + choose.String() + " };"})
}

// signature returns what declares a function under some name, all parameters with names, and
// what calls it.
func (f *instrumented) signature(d *ast.FuncDecl) (declare, call func(name string) string) {
	params, args := f.fields(d.Type.Params)
	recv, self := f.fields(d.Recv)
	types, typeArgs, results := "", "", ""
	if list := d.Type.TypeParams; list != nil {
		types = f.source(list)
		var names []string
		for _, field := range list.List {
			for _, name := range field.Names {
				names = append(names, name.Name)
			}
		}
		typeArgs = "[" + strings.Join(names, ", ") + "]"
	}
	if d.Type.Results != nil {
		results = f.source(d.Type.Results)
	}
	if d.Recv != nil {
		recv, self = "("+recv+") ", self+"."
	}
	return func(name string) string { return "func " + recv + name + types + "(" + params + ") " + results + " " },
		func(name string) string { return self + name + typeArgs + "(" + args + ")" }
}

// fields returns parameters, all with names, and the arguments that hand them on.
func (f *instrumented) fields(list *ast.FieldList) (params, args string) {
	if list == nil {
		return "", ""
	}
	var declared, given []string
	for _, field := range list.List {
		names := []string{}
		for _, name := range field.Names {
			names = append(names, name.Name)
		}
		if len(names) == 0 {
			names = []string{"_"}
		}
		_, variadic := field.Type.(*ast.Ellipsis)
		for _, name := range names {
			if name == "_" {
				name = fmt.Sprintf("unnamed_%d", len(given))
			}
			declared = append(declared, name+" "+f.source(field.Type))
			if variadic {
				name += "..."
			}
			given = append(given, name)
		}
	}
	return strings.Join(declared, ", "), strings.Join(given, ", ")
}

// reached returns where it is noted that the code of a change runs: before its statement.
func (f *instrumented) reached(d *ast.FuncDecl, m mutant) int {
	at := f.offset(d.Body.Lbrace) + 1
	ast.Inspect(d.Body, func(n ast.Node) bool {
		var list []ast.Stmt
		switch n := n.(type) {
		case *ast.BlockStmt:
			list = n.List
		case *ast.CaseClause:
			list = n.Body
		case *ast.CommClause:
			list = n.Body
		}
		for _, s := range list {
			switch s.(type) {
			case *ast.CaseClause, *ast.CommClause: // its statement is the switch
				continue
			}
			if f.offset(s.Pos()) <= m.from && m.from < f.offset(s.End()) {
				at = f.offset(s.Pos())
			}
		}
		if block, ok := n.(*ast.BlockStmt); ok && m.from == f.offset(block.Rbrace) {
			at = m.from
		}
		return true
	})
	return at
}

// values lets variables of a package be what they are with a change, and returns the changes
// that are elsewhere.
func (f *instrumented) values(v *ast.ValueSpec, here []int, changes map[int]mutant) (rest []int) {
	kind := ""
	if v.Type != nil {
		kind = "[" + f.source(v.Type) + "]"
	}
	texts := map[ast.Expr]string{}
	for _, n := range here {
		m := changes[n]
		i := slices.IndexFunc(v.Values, func(e ast.Expr) bool { return f.offset(e.Pos()) <= m.from && m.to <= f.offset(e.End()) })
		if i < 0 {
			rest = append(rest, n)
			continue
		}
		from := f.offset(v.Values[i].Pos())
		plain := f.source(v.Values[i])
		changed := apply([]byte(plain), []edit{{m.from - from, m.to - from, m.with}})
		texts[v.Values[i]] = fmt.Sprintf("at_.Pick%s(%d, %s, %s)", kind, n, cmp.Or(texts[v.Values[i]], plain), changed)
	}
	for e, text := range texts {
		f.edits = append(f.edits, edit{f.offset(e.Pos()), f.offset(e.End()), text})
	}
	return rest
}

// apply makes edits, which do not overlap.
func apply(text []byte, edits []edit) []byte {
	slices.SortStableFunc(edits, func(a, b edit) int { return cmp.Compare(a.from, b.from) })
	var out []byte
	at := 0
	for _, e := range edits {
		out = append(append(out, text[at:e.from]...), e.with...)
		at = e.to
	}
	return append(out, text[at:]...)
}

package main

import (
	"go/ast"
	"go/token"
	"maps"
	"slices"
	"strconv"
	"strings"

	faults "rehome/testdata/mutants/careless"
)

// The mistakes that an author of a codec makes.
const (
	forget = "forget" // what is appended is forgotten
	skip   = "skip"   // one case of a switch does nothing
	first  = "first"  // a loop ends after its first round
	swap   = "swap"   // two that are appended change places
	role   = "role"   // somebody else speaks
	cut    = "cut"    // half of a text is missing
	member = "member" // a member of what is made stays empty
	live   = "live"   // what is abandoned or archived is told as live
	turn   = "turn"   // turns are off by one

	careless = "careless" // what package careless forgets, whatever the code is like
)

var otherRole = map[string]string{
	"session.User": "session.Assistant", "session.Assistant": "session.User", "session.Tool": "session.Assistant", "session.System": "session.User",
}

// apart are files of what the conformance suite does not test: other tests do.
var apart = []string{"merge.go", "move.go", "repair.go"}

// isCodec reports whether a file reads or writes sessions, and does neither define nor check them.
func isCodec(name string, tree *ast.File) bool {
	imports := func(path string) bool {
		return slices.ContainsFunc(tree.Imports, func(i *ast.ImportSpec) bool { return i.Path.Value == strconv.Quote(path) })
	}
	return !slices.Contains(apart, name) && tree.Name.Name != "session" && imports("rehome/formats/session") && !imports("rehome/formats/rule")
}

// registry is where each codec can be replaced by a careless one.
const registry = "rehome/formats/all"

// register adds the mistakes that can be made in any codec, where it is registered.
func (f *finder) register(n ast.Node) bool {
	call, ok := n.(*ast.CallExpr)
	if !ok {
		return true
	}
	codec, ok := strings.CutSuffix(f.source(call.Fun), ".Format")
	if !ok || codec == "archive" || codec == "sqlite" { // they have no sessions
		return true
	}
	for _, fault := range slices.Sorted(maps.Keys(faults.Faults())) {
		m := f.replace(careless, call.Pos(), call.End(), "careless_.Codec("+f.source(call)+", "+strconv.Quote(fault)+")")
		m.pkg = "rehome/formats/" + codec
	}
	return true
}

// visitCodec adds the mistakes that can be made at a node.
func (f *finder) visitCodec(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.AssignStmt:
		f.assigned(n)
	case *ast.BlockStmt:
		for i := range max(0, len(n.List)-1) {
			if a, b := n.List[i], n.List[i+1]; f.appends(a) != "" && f.appends(a) == f.appends(b) {
				f.replace(swap, a.Pos(), b.End(), f.source(b)+"\n"+f.source(a))
			}
		}
	case *ast.CaseClause:
		if len(n.List) > 0 && len(n.Body) > 0 {
			m := f.replace(skip, n.Body[0].Pos(), n.Body[len(n.Body)-1].End(), "")
			m.was = string(f.text[f.offset(n.Pos()):f.offset(n.Colon)])
		}
	case *ast.RangeStmt:
		if len(n.Body.List) > 0 {
			m := f.replace(first, n.Body.Rbrace, n.Body.Rbrace, "; break\n")
			m.was = string(f.text[f.offset(n.Pos()):f.offset(n.Body.Lbrace)])
		}
	case *ast.SelectorExpr:
		if with := otherRole[f.source(n)]; with != "" {
			f.add(role, n, with)
		}
	case *ast.CompositeLit:
		if n.Type != nil && strings.HasPrefix(f.source(n.Type), "session.") {
			f.members(n)
		}
	case *ast.IncDecStmt:
		if n.Tok == token.INC && strings.HasSuffix(f.source(n.X), "Turns") {
			f.add(turn, n, f.source(n.X)+" += 2")
		}
	}
	return true
}

// appends returns what a statement appends to, or "".
func (f *finder) appends(n ast.Stmt) string {
	s, ok := n.(*ast.AssignStmt)
	if !ok || len(s.Lhs) != 1 {
		return ""
	}
	if to := f.source(s.Lhs[0]); strings.HasPrefix(f.source(s.Rhs[0]), "append("+to+",") {
		return to
	}
	return ""
}

func (f *finder) assigned(n *ast.AssignStmt) {
	if len(n.Lhs) != 1 || n.Tok != token.ASSIGN {
		return
	}
	to, value := f.source(n.Lhs[0]), n.Rhs[0]
	switch call, ok := value.(*ast.CallExpr); {
	case ok && f.source(call.Fun) == "append" && f.source(call.Args[0]) == to:
		f.add(forget, n, "_ = "+f.source(value))
		for i, one := range call.Args[1:max(1, len(call.Args)-1)] {
			next := call.Args[i+2]
			if call.Ellipsis == token.NoPos {
				f.replace(swap, one.Pos(), next.End(), f.source(next)+", "+f.source(one))
			}
		}
	case strings.HasSuffix(to, ".Archived"):
		f.add(live, n, to+" = false")
	case strings.HasSuffix(to, ".Branch"):
		f.add(live, n, to+` = ""`)
	case strings.HasSuffix(to, ".Text"):
		f.half(value)
	}
}

// members adds what can be wrong with the members of something that is made.
func (f *finder) members(n *ast.CompositeLit) {
	for i, one := range n.Elts {
		pair, ok := one.(*ast.KeyValueExpr)
		if !ok {
			return
		}
		end := one.End()
		if i+1 < len(n.Elts) {
			end = n.Elts[i+1].Pos()
		}
		switch f.source(pair.Key) {
		case "Archived", "Branch":
			f.replace(live, one.Pos(), end, "")
		case "Number":
			f.add(turn, pair.Value, f.source(pair.Value)+" + 1")
		case "Text":
			f.half(pair.Value)
			f.replace(member, one.Pos(), end, "")
		default:
			f.replace(member, one.Pos(), end, "")
		}
	}
}

// half adds the mistake that half of a text is missing.
func (f *finder) half(text ast.Expr) {
	if _, literal := text.(*ast.BasicLit); !literal {
		f.add(cut, text, "func(s string) string { return s[:len(s)/2] }("+f.source(text)+")")
	}
}

package sessions_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// resolver is the file that finds the folders of sessions.
var resolver = filepath.Join("convert", "sessions", "folders.go")

// otherWays are the functions that list or decode sessions without the resolver of their
// folders, and why their folder does not matter there. All others, and so each command that
// prints a folder or writes for one, give List the candidates, or decode through Folders.
var otherWays = map[string]string{
	"convert/back.go Decode pass":                           "its sources have the folders that the listing found",
	"convert/backup/restore_archive.go List missing":        "ids",
	"convert/diff/side.go Decode decode":                    "what two stores say, compared",
	"convert/diff/side.go List list":                        "what two stores say, compared",
	"convert/doctor/store.go Decode decode":                 "records that no reader knows",
	"convert/hidden.go Decode readSpeech":                   "what text and what it restores to say, compared",
	"convert/internal/pipe/verify.go Decode verify":         "what was written, compared",
	"convert/migrate.go List withSubagents":                 "ids",
	"convert/migrate_turns.go Decode saidIn":                "what was said",
	"convert/mv/remove.go Decode messages":                  "how much was said",
	"convert/mv/verify.go Decode decode":                    "a copy and its original, compared",
	"convert/redact_outline.go Decode outline":              "what was redacted, compared",
	"convert/search/search.go Decode decode":                "what was said; the listing has the folder",
	"convert/sessions/inside.go Decode holds":               "ids",
	"convert/sessions/long.go Decode measure":               "what the heads of the listing do not have",
	"convert/sessions/restored.go Decode listHeads":         "heads, whose folders List finds",
	"convert/watch/changes.go List listHeads":               "titles",
	"cmd/internal/cli/launch.go Hash looksIn":               "whether the client looks in the folder that the listing found",
	"convert/sessions/restored.go Decode decode":            "text that is read as a store; Folders calls it",
	"cmd/rehome-fleet/internal/tables/write.go Decode read": "text that has the folders",
}

// TestNoOtherWay finds functions that could take a session to be in another folder than all
// the others do: after a project moved, its store, the session and its prompts differ in that.
func TestNoOtherWay(t *testing.T) {
	found := map[string]bool{}
	for _, root := range []string{"convert", "cmd"} {
		err := filepath.WalkDir(filepath.Join("..", "..", root), func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.HasSuffix(path, resolver) {
				return err
			}
			src, err := os.ReadFile(path)
			if err == nil {
				err = ways(strings.TrimPrefix(filepath.ToSlash(path), "../../"), src, found)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, way := range slices.Sorted(maps.Keys(found)) {
		if _, ok := otherWays[way]; !ok {
			t.Errorf("%s: without the folders of sessions; pass Options.Folders, or decode through sessions.Folders", way)
		}
	}
	for way := range otherWays {
		if !found[way] {
			t.Errorf("%s: no longer there", way)
		}
	}
}

// TestWaysAreFound: the test above finds what it is for.
func TestWaysAreFound(t *testing.T) {
	for code, want := range map[string]string{
		`sessions.List(ctx, reg, sessions.Options{Paths: p})`:                  "a.go List f",
		`sessions.List(ctx, reg, sessions.Options{Folders: c})`:                "",
		`o := sessions.Options{}; sessions.List(ctx, reg, o)`:                  "a.go List f",
		`o := sessions.Options{}; o.Folders = c; sessions.List(ctx, reg, o)`:   "",
		`for s := range f.Sessions.Decode(ctx, l, v, sel) { _ = s }`:           "a.go Decode f",
		`sessions.NewFolders(reg, c).Decode(ctx, f, l, v, sel)`:                "",
		`func() { x := h.Hash(dir); _ = x }()`:                                 "a.go Hash f",
		`_ = "\nWorkspace Path: "`:                                             "a.go Workspace Path f",
		`a.reg.Lookup(x).Home.Slug(dir)`:                                       "a.go Slug f",
		`l := sessions.Options{Paths: p}; _ = l; sessions.Stores(ctx, reg, l)`: "",
	} {
		found := map[string]bool{}
		if err := ways("a.go", []byte("package a\nfunc f() { "+code+" }"), found); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(slices.Sorted(maps.Keys(found)), ", "); got != want {
			t.Errorf("%s: %q, want %q", code, got, want)
		}
	}
}

// ways adds the functions of a file that list or decode sessions, or derive names from folders,
// by themselves.
func ways(path string, src []byte, found map[string]bool) error {
	file, err := parser.ParseFile(token.NewFileSet(), path, src, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	for _, d := range file.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		resolves := false
		ast.Inspect(fn, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.KeyValueExpr:
				id, ok := n.Key.(*ast.Ident)
				resolves = resolves || ok && id.Name == "Folders"
			case *ast.AssignStmt:
				for _, to := range n.Lhs {
					sel, ok := to.(*ast.SelectorExpr)
					resolves = resolves || ok && sel.Sel.Name == "Folders"
				}
			}
			return true
		})
		ast.Inspect(fn, func(n ast.Node) bool {
			what := ""
			switch n := n.(type) {
			case *ast.CallExpr:
				what = wayOf(n, resolves)
			case *ast.BasicLit:
				if s, err := strconv.Unquote(n.Value); err == nil && n.Kind == token.STRING && strings.Contains(s, "Workspace Path") {
					what = "Workspace Path"
				}
			}
			if what != "" {
				found[path+" "+what+" "+fn.Name.Name] = true
			}
			return true
		})
	}
	return nil
}

// wayOf returns what a call does that the resolver is for, "" if nothing.
func wayOf(call *ast.CallExpr, resolves bool) string {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	of := ""
	switch x := sel.X.(type) {
	case *ast.Ident:
		of = x.Name
	case *ast.SelectorExpr:
		of = x.Sel.Name
	}
	switch name := sel.Sel.Name; {
	case name == "List" && of == "sessions" && !resolves, name == "Decode" && of == "Sessions", name == "Hash" || name == "IsHash" || name == "Slug":
		return name
	}
	return ""
}

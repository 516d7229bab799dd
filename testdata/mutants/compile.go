package main

import (
	"context"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// checker knows which changes the compiler accepts, without running it.
type checker struct {
	fset     *token.FileSet
	imports  types.Importer
	packages map[string]*pkg
	parsed   map[string]*ast.File
}

func newChecker(ctx context.Context, packages map[string]*pkg) (*checker, error) {
	text, err := exec.CommandContext(ctx, "go", "list", "-export", "-deps", "-f", "{{.ImportPath}}\t{{.Export}}", "./formats/...").Output()
	if err != nil {
		return nil, err
	}
	exports := map[string]string{}
	for line := range strings.Lines(string(text)) {
		name, file, _ := strings.Cut(strings.TrimSpace(line), "\t")
		exports[name] = file
	}
	c := &checker{fset: token.NewFileSet(), packages: packages, parsed: map[string]*ast.File{}}
	c.imports = importer.ForCompiler(c.fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	return c, nil
}

// accepts reports whether the compiler accepts a change.
func (c *checker) accepts(m mutant) (bool, error) {
	if m.kind == careless {
		return true, nil
	}
	p := c.packages[m.pkg]
	var files []*ast.File
	for _, name := range p.GoFiles {
		path := filepath.Join(p.Dir, name)
		text, err := os.ReadFile(path)
		if err != nil {
			return false, err
		}
		if path == m.file {
			changed, err := parser.ParseFile(c.fset, path, apply(text, []edit{{m.from, m.to, m.with}}), parser.SkipObjectResolution)
			if err != nil {
				return false, nil
			}
			files = append(files, changed)
			continue
		}
		if c.parsed[path] == nil {
			if c.parsed[path], err = parser.ParseFile(c.fset, path, text, parser.SkipObjectResolution); err != nil {
				return false, err
			}
		}
		files = append(files, c.parsed[path])
	}
	conf := types.Config{Importer: c.imports, Sizes: types.SizesFor("gc", "amd64")}
	_, err := conf.Check(m.pkg, c.fset, slices.Clip(files), nil)
	return err == nil, nil
}

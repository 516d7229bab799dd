// Command cross type-checks every package for other targets, with all that they
// import, from source. It compiles nothing: SQLite alone takes a compiler a
// minute for each target.
//
//	go run ./testdata/cross linux/arm64 windows/amd64
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
)

func main() {
	log.SetFlags(0)
	debug.SetGCPercent(400) // a target is a few hundred MB, and then forgotten
	targets := os.Args[1:]
	packages, errs := make([]int, len(targets)), make([]error, len(targets))
	var all sync.WaitGroup
	turns := make(chan struct{}, runtime.NumCPU())
	for i, target := range targets {
		all.Go(func() {
			turns <- struct{}{}
			packages[i], errs[i] = check(target)
			<-turns
		})
	}
	all.Wait()
	failed := false
	for i, target := range targets {
		if errs[i] != nil {
			failed = true
			log.Printf("%s: %v", target, errs[i])
			continue
		}
		fmt.Printf("%s: %d packages\n", target, packages[i])
	}
	if failed {
		os.Exit(1)
	}
}

// listed is what go list says of a package.
type listed struct {
	ImportPath, Dir string
	GoFiles         []string
	ImportMap       map[string]string
	DepOnly         bool
	Error           *struct{ Err string }
	Module          *struct{ GoVersion string }
}

// check type-checks our packages for a target, and returns how many there are.
func check(target string) (n int, err error) {
	system, arch, ok := strings.Cut(target, "/")
	if !ok {
		return 0, errors.New("not a system and an architecture")
	}
	cmd := exec.Command("go", "list", "-deps", "-e", "-json=ImportPath,Dir,GoFiles,ImportMap,DepOnly,Error,Module", "./...", "./cmd/rehome-fleet/...")
	cmd.Env = append(os.Environ(), "GOOS="+system, "GOARCH="+arch, "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return 0, fmt.Errorf("go list: %w", err)
	}
	known := map[string]*types.Package{"unsafe": types.Unsafe}
	for list := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := list.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return 0, err
		}
		if p.ImportPath == "unsafe" {
			continue
		}
		if err := p.check(arch, known); err != nil {
			return 0, err
		}
		if !p.DepOnly {
			n++
		}
	}
	if n == 0 {
		return 0, errors.New("no packages")
	}
	return n, nil
}

// check type-checks a package, whose imports are known; of others' packages, only
// what they declare.
func (p *listed) check(arch string, known map[string]*types.Package) error {
	if p.Error != nil {
		return errors.New(p.Error.Err)
	}
	var wrong []error
	fset, files := token.NewFileSet(), []*ast.File(nil)
	for _, name := range p.GoFiles {
		f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		files = append(files, f)
	}
	config := types.Config{Importer: p.importer(known), Sizes: types.SizesFor("gc", arch), IgnoreFuncBodies: p.DepOnly}
	config.Error = func(err error) { wrong = append(wrong, err) }
	if p.Module != nil {
		config.GoVersion = "go" + p.Module.GoVersion
	}
	known[p.ImportPath], _ = config.Check(p.ImportPath, fset, files, nil)
	return errors.Join(wrong...)
}

type importer func(path string) (*types.Package, error)

func (i importer) Import(path string) (*types.Package, error) { return i(path) }

func (p *listed) importer(known map[string]*types.Package) importer {
	return func(path string) (*types.Package, error) {
		if to := p.ImportMap[path]; to != "" {
			path = to
		}
		if known[path] == nil {
			return nil, fmt.Errorf("%s is not among the imports", path)
		}
		return known[path], nil
	}
}

// Command mutants tests the tests: it changes one bound or one error path of the
// production code at a time and reports which changes no test notices.
//
//	go run ./testdata/mutants -seed 1 -n 60
//	go run ./testdata/mutants -codecs -seed 1 -n 20 -judged -least 97
//
// With -codecs it makes the mistakes that an author of a codec makes, and only the
// conformance suite of the codecs whose code it is may find them. All mistakes of a draw
// are compiled once, see instrumented, so that each takes only the time of the tests that
// run its code. What changes nothing that can be seen is argued in survivors.txt.
//
// A change is applied with go's -overlay, so that no file of the repository is
// written. Without -codecs it runs the tests of the package and, while they pass, those of
// the packages that exercise all others. The same seed draws the same changes from the
// same code.
package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"iter"
	"log"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// late are the packages whose tests run all others, the quickest first.
var late = []string{"rehome/formats/formatstest", "rehome/formats/all", "rehome/convert", "rehome/cmd/internal/cli"}

// exempt are folders that hold no code of the program.
var exempt = []string{"rehome/formats/formatstest"}

type options struct {
	seed      uint64
	n         int
	only, run string
	timeout   time.Duration
	dry       bool
	codecs    bool
	least     int
	workers   int
	judged    bool
	update    bool
}

func main() {
	log.SetFlags(0)
	var o options
	flag.Uint64Var(&o.seed, "seed", 1, "draw other changes with another seed")
	flag.IntVar(&o.n, "n", 60, "number of changes")
	flag.StringVar(&o.only, "only", "", "only try these numbers of the draw, separated by commas")
	flag.StringVar(&o.run, "run", ".", "only run these tests of the packages that exercise all others")
	flag.DurationVar(&o.timeout, "timeout", 5*time.Minute, "stop the tests of a package after this time")
	flag.BoolVar(&o.dry, "dry", false, "only list the changes")
	flag.BoolVar(&o.codecs, "codecs", false, "make mistakes in codecs, for their own suite to find")
	flag.BoolVar(&o.judged, "judged", false, "only make mistakes in codecs that should be found, see survivors.txt")
	flag.BoolVar(&o.update, "update", false, "write which mistakes in codecs are not found into survivors.txt")
	flag.IntVar(&o.workers, "workers", 2, "mistakes in codecs that are tried at the same time")
	flag.IntVar(&o.least, "least", 0, "fail if fewer per cent of the changes are found")
	flag.Parse()
	if err := run(context.Background(), o); err != nil {
		log.Fatal("mutants: ", err)
	}
}

func run(ctx context.Context, o options) error {
	dir, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	packages, err := list(ctx)
	if err != nil {
		return err
	}
	sites, err := find(packages, o.codecs)
	if err != nil {
		return err
	}
	if o.codecs {
		return judgeCodecs(ctx, dir, packages, sites, o)
	}
	killed, survived, i := 0, 0, -1
	for m := range draw(sites, o.seed) {
		if i++; killed+survived == o.n || (o.dry || o.only != "") && i == o.n {
			break
		}
		if o.only != "" && !slices.Contains(strings.Split(o.only, ","), strconv.Itoa(i+1)) {
			continue
		}
		if o.dry {
			fmt.Printf("%d\t%s\n", i+1, m)
			continue
		}
		began := time.Now()
		by, err := try(ctx, dir, m, packages, o)
		switch {
		case err != nil:
			return err
		case by == "":
			survived++
		default:
			killed++
		}
		fmt.Printf("%d\t%s\t%s\t%v\n", i+1, cmp.Or(by, "SURVIVED"), m, time.Since(began).Round(time.Second))
	}
	fmt.Printf("%d found, %d survived\n", killed, survived)
	if killed*100 < o.least*(killed+survived) {
		return fmt.Errorf("fewer than %d %% were found", o.least)
	}
	return nil
}

const compiler = "the compiler"

// pkg is a package of the module and what its tests depend on.
type pkg struct {
	ImportPath, Dir string
	GoFiles, Deps   []string
	deps            []string // of its tests
}

func list(ctx context.Context) (map[string]*pkg, error) {
	out := map[string]*pkg{}
	text, err := exec.CommandContext(ctx, "go", "list", "-json=ImportPath,Dir,GoFiles,Deps", "./...").Output()
	if err != nil {
		return nil, err
	}
	for d := json.NewDecoder(bytes.NewReader(text)); d.More(); {
		p := &pkg{}
		if err := d.Decode(p); err != nil {
			return nil, err
		}
		out[p.ImportPath] = p
	}
	text, err = exec.CommandContext(ctx, "go", "list", "-test", "-f", `{{.ImportPath}} {{join .Deps " "}}`, "./...").Output()
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		if p := out[strings.TrimSuffix(words[0], ".test")]; p != nil && strings.HasSuffix(words[0], ".test") {
			p.deps = words[1:]
		}
	}
	return out, nil
}

// try returns the package whose tests fail with a change, "" if all pass.
func try(ctx context.Context, dir string, m mutant, packages map[string]*pkg, o options) (string, error) {
	text, err := os.ReadFile(m.file)
	if err != nil {
		return "", err
	}
	changed, overlay := filepath.Join(dir, "changed.go"), filepath.Join(dir, "overlay.json")
	text = slices.Concat(text[:m.from], []byte(m.with), text[m.to:])
	replace, err := json.Marshal(map[string]map[string]string{"Replace": {m.file: changed}})
	if err := errors.Join(err, os.WriteFile(changed, text, 0o666), os.WriteFile(overlay, replace, 0o666)); err != nil {
		return "", err
	}
	if err := exec.CommandContext(ctx, "go", "build", "-overlay", overlay, m.pkg).Run(); err != nil {
		return compiler, nil
	}
	for _, name := range append([]string{m.pkg}, late...) {
		if p := packages[name]; name != m.pkg && !slices.Contains(p.deps, m.pkg) {
			continue
		}
		tests := "."
		if name != m.pkg {
			tests = o.run
		}
		test := exec.CommandContext(ctx, "go", "test", "-overlay", overlay, "-vet=off", "-short", "-failfast", "-run", tests, "-timeout", o.timeout.String(), name)
		if err := test.Run(); err != nil {
			return name, nil
		}
	}
	return "", nil
}

// draw picks changes: first a kind, so that common ones leave room for others,
// then one of that kind.
func draw(sites map[string][]mutant, seed uint64) iter.Seq[mutant] {
	kinds := slices.Sorted(maps.Keys(sites))
	return func(yield func(mutant) bool) {
		r := rand.New(rand.NewPCG(seed, 0))
		for len(kinds) > 0 {
			k := r.IntN(len(kinds))
			list := sites[kinds[k]]
			if len(list) == 0 {
				kinds = slices.Delete(kinds, k, k+1)
				continue
			}
			at := r.IntN(len(list))
			if !yield(list[at]) {
				return
			}
			sites[kinds[k]] = slices.Delete(list, at, at+1)
		}
	}
}

// Command coverage compares the coverage of each package with the floor that is
// recorded for it, and raises the floor with -update. A floor only rises.
//
//	go run ./testdata/coverage [-update] cover.out .ci/coverage
package main

import (
	"bufio"
	"flag"
	"fmt"
	"log"
	"maps"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
)

func main() {
	log.SetFlags(0)
	update := flag.Bool("update", false, "raise the floor of packages that are covered better")
	flag.Parse()
	if err := run(flag.Arg(0), flag.Arg(1), *update); err != nil {
		log.Fatal("coverage: ", err)
	}
}

// slack is what scheduling changes between two runs, in points.
const slack = 0.3

func run(profile, floor string, update bool) error {
	got, err := measure(profile)
	if err != nil {
		return err
	}
	want, err := read(floor)
	if err != nil {
		return err
	}
	fallen := 0
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if was, ok := want[name]; ok && got[name] < was-slack {
			fmt.Printf("%s: %.1f%% of statements are covered; the floor is %.1f%%\n", name, got[name], was)
			fallen++
		}
		want[name] = max(want[name], got[name])
	}
	fmt.Printf("total: %.1f%% of statements\n", got["total"])
	if fallen > 0 {
		return fmt.Errorf("%d packages are below their floor", fallen)
	}
	if !update {
		return nil
	}
	var out strings.Builder
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if _, ok := got[name]; ok {
			fmt.Fprintf(&out, "%s %.1f\n", name, want[name])
		}
	}
	return os.WriteFile(floor, []byte(out.String()), 0o644)
}

// measure reads a profile in which a block can stand several times, once for
// each test binary, and counts a statement that any of them reached.
func measure(profile string) (map[string]float64, error) {
	f, err := os.Open(profile)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	type block struct {
		statements int
		reached    bool
	}
	blocks := map[string]block{}
	for in := bufio.NewScanner(f); in.Scan(); {
		words := strings.Fields(in.Text())
		if len(words) != 3 {
			continue // the mode
		}
		n, err := strconv.Atoi(words[1])
		if err != nil {
			return nil, err
		}
		blocks[words[0]] = block{n, words[2] != "0" || blocks[words[0]].reached}
	}
	all, reached := map[string]int{}, map[string]int{}
	for at, b := range blocks {
		file, _, _ := strings.Cut(at, ":")
		for _, name := range []string{path.Dir(file), "total"} {
			all[name] += b.statements
			if b.reached {
				reached[name] += b.statements
			}
		}
	}
	out := map[string]float64{}
	for name, n := range all {
		out[name] = float64(int(1000*float64(reached[name])/float64(max(n, 1)))) / 10
	}
	return out, nil
}

func read(floor string) (map[string]float64, error) {
	out := map[string]float64{}
	data, err := os.ReadFile(floor)
	if os.IsNotExist(err) {
		return out, nil
	}
	for line := range strings.Lines(string(data)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		n, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", floor, err)
		}
		out[name] = n
	}
	return out, err
}

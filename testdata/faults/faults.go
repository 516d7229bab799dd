// Package faults plants what can go wrong with a store, from catalogs of
// text beside it: what is done to which sample, and which rule has to find it
// where. It knows nothing of what looks for them.
package faults

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Fault is one entry of a catalog.
type Fault struct {
	Catalog string // the file's name without its ending
	Name    string
	Sample  string
	Steps   []string
	Expect  []Expected
	Also    []string // rules that may be broken with it
	Check   string   // what is looked at, below the sample's folder; "." is all
	For     string   // also: what a conversion to this format would lose
	Secrets bool     // also: credentials
}

// Expected is one finding: a rule, and its place as an address is printed, "*"
// for any.
type Expected struct{ Rule, Place string }

// Load reads every catalog of a folder.
func Load(dir string) (all []Fault, err error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		name := strings.TrimSuffix(filepath.Base(file), ".txt")
		list, err := parse(name, strings.ReplaceAll(string(text), "\r\n", "\n"))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Base(file), err)
		}
		all = append(all, list...)
	}
	return all, nil
}

// parse reads blocks of lines with empty lines between them; # begins a remark.
func parse(catalog, text string) (all []Fault, err error) {
	for n, block := range strings.Split(text, "\n\n") {
		f := Fault{Catalog: catalog, Check: "."}
		for line := range strings.Lines(block) {
			line = strings.Trim(line, "\n")
			if line == "" || strings.HasPrefix(line, "#") {
				continue
			}
			if err := f.take(line); err != nil {
				return nil, fmt.Errorf("block %d: %w", n+1, err)
			}
		}
		if f.Name == "" && f.Sample == "" && f.Steps == nil {
			continue
		}
		if f.Name == "" || f.Sample == "" || len(f.Steps) == 0 || len(f.Expect) == 0 {
			return nil, fmt.Errorf("block %d (%q): fault:, sample:, a step and expect: are needed", n+1, f.Name)
		}
		all = append(all, f)
	}
	return all, nil
}

func (f *Fault) take(line string) error {
	word, rest, _ := strings.Cut(line, ": ")
	switch word {
	case "fault":
		f.Name = rest
	case "sample":
		f.Sample = rest
	case "check":
		f.Check = rest
	case "for":
		f.For = rest
	case "secrets":
		f.Secrets = rest == "yes"
	case "also":
		f.Also = append(f.Also, rest)
	case "expect":
		id, place, ok := strings.Cut(rest, " ")
		if !ok {
			return fmt.Errorf("%q: want a rule and a place", line)
		}
		f.Expect = append(f.Expect, Expected{id, place})
	default:
		f.Steps = append(f.Steps, line)
	}
	return nil
}

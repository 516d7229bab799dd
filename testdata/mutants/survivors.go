package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// survivorsFile lists changes that no law finds, and the packages all of whose changes were
// tried:
//
//	judged formats/codex
//	open 1
//
//	formats/codex/decode.go decoder.session
//		forget: out = append(out, x) => _ = append(out, x)
//			Why it changes nothing that can be seen.
//		first: for x := range list => ; break
//			open
//
// A change is argued, or open: a law should find it, and none does. The number of these only
// falls, unless a commit that adds a package says why it rises.
const survivorsFile = "testdata/mutants/survivors.txt"

const stillOpen = "open"

// survivors is what survivorsFile says.
type survivors struct {
	judged []string
	open   int
	why    map[key]string
}

// key names a change by what does not depend on the lines before it: where it is, and what it is.
type key struct{ place, change string }

func (m mutant) key() key {
	return key{strings.TrimSpace(m.path() + " " + m.fn), m.change()}
}

// isJudged reports whether all changes of the package were tried.
func (s *survivors) isJudged(m mutant) bool {
	return slices.Contains(s.judged, strings.TrimPrefix(m.pkg, "rehome/"))
}

// readSurvivors reads survivorsFile, each change of which must be one of the sites.
func readSurvivors(sites map[string][]mutant) (*survivors, error) {
	known := map[key]bool{}
	for _, list := range sites {
		for _, m := range list {
			known[m.key()] = true
		}
	}
	text, err := os.ReadFile(filepath.FromSlash(survivorsFile))
	if err != nil {
		return nil, err
	}
	s := &survivors{why: map[key]string{}}
	return s, s.parse(string(text), known)
}

func (s *survivors) parse(text string, known map[key]bool) error {
	var bad []error
	var at key
	for i, line := range strings.Split(text, "\n") {
		words, wrong := strings.TrimSpace(line), ""
		name, value, _ := strings.Cut(words, " ")
		switch {
		case words == "" || strings.HasPrefix(line, "#"):
		case name == "judged":
			s.judged = append(s.judged, value)
		case name == stillOpen && value != "":
			s.open, _ = strconv.Atoi(value)
		case strings.HasPrefix(line, "\t\t"):
			if s.why[at] != "" || at.change == "" {
				wrong = "a reason without a change, or a second one"
			}
			s.why[at] = words
		case strings.HasPrefix(line, "\t"):
			if at.change = words; !known[at] {
				wrong = "there is no such change in " + at.place
			}
		default:
			at = key{place: words}
		}
		if wrong != "" {
			bad = append(bad, fmt.Errorf("%s:%d: %s: %s", survivorsFile, i+1, wrong, words))
		}
	}
	if n := s.count(); n != s.open {
		bad = append(bad, fmt.Errorf("%s: %d changes are open, and it says %d", survivorsFile, n, s.open))
	}
	return errors.Join(bad...)
}

// count returns how many changes are open.
func (s *survivors) count() (n int) {
	for _, why := range s.why {
		if why == stillOpen {
			n++
		}
	}
	return n
}

// write writes survivorsFile, below the comment that it begins with.
func (s *survivors) write() error {
	old, err := os.ReadFile(filepath.FromSlash(survivorsFile))
	if err != nil {
		return err
	}
	var out strings.Builder
	for line := range strings.Lines(string(old)) {
		if !strings.HasPrefix(line, "#") {
			break
		}
		out.WriteString(line)
	}
	out.WriteString("\n")
	for _, name := range slices.Sorted(slices.Values(s.judged)) {
		fmt.Fprintf(&out, "judged %s\n", name)
	}
	fmt.Fprintf(&out, "open %d\n", s.count())
	place := ""
	for _, k := range slices.SortedFunc(maps.Keys(s.why), func(a, b key) int {
		return strings.Compare(a.place+"\n"+a.change, b.place+"\n"+b.change)
	}) {
		if k.place != place {
			place = k.place
			fmt.Fprintf(&out, "\n%s\n", place)
		}
		fmt.Fprintf(&out, "\t%s\n\t\t%s\n", k.change, s.why[k])
	}
	return os.WriteFile(filepath.FromSlash(survivorsFile), []byte(out.String()), 0o666)
}

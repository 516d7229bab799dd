package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// equalFile lists the changes that nobody can see the effect of, in blocks: where, what, and why.
const equalFile = "testdata/mutants/equal.txt"

// equals says by place and change why it changes nothing.
type equals map[[2]string]string

func (e equals) why(m mutant) string { return e[m.key()] }

// key names a change by what does not depend on the lines before it.
func (m mutant) key() [2]string {
	return [2]string{strings.TrimSpace(m.path() + " " + m.fn), m.change()}
}

// readEqual reads equalFile, each block of which must be one of the changes.
func readEqual(sites map[string][]mutant) (equals, error) {
	known := map[[2]string]bool{}
	for _, list := range sites {
		for _, m := range list {
			known[m.key()] = true
		}
	}
	text, err := os.ReadFile(filepath.FromSlash(equalFile))
	if err != nil {
		return nil, err
	}
	return parseEqual(string(text), known)
}

func parseEqual(text string, known map[[2]string]bool) (equals, error) {
	out := equals{}
	var bad []error
	place, change := "", ""
	for i, line := range strings.Split(text, "\n") {
		at := fmt.Sprintf("%s:%d", equalFile, i+1)
		switch words := strings.TrimSpace(line); {
		case words == "" || strings.HasPrefix(line, "#"):
		case !strings.HasPrefix(line, "\t"):
			place, change = words, ""
		case !strings.HasPrefix(line, "\t\t"):
			if change = words; !known[[2]string{place, change}] {
				bad = append(bad, fmt.Errorf("%s: no such change in %s: %s", at, place, change))
			}
		case change == "" || out[[2]string{place, change}] != "":
			bad = append(bad, fmt.Errorf("%s: a reason without a change, or a second one", at))
		default:
			out[[2]string{place, change}] = words
		}
	}
	return out, errors.Join(bad...)
}

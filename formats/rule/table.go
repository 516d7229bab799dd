package rule

import (
	"embed"
	"fmt"
	"slices"
	"strings"
	"sync"
)

//go:embed rules/*.txt
var tables embed.FS

// All returns the rules in the order of their ids. The list is shared: do not
// change it.
func All() []Rule { return parsed() }

// Lookup returns the rule with an id, or nil.
func Lookup(id string) *Rule {
	all := parsed()
	i, ok := slices.BinarySearchFunc(all, id, func(r Rule, id string) int { return strings.Compare(r.ID, id) })
	if !ok {
		return nil
	}
	return &all[i]
}

// parsed parses the tables once. They are part of the program, so it panics on a
// mistake.
var parsed = sync.OnceValue(func() []Rule {
	var all []Rule
	files, err := tables.ReadDir("rules")
	if err != nil {
		panic(err)
	}
	for _, f := range files {
		text, err := tables.ReadFile("rules/" + f.Name())
		if err != nil {
			panic(err)
		}
		list, err := parse(string(text))
		if err != nil {
			panic(fmt.Sprintf("rule: rules/%s: %v", f.Name(), err))
		}
		all = append(all, list...)
	}
	slices.SortFunc(all, func(a, b Rule) int { return strings.Compare(a.ID, b.ID) })
	for i := 1; i < len(all); i++ {
		if all[i].ID == all[i-1].ID {
			panic("rule: two rules named " + all[i].ID)
		}
	}
	return all
})

// parse parses blocks separated by blank lines:
//
//	RH301 error cursor-chat cursor-sdk
//	blob does not match its id
//	why: the client does not check it ...
//	fix: restore the file from a backup ...
//
// A line that starts with a space continues the one before; # starts a comment.
func parse(text string) ([]Rule, error) {
	var out []Rule
	var block []string
	flush := func() error {
		if len(block) == 0 {
			return nil
		}
		r, err := parseBlock(block)
		block = nil
		out = append(out, r)
		return err
	}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		switch {
		case strings.HasPrefix(line, "#"):
		case line == "":
			if err := flush(); err != nil {
				return nil, err
			}
		case strings.HasPrefix(line, " ") && len(block) > 0:
			block[len(block)-1] += " " + strings.TrimSpace(line)
		default:
			block = append(block, line)
		}
	}
	return out, flush()
}

func parseBlock(block []string) (r Rule, err error) {
	head := strings.Fields(block[0])
	if len(head) < 3 || len(block) != 4 {
		return r, fmt.Errorf("%q: want four lines: id, severity and formats; title; why; next step", block[0])
	}
	r.ID, r.Formats, r.Title = head[0], head[2:], block[1]
	if len(r.ID) != 5 || !strings.HasPrefix(r.ID, "RH") || r.ID[2] < '1' || r.ID[2] > '5' {
		return r, fmt.Errorf("%q is not a rule id", r.ID)
	}
	r.Layer = 1 << (r.ID[2] - '1')
	if err := r.Severity.UnmarshalText([]byte(head[1])); err != nil {
		return r, fmt.Errorf("%s: %w", r.ID, err)
	}
	why, text, _ := strings.Cut(block[2], ": ")
	fix, advice, _ := strings.Cut(block[3], ": ")
	if why != "why" || fix != "fix" {
		return r, fmt.Errorf("%s: the third or fourth line has the wrong label", r.ID)
	}
	r.Why, r.Fix = text, advice
	return r, nil
}

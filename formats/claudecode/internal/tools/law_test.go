package tools

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"rehome/formats/formatstest/callgen"
	"rehome/formats/internal/toolmap"
)

// TestArgumentsArrive: each leaf of what a model gave is in the call of Claude Code, or the
// argument is named as one that was left out.
func TestArgumentsArrive(t *testing.T) {
	names := callgen.Calls()
	m := &callgen.Maker{Rand: rand.New(rand.NewPCG(1, 2))}
	own, left, seen := 0, 0, map[string]bool{}
	for i := range 40 * len(names) {
		kind, name := names[i%len(names)][0], names[i%len(names)][1]
		given := m.Arguments(kind)
		doc, err := json.Marshal(given)
		if err != nil {
			t.Fatal(err)
		}
		docs := [2][]byte{doc, nil}
		inferred := i/len(names)%4 == 3
		if inferred {
			docs = [2][]byte{nil, doc}
		}
		n := Claude("/session", kind, name, docs[0], docs[1], nil)
		var call []string
		callgen.Leaves("", callgen.Parsed(t, n.Input), &call)
		call = append(call, n.Name)
		for argument, v := range given {
			if slices.Contains(n.Left, argument) || slices.ContainsFunc(n.Left, func(l string) bool { return strings.HasPrefix(l, argument+".") }) || inferred && (toolmap.ClientArgument(argument) || v == false) {
				left++
				continue
			}
			var list []string
			callgen.Leaves(argument, v, &list)
			ranged := argument == "end_line_one_indexed_inclusive" && strings.Contains(string(n.Input), `"limit":`)
			for _, leaf := range list {
				if !callgen.Arrives(leaf, argument, call) && !ranged && !(inferred && strings.HasSuffix(leaf, " is false")) {
					t.Errorf("%s %s, from the record: %v\n%s\nbecame %s %s without %s, %q of %s", kind, name, inferred, doc, n.Name, n.Input, n.Left, leaf, argument)
				}
			}
		}
		if n.Own {
			own++
			seen[kind] = true
		}
		if t.Failed() {
			return
		}
	}
	if own < 400 || left < 300 || len(seen) < 15 {
		t.Errorf("too little to say anything: %d calls of %d kinds, %d arguments left out", own, len(seen), left)
	}
}

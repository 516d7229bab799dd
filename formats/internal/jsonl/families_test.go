package jsonl

import (
	"strings"
	"testing"
)

// TestFamilies: each session is its name, and after a slash that of its parent.
func TestFamilies(t *testing.T) {
	for in, want := range map[string]string{
		"":                            "",
		"a b c":                       "a b c",
		"a b c/a d/b e/a f/c":         "a c f e b d",
		"c/a a b/c":                   "a c b",
		"a/a b":                       "a b",
		"z x/y y/x w/y":               "z x y w",
		"a/gone b/a":                  "a b",
		"1 2/1 3/2 4/3 5/4 6/5 7 8/1": "1 2 3 4 5 6 8 7",
	} {
		var names, parents []string
		for word := range strings.FieldsSeq(in) {
			name, parent, _ := strings.Cut(word, "/")
			names, parents = append(names, name), append(parents, parent)
		}
		got := Families(names, func(i int) int {
			for n, name := range names {
				if name == parents[i] {
					return n
				}
			}
			return -1
		})
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%q: %q, want %q", in, s, want)
		}
	}
}

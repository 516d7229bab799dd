package leaks

import (
	"bytes"
	"slices"
	"testing"
)

// TestCompile compiles every expression: in the program, only those that some
// word asks for are.
func TestCompile(t *testing.T) {
	s := scanner(t)
	if len(s.rules) < 200 {
		t.Fatalf("only %d rules", len(s.rules))
	}
	for _, r := range s.rules {
		if r.full().NumSubexp() < r.Group {
			t.Errorf("%s has no group %d", r.ID, r.Group)
		}
		if r.begun {
			r.gate()
		}
		if len(r.words) == 0 || slices.Contains(r.words, "") {
			t.Errorf("%s would be tried everywhere: %q", r.ID, r.words)
		}
		for _, a := range append(slices.Clone(s.allow), r.allow...) {
			a.pattern()
			a.words()
			if !slices.Contains([]string{"", "match", "line"}, a.Target) {
				t.Errorf("%s has an allowance for %q", r.ID, a.Target)
			}
		}
	}
}

// TestWords finds words that lie in each other, in either case, across calls.
func TestWords(t *testing.T) {
	list := []string{"she", "he", "hers", "e", "is", "hi"}
	w := newWords(list)
	text := []byte("usHErs, this is SHE")
	var want, got [][2]int
	for end := range len(text) + 1 {
		for id, s := range list {
			if bytes.HasSuffix(bytes.ToLower(text[:end]), []byte(s)) {
				want = append(want, [2]int{id, end})
			}
		}
	}
	for cut := range text {
		got = got[:0]
		note := func(from int) func(uint16, int) {
			return func(id uint16, end int) { got = append(got, [2]int{int(id), from + end}) }
		}
		w.each(w.each(0, text[:cut], note(0)), text[cut:], note(cut))
		slices.SortFunc(got, func(a, b [2]int) int { return slices.Compare([]int{a[1], a[0]}, []int{b[1], b[0]}) })
		if !slices.Equal(got, want) {
			t.Fatalf("cut at %d: %v, want %v", cut, got, want)
		}
	}
}

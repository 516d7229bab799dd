package leaks

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestVendored holds what is embedded to what the tests in upstream wrote, which
// compare it with gitleaks; and the reader to reading all of it.
func TestVendored(t *testing.T) {
	sums, err := os.ReadFile("gitleaks/SHA256SUMS")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(sums)) {
		sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		text, err := os.ReadFile(filepath.Join("gitleaks", name))
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("%x", sha256.Sum256(text)); got != sum {
			t.Errorf("gitleaks/%s was edited: only `make rules` changes it", name)
		}
	}
	for _, name := range []string{gitleaksRules, ownRules} {
		set, err := readRules(name)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		e.SetIndent("", " ")
		if err := e.Encode(set); err != nil {
			t.Fatal(err)
		}
		if text, _ := files.ReadFile(name); !bytes.Equal(text, b.Bytes()) {
			t.Errorf("%s says more than is read of it", name)
		}
	}
}

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
		if r.anchored {
			r.tailAfterOne()
		}
		if r.Each != "" && r.each().NumSubexp() != 1 {
			t.Errorf("%s: each has no single group", r.ID)
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

// TestOverlaps: words that overlap, end alike or end others are all found, whatever
// their order.
func TestOverlaps(t *testing.T) {
	list := []string{"abcd", "cde", "bcd", "d"}
	for range list {
		list = append(list[1:], list[0])
		var got []string
		newWords(list).each(0, []byte("xABcde"), func(id uint16, end int) { got = append(got, list[id]) })
		if slices.Sort(got); !slices.Equal(got, []string{"abcd", "bcd", "cde", "d"}) {
			t.Errorf("of %q: %q", list, got)
		}
	}
}

package prose

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"rehome/internal/udiff"
)

func TestUnified(t *testing.T) {
	for _, c := range []struct{ before, after, want string }{
		{"a\n", "a\n", ""},
		{"", "a\nb\n", "@@ -0,0 +1,2 @@|+a|+b"},
		{"a\nb\n", "", "@@ -1,2 +0,0 @@|-a|-b"},
		{"a\nb\nc\n", "a\nx\nc\n", "@@ -1,3 +1,3 @@| a|-b|+x| c"},
		{"1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n", "@@ -2,7 +2,7 @@| 2| 3| 4|-5|+five| 6| 7| 8"},
		{"a\nb\nc\nd\n", "b\nc\nd\ne\n", "@@ -1,4 +1,4 @@|-a| b| c| d|+e"},
	} {
		if got := strings.Join(unified(c.before, c.after), "|"); got != c.want {
			t.Errorf("%q -> %q: %s\nwant %s", c.before, c.after, got, c.want)
		}
	}
}

// apply makes the new text of the old one and a diff, by the book.
func apply(before string, diff []string) (string, error) {
	old := splitLines(before)
	var out []string
	at := 0
	for _, l := range diff {
		switch l[0] {
		case '@':
			span, _, _ := strings.Cut(strings.TrimPrefix(l, "@@ -"), " ")
			first, n, counted := strings.Cut(span, ",")
			from, err := strconv.Atoi(first)
			if err != nil {
				return "", err
			}
			if !counted || n != "0" {
				from--
			}
			if from < at {
				return "", fmt.Errorf("hunks overlap at %s", l)
			}
			out = append(out, old[at:from]...)
			at = from
		case ' ', '-':
			if at >= len(old) || old[at] != l[1:] {
				return "", fmt.Errorf("line %d is not %q", at, l)
			}
			if l[0] == ' ' {
				out = append(out, old[at])
			}
			at++
		case '+':
			out = append(out, l[1:])
		}
	}
	return strings.Join(append(out, old[at:]...), "\n"), nil
}

// TestUnifiedApplies: a diff makes the second text of the first, however they
// differ, and is not longer than it has to be where it is short.
func TestUnifiedApplies(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	text := func(n, words int) string {
		var b strings.Builder
		for range n {
			fmt.Fprintf(&b, "line %d\n", r.IntN(words))
		}
		return b.String()
	}
	for i := range 3000 {
		n := r.IntN(30)
		if i%500 == 0 {
			n = 1500 // more edits than are told apart
		}
		before, after := text(n, 1+r.IntN(40)), text(r.IntN(n+1), 1+r.IntN(40))
		got, err := apply(before, unified(before, after))
		if err != nil || got != strings.TrimSuffix(after, "\n") {
			t.Fatalf("%q -> %q: %q, %v", before, after, got, err)
		}
		if a, b := splitLines(before), splitLines(after); n <= 30 {
			edits := 0
			for _, c := range udiff.Changes(a, b) {
				edits += c.Removed + c.Added
			}
			if want := len(a) + len(b) - 2*common(a, b); edits != want {
				t.Fatalf("%q -> %q: %d edits, %d would do", before, after, edits, want)
			}
		}
	}
}

// common is the length of the longest common subsequence, by the textbook.
func common(a, b []string) int {
	row := make([]int, len(b)+1)
	for _, x := range a {
		diagonal := 0
		for j, y := range b {
			next := row[j+1]
			if x == y {
				row[j+1] = diagonal + 1
			} else {
				row[j+1] = max(row[j+1], row[j])
			}
			diagonal = next
		}
	}
	return row[len(b)]
}

package udiff

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// apply makes the new text of the old one.
func apply(t *testing.T, before string, list []Hunk) string {
	t.Helper()
	a := cut(before)
	var out []string
	at := 0
	for _, h := range list {
		start := h.OldStart - 1
		if h.OldLines == 0 {
			start++
		}
		out = append(out, a[at:start]...)
		at = start
		olds, news := 0, 0
		for _, line := range h.Lines {
			if line[0] != '+' {
				if strings.TrimSuffix(a[at], "\n") != line[1:] {
					t.Fatalf("line %d is %q, the hunk says %q", at, a[at], line)
				}
				at, olds = at+1, olds+1
			}
			if line[0] != '-' {
				out, news = append(out, line[1:]+"\n"), news+1
			}
		}
		if olds != h.OldLines || news != h.NewLines {
			t.Fatalf("%+v counts its lines wrong", h)
		}
		if len(out) < h.NewStart-1 {
			t.Fatalf("%+v begins at %d", h, len(out))
		}
	}
	return strings.Join(append(out, a[at:]...), "")
}

func TestBetween(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	text := func(n int) string {
		var s strings.Builder
		for range n {
			s.WriteString(string(rune('a'+rng.IntN(5))) + "\n")
		}
		return s.String()
	}
	for range 500 {
		a, b := text(rng.IntN(40)), text(rng.IntN(40))
		if got := apply(t, a, Between(a, b)); got != b {
			t.Fatalf("%q to %q gives %q", a, b, got)
		}
		older, newer := Region(a, b)
		if !strings.Contains(a, older) || older == "" && a != "" && a != b || a != b && strings.Replace(a, older, newer, 1) == a {
			t.Fatalf("%q to %q: region %q to %q", a, b, older, newer)
		}
	}
	if list := Between("same\n", "same\n"); list != nil {
		t.Errorf("nothing changed: %+v", list)
	}
	big, other := text(3000), strings.ToUpper(text(3000))
	if list := Between(big, other); len(list) != 1 || apply(t, big, list) != other {
		t.Errorf("%d hunks between two large texts", len(list))
	}
}

func TestParse(t *testing.T) {
	list := Parse("--- a\n+++ b\n@@ -1,3 +1,3 @@ func\n x\n-y\n+z\n\n@@ -9 +9,2 @@\n-- dash\n+++ plus\n+more\n\\ No newline at end of file\n")
	if len(list) != 2 || list[0].OldLines != 3 || list[1].NewLines != 2 || list[1].OldStart != 9 {
		t.Fatalf("%+v", list)
	}
	before, after := Sides(list)
	if before != "x\ny\n\n- dash" || after != "x\nz\n\n++ plus\nmore" {
		t.Errorf("%q, %q", before, after)
	}
	for _, bad := range []string{"", "words", "@@ -x +1 @@\n-a", "@@ -1 1 @@", "@@ -1,-1 +1 @@\n a"} {
		if list := Parse(bad); list != nil {
			t.Errorf("%q: %+v", bad, list)
		}
	}
	if h := Chunk("-a\n+b\n c\n\nodd", 5, 6); h.OldLines != 3 || h.NewLines != 3 || !slices.Equal(h.Lines, []string{"-a", "+b", " c", " "}) {
		t.Errorf("%+v", h)
	}
}

// TestManyChanges: beyond the limit of the search, lines that are once in both texts are
// still found, in any order, and the work stays bounded.
func TestManyChanges(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var a, b []string
	for i := range 20000 {
		line := strconv.Itoa(i)
		switch i % 10 {
		case 0:
			a, b = append(a, line), append(b, line+"!")
		case 1:
			b = append(b, line)
		case 2, 3:
			a, b = append(a, "same"), append(b, "same")
		default:
			a, b = append(a, line), append(b, line)
		}
	}
	if list := Changes(a, b); len(list) != 2000 {
		t.Errorf("%d changes, want 2000", len(list))
	}
	if list := Changes(slices.Repeat([]string{"a", "b"}, 2000), slices.Repeat([]string{"a", "c"}, 2000)); len(list) != 1 {
		t.Errorf("%d changes of lines that are often in both texts, want 1", len(list))
	}
	for range 3 { // of lines in another order, something is kept
		x, y := slices.Clone(a), slices.Clone(a)
		rng.Shuffle(len(y), func(i, j int) { y[i], y[j] = y[j], y[i] })
		list, at, kept := Changes(x, y), 0, 0
		for _, c := range list {
			if n := c.OldStart - at; !slices.Equal(x[at:c.OldStart], y[c.NewStart-n:c.NewStart]) {
				t.Fatal("lines that are not the same are kept")
			}
			kept, at = kept+c.OldStart-at, c.OldStart+c.Removed
		}
		if kept < 100 {
			t.Errorf("%d lines are kept", kept)
		}
	}
}

package sdkdoc

import (
	"math/rand/v2"
	"testing"
)

// TestNumbers: numbers in any order are told apart as a set would.
func TestNumbers(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var s Numbers
		have, last, some := map[int64]bool{}, int64(0), false
		for range 100 {
			n := last + 1
			if rng.IntN(3) == 0 {
				n = int64(rng.IntN(60)) - 5
			}
			twice, behind := s.Add(n)
			if twice != have[n] || !s.Has(n) || s.Has(-100) {
				t.Fatalf("%d: twice %v, spans %v", n, twice, s.spans)
			}
			if !twice && behind != (some && n < last) {
				t.Fatalf("%d behind %d: %v", n, last, behind)
			}
			have[n], last, some = true, n, true
		}
		total := int64(0)
		for i, p := range s.spans {
			total += p.to - p.from + 1
			if p.from > p.to || i > 0 && s.spans[i-1].to+1 >= p.from {
				t.Fatalf("spans %v", s.spans)
			}
		}
		if total += int64(len(s.late)); total != int64(len(have)) {
			t.Fatalf("%d numbers in %v and %v, want %d", total, s.spans, s.late, len(have))
		}
	}
}

// TestNumbersBackwards: numbers that come in the worst order are entered each
// by itself, and move nothing.
func TestNumbersBackwards(t *testing.T) {
	var s Numbers
	const n = 1_000_000
	for i := n; i > 0; i -= 2 {
		if twice, _ := s.Add(int64(i)); twice {
			t.Fatal(i)
		}
	}
	if len(s.spans) != 1 || len(s.late) != n/2-1 {
		t.Errorf("%d spans, %d beside them", len(s.spans), len(s.late))
	}
}

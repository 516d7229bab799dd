package lists

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"testing"
)

// TestHexRuns: every run of digits that is long enough is found, wherever it is.
func TestHexRuns(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	runs := regexp.MustCompile(`[0-9a-fA-F]{64,}`)
	found := 0
	for range 20_000 {
		var b []byte
		for range r.IntN(6) {
			for range r.IntN(70) {
				b = append(b, "xyz~ 0aF"[r.IntN(8)])
			}
			for range max(0, r.IntN(130)-r.IntN(2)*64) {
				b = append(b, "0123456789abcdefABCDEF"[r.IntN(22)])
			}
		}
		var got, want []string
		for run := range hexRuns(b) {
			got = append(got, string(run))
		}
		for _, run := range runs.FindAll(b, -1) {
			want = append(want, string(run))
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%q: %q, want %q", b, got, want)
		}
		found += len(got)
	}
	if found < 1000 {
		t.Errorf("only %d runs", found)
	}
}

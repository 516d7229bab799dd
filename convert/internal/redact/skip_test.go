package redact

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
)

// eachSlowly is index.each without skip: it looks at every byte.
func (x *index) eachSlowly(b []byte, isJSON bool, f func(match) bool) {
	var w uint32
	var origin []int
	end, gap, inside := 0, 0, maxInside*(len(b)+maxKept/maxInside)
	for i := 0; i < len(b); {
		out, k, size := next(b, i)
		if k == 0 {
			gap = len(origin)
		}
		for _, c := range out[:k] {
			w = w<<8 | uint32(c)
			origin = append(origin, i)
			n := len(origin)
			if n < gram || x.byGram[w&0xFFFFFF] == nil {
				continue
			}
			from := origin[n-gram]
			if from < end && inside < 0 {
				continue
			}
			m, read, ok := x.longest(b, from, w, n > gram && gap != n-gram, isJSON)
			if from < end {
				inside -= read
			}
			if ok && m.to > end && !f(m) {
				return
			}
			if ok {
				end = max(end, m.to)
			}
		}
		i += size
	}
}

// TestSkip: nothing is found or missed because bytes are skipped, in random texts with values
// in every spelling, whole, in part and side by side.
func TestSkip(t *testing.T) {
	rnd := rand.New(rand.NewPCG(11, 12))
	secrets := []string{"session_secret=" + bare(), token()}
	for _, r := range []*Redactor{
		redactor(t, Policy{}, secrets...), // no short ones
		redactor(t, Policy{Words: []string{"a+b c", "Acme", `C:\nina`, "50%25 off", "é è", "  x"}, Paths: true}, append(secrets, "/home/ann/x /home/bob.lee/x")...),
	} {
		r.known.sort()
		sameMatches(t, rnd, r)
	}
}

func sameMatches(t *testing.T, rnd *rand.Rand, r *Redactor) {
	var values []string
	for text := range r.values {
		values = append(values, text)
	}
	slices.Sort(values)
	spell := func(v string) string {
		switch rnd.IntN(7) {
		case 0:
			return quoted(v, 1+rnd.IntN(3))
		case 1:
			at := rnd.IntN(len(v))
			return v[:at] + `\` + v[at:]
		case 2:
			var out []byte
			for _, c := range []byte(v) {
				if rnd.IntN(3) == 0 {
					out = append(out, '%', "0123456789ABCDEF"[c>>4], "0123456789abcdef"[c&15])
				} else {
					out = append(out, c)
				}
			}
			return string(out)
		case 3:
			return string(bytes.ReplaceAll([]byte(v), []byte(" "), []byte("+")))
		case 4:
			return v[rnd.IntN(len(v)):]
		case 5:
			return v[:rnd.IntN(len(v))]
		}
		return v
	}
	const filler = `abcghp_Acme +\%2un"' .…`
	found := 0
	for range 30_000 {
		var b []byte
		for len(b) < 5+rnd.IntN(120) {
			if rnd.IntN(3) == 0 {
				b = append(b, spell(values[rnd.IntN(len(values))])...)
				continue
			}
			for range rnd.IntN(24) {
				b = append(b, filler[rnd.IntN(len(filler))])
			}
		}
		for _, isJSON := range []bool{false, true} {
			var fast, slow []match
			r.known.each(b, isJSON, func(m match) bool { fast = append(fast, m); return true })
			r.known.eachSlowly(b, isJSON, func(m match) bool { slow = append(slow, m); return true })
			if found += len(slow); !slices.Equal(fast, slow) {
				t.Fatalf("%q: %d matches, want %d: %v, %v", b, len(fast), len(slow), fast, slow)
			}
		}
	}
	if found < 5_000 {
		t.Errorf("%d matches", found)
	}
}

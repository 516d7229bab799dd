package leaks

import (
	"slices"
	"strings"
	"testing"
)

// whole finds hits the slow way: every expression over all of the text, if one
// of its keywords stands anywhere in it.
func whole(s *Scanner, text string) []Hit {
	w := &scan{Scanner: s, b: []byte(text), seen: make([]progress, len(s.rules))}
	w.plain.fill(w.b, 0, len(w.b))
	lower := strings.ToLower(string(w.plain.text))
	for id, r := range s.rules {
		if slices.ContainsFunc(r.Keywords, func(k string) bool { return strings.Contains(lower, k) }) {
			w.seen[id] = progress{to: len(w.b)}
			w.search(id)
		}
	}
	var out []Hit
	w.report(len(w.b), func(h Hit) { out = append(out, h) })
	return out
}

// TestWhole holds the search around words against whole: on texts made of
// credentials, pieces of them, and what expressions begin with.
func TestWhole(t *testing.T) {
	s := scanner(t)
	p := newPlanter()
	plants := p.plants()
	between := []string{" ", "\n", `"`, `": "`, "=", " := ", "'", ";", `\`, `\n`, ", ", " => ", "x", "-", "."}
	found := 0
	for range 150 {
		var b strings.Builder
		for range 12 {
			switch plant := plants[p.IntN(len(plants))]; p.IntN(5) {
			case 0:
				b.WriteString(plant.before + plant.secret + plant.after)
			case 1:
				from := p.IntN(len(plant.secret))
				b.WriteString(plant.secret[from : from+p.IntN(len(plant.secret)-from)])
			case 2:
				b.WriteString(p.some(1+p.IntN(64), alnum))
			default:
				r := s.rules[p.IntN(len(s.rules))]
				b.WriteString(r.words[p.IntN(len(r.words))])
				if p.IntN(2) == 0 {
					b.WriteString(` = "` + p.some(16<<p.IntN(3), hexes) + `" `)
				}
			}
			b.WriteString(between[p.IntN(len(between))])
		}
		text := quoted(b.String(), p.IntN(3))
		want, got := whole(s, text), hits(s, text)
		found += len(want)
		if !slices.Equal(got, want) {
			t.Errorf("the text of %d bytes has %d hits, %d were found", len(text), len(want), len(got))
			for i := range max(len(got), len(want)) {
				if i >= len(got) || i >= len(want) || got[i] != want[i] {
					t.Logf("want %v\ngot %v", want[min(i, len(want)):], got[min(i, len(got)):])
					break
				}
			}
		}
	}
	if found < 300 {
		t.Errorf("only %d hits in all texts", found)
	}
}

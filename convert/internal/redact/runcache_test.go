package redact

import (
	"encoding/base64"
	"math/rand/v2"
	"testing"
)

// TestRemembered: what is remembered of a run holds until another value is known, and only for
// the same digits.
func TestRemembered(t *testing.T) {
	r := redactor(t, Policy{Words: []string{"Somebody"}})
	rnd := rand.New(rand.NewPCG(13, 14))
	for range 200 {
		plain := some(rnd, 12+rnd.IntN(30), lower)
		text := []byte("id " + base64.StdEncoding.EncodeToString([]byte(plain)))
		for _, known := range []bool{false, true} {
			if known {
				r.Add([]Finding{{wordKind, plain[3:9]}})
			}
			for range 2 {
				if _, changed, err := r.Value(t.Context(), nil, text, Text, nil); changed != known || err != nil {
					t.Fatalf("%s: changed %t, %v; want %t", plain, changed, err, known)
				}
			}
		}
	}
	var c runCache
	c.add([]byte("0123456789abcdef"), maxDepth)
	if c.has([]byte("0123456789abcdef"), 0) {
		t.Error("what was too deep to look at is remembered")
	}
}

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

// TestFindRemembered: runs in which nothing was found hide no secret in another one.
func TestFindRemembered(t *testing.T) {
	r := redactor(t, Policy{})
	rnd := rand.New(rand.NewPCG(15, 16))
	for range 4 * cachedRuns {
		plain := some(rnd, 40, lower)
		r.Find(t.Context(), []byte(base64.RawStdEncoding.EncodeToString([]byte(plain))), Text)
	}
	for n := range 50 {
		secret := "AK" + "IA" + some(rnd, 16, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")
		text := []byte("id " + base64.RawStdEncoding.EncodeToString([]byte("of "+secret+" at "+some(rnd, 10, lower))))
		found := r.Find(t.Context(), text, Text)
		if len(found) != 1 || found[0].text != secret {
			t.Fatalf("%d: found %v in the base64 of %s", n, found, secret)
		}
	}
}

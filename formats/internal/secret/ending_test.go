package secret

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// The search that looks at every eighth byte finds what looking at every byte
// finds.
func TestEnding(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	e := memberEnding()
	parts := []string{"encryption", "Key", "key", "KEY", "ENCRYPTION", "n", "k", `\u`, `\u00`, `\u004`, `\u0041`, `\u007a`, `\u0030`, "encr", "tionkey", "\x05ncryptionkey", "encryptionke\u212a", "é", " ", "words of all kinds and some more "}
	for range 20000 {
		var b strings.Builder
		for range r.IntN(12) {
			b.WriteString(parts[r.IntN(len(parts))])
		}
		text := b.String()
		want := strings.Contains(string(lowered([]byte(text))), e.core)
		for i := range text {
			if t := text[i:]; len(t) >= 6 && strings.HasPrefix(t, `\u00`) && t[4] >= '4' && t[4] <= '7' {
				want = true
			}
		}
		if got := e.in([]byte(text)); got != want {
			t.Fatalf("%q: %v", text, got)
		}
	}
	if len(e.grams) < 8 {
		t.Errorf("%q is too short to be found at every eighth byte", e.core)
	}
}

func TestHexish(t *testing.T) {
	for in, want := range map[string]bool{"": false, "7b22": true, " 7B22": true, `"7b227b22zz`: true, "x'7b22": true, `{"7b22":1}`: false, "words": false, "12": true, "7b22zz": false} {
		if got := hexish([]byte(in)); got != want {
			t.Errorf("%q: %v", in, got)
		}
	}
}

package search

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf16"
)

// alphabet has letters of several scripts, some with more than two cases, and
// characters that JSON escapes.
const alphabet = "aAkKsSzZ0_-.éÉßẞσΣςжЖ你好世界😀K\u017f\u0130\u0131 \n\t\"\\/<&"

func randomText(r *rand.Rand, n int) string {
	all := []rune(alphabet)
	out := make([]rune, n)
	for i := range out {
		out[i] = all[r.IntN(len(all))]
	}
	return string(out)
}

// stored writes a text as some client could: escaped at random, as JSON in JSON.
func stored(r *rand.Rand, text string) []byte {
	var b strings.Builder
	for _, c := range text {
		switch {
		case r.IntN(3) > 0:
			q, _ := json.Marshal(string(c))
			b.Write(q[1 : len(q)-1])
		case c > 0xffff:
			hi, lo := utf16.EncodeRune(c)
			fmt.Fprintf(&b, `\u%04x\u%04X`, hi, lo)
		default:
			fmt.Fprintf(&b, `\u%04X`, c)
		}
	}
	out := b.String()
	for range r.IntN(3) {
		q, _ := json.Marshal(out)
		out = string(q[1 : len(q)-1])
	}
	return []byte("x" + out + "y")
}

// otherCase changes the case of letters at random.
func otherCase(r *rand.Rand, text string) string {
	return strings.Map(func(c rune) rune {
		for range r.IntN(4) {
			c = unicode.SimpleFold(c)
		}
		return c
	}, text)
}

// TestNeedles: whatever a term matches has one of its literals in the stored bytes.
func TestNeedles(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		word := strings.TrimSpace(randomText(r, 1+r.IntN(6)))
		if word == "" {
			continue
		}
		text := randomText(r, r.IntN(8)) + otherCase(r, word) + randomText(r, r.IntN(8))
		q, err := NewQuery([]string{word}, nil, IgnoreCase)
		if err != nil {
			t.Fatal(err)
		}
		if !q.terms[0].re.MatchString(text) {
			t.Fatalf("%q does not match %q", word, text)
		}
		if b := stored(r, text); q.terms[0].raw != nil && q.scan().Find(b, 0) == 0 {
			t.Fatalf("%q is not found in %q, stored as %q", word, text, b)
		}
	}
}

// TestRequired: the literals of regular expressions.
func TestRequired(t *testing.T) {
	for expr, want := range map[string]string{
		`error`: "error", `e+rror`: "rror", `(timeout|deadline) exceeded`: "exceeded", `time(out)?`: "time",
		`alpha|beta`: "alpha beta", `alpha|`: "", `a*`: "", `[xyz]`: "", `foo\s+barbaz`: "barbaz", `"quoted/path"`: "quoted",
		`(?:ab){2}cde`: "cde", `x{0,3}`: "", `.*end$`: "end", `(?i)Straße`: "straße", `a/b`: "a", `\x{feff}ab`: "ab", `(ab|c)d`: "ab c",
	} {
		var got []string
		for _, n := range needles(regexp.MustCompile(expr)) {
			got = append(got, string(n.plain))
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%s: %q, want %q", expr, s, want)
		}
	}
}

// TestNeedleForms: a needle is found in each form, and not in bytes without it.
func TestNeedleForms(t *testing.T) {
	for _, c := range []struct {
		word string
		in   string
		want bool
	}{
		{"kelvin", "\u212aelvin", true}, {"kelvin", `\u212aelvin`, true}, {"kelvin", `\\\\u006Belvin`, true}, {"kelvin", "KELVIN", true}, {"kelvin", "kelvim \u212a", false},
		{"你好", `\u4f60\u597D`, true}, {"你好", `\u4f60 \u597D`, false}, {"😀a", `\ud83d\ude00a`, true}, {"😀a", `\ud83d\ude01a`, false},
		{"Kelvin", "kelvin", false}, {"Kelvin", "a Kelvin", true}, {"ab", "a", false}, {"ab", `\u`, false}, {"ab", `\u00`, false}, {"ab", `\u00zzab`, true},
	} {
		q, err := NewQuery([]string{c.word}, nil, SmartCase)
		if err != nil {
			t.Fatal(err)
		}
		if got := q.scan().Find([]byte(c.in), 0) != 0; got != c.want {
			t.Errorf("%q in %q: %v", c.word, c.in, got)
		}
	}
}

package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"
	"unicode/utf16"
)

const (
	digits = "0123456789"
	lower  = "abcdefghijklmnopqrstuvwxyz"
	upper  = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
)

// some returns random characters. What is planted is put together when the test runs, so
// that no scanner of repositories finds it here.
func some(rnd *rand.Rand, n int, of string) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = of[rnd.IntN(len(of))]
	}
	return string(b)
}

// token returns a secret that a rule recognizes anywhere.
func token() string {
	return "gh" + "p_" + some(rand.New(rand.NewPCG(1, 2)), 36, digits+lower+upper)
}

// bare returns a secret that is recognized after a word.
func bare() string { return some(rand.New(rand.NewPCG(3, 4)), 30, digits+lower) }

func redactor(t testing.TB, p Policy, texts ...string) *Redactor {
	t.Helper()
	r, err := New(p)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range texts {
		r.Learn(t.Context(), []byte(text), Unknown)
	}
	return r
}

// survives returns a spelling of a secret that is in bytes, "" if there is none. It
// knows nothing of this package.
func survives(b []byte, secret string) string {
	quoted, _ := json.Marshal(secret)
	unicode := ""
	for _, c := range secret {
		unicode += fmt.Sprintf(`\u%04x`, c)
	}
	wide := ""
	for _, u := range utf16.Encode([]rune(secret)) {
		wide += string([]byte{byte(u), byte(u >> 8)})
	}
	forms := map[string]string{
		"raw": secret, "JSON": strings.Trim(string(quoted), `"`), "escapes": unicode, "hex": hex.EncodeToString([]byte(secret)),
		"UTF-16": wide, "percent": url.QueryEscape(secret), "reversed hex": strings.ToUpper(hex.EncodeToString([]byte(secret))),
	}
	for shift := range 3 {
		for name, enc := range map[string]*base64.Encoding{"std": base64.RawStdEncoding, "URL": base64.RawURLEncoding} {
			text := enc.EncodeToString([]byte(strings.Repeat("x", shift) + secret))
			forms[fmt.Sprint(name, shift)] = text[(shift*8+5)/6 : len(text)-2]
		}
	}
	for name, form := range forms {
		if bytes.Contains(b, []byte(form)) {
			return name
		}
	}
	return ""
}

func quoted(text string, depth int) string {
	for range depth {
		b, _ := json.Marshal(text)
		text = string(b[1 : len(b)-1])
	}
	return text
}

// TestSpellings plants a secret in every spelling. It is recognized in one place only.
func TestSpellings(t *testing.T) {
	for name, secret := range map[string]string{"token": token(), "bare": bare()} {
		r := redactor(t, Policy{}, "session_secret="+secret)
		doc := `{"a":"x ` + secret + `","` + secret + `":[1,"two"]}`
		b64 := base64.StdEncoding.EncodeToString
		cases := map[string]string{
			"text": "say " + secret + " twice " + secret, "JSON": doc, "JSON lines": doc + "\n" + doc + "\n{torn " + secret,
			"hex": "x " + hex.EncodeToString([]byte("say "+secret)) + " y", "HEX": strings.ToUpper(hex.EncodeToString([]byte(secret))),
			"base64": "data:text/plain;base64," + b64([]byte("say "+secret)) + " and", "in JSON": `{"d":"` + b64([]byte(doc)) + `"}`,
			"URL": base64.RawURLEncoding.EncodeToString([]byte("??>>" + secret)), "twice": b64([]byte(b64([]byte(secret)))),
			"percent": "https://x.invalid/?q=" + strings.ReplaceAll(url.QueryEscape(secret), "a", "%61"), "torn": `{"a":"` + secret,
		}
		for depth := range 6 {
			cases[fmt.Sprint("quoted ", depth)] = quoted("line\n"+secret+`"`+doc, depth)
			cases[fmt.Sprint("nested ", depth)] = `{"a":"` + quoted(doc, depth) + `"}`
		}
		escaped := ""
		for _, c := range secret {
			escaped += fmt.Sprintf(`\u%04X`, c)
		}
		cases["escapes"] = `{"a":"` + escaped + `"}`
		wide := []byte{}
		for _, u := range utf16.Encode([]rune("say " + secret)) {
			wide = append(wide, byte(u), byte(u>>8))
		}
		cases["UTF-16"], cases["UTF-16 in base64"] = string(wide), b64(wide)
		inner := append([]byte{0x0A, byte(len(secret))}, secret...)
		cases["protobuf"] = string(append(append([]byte{0x08, 0x01, 0x12, byte(len(inner))}, inner...), 0x18, 0x00))
		for shift := range 4 {
			cases[fmt.Sprint("path to base64 ", shift)] = "https://host.invalid/" + "data"[shift:] + "/" + base64.RawStdEncoding.EncodeToString([]byte(secret+" and more"))
			cases[fmt.Sprint("name before hex ", shift)] = "0x" + "0000"[shift:] + hex.EncodeToString([]byte(secret)) + "-key-" + hex.EncodeToString([]byte(secret))
		}
		wrapped := func(end string) string {
			var b strings.Builder
			for i, c := range b64([]byte(strings.Repeat("so far, so good\n", 5) + doc + strings.Repeat("\nso far, so good", 5))) {
				if i > 0 && i%76 == 0 {
					b.WriteString(end)
				}
				b.WriteRune(c)
			}
			return b.String()
		}
		cases["lines"], cases["lines in JSON"], cases["other lines"] = wrapped("\n"), `{"a":"`+wrapped(`\n`)+`"}`, "x\r\n"+wrapped("\r\n")+"\r\ny"
		for where, text := range cases {
			out, changed, err := r.Value(t.Context(), nil, []byte(text), Unknown, nil)
			if err != nil || !changed {
				t.Errorf("%s, %s: changed %t, error %v", name, where, changed, err)
				continue
			}
			if form := survives(out, secret); form != "" {
				t.Errorf("%s, %s: survives as %s", name, where, form)
			}
			if json.Valid([]byte(text)) != json.Valid(out) || isMessage([]byte(text)) && !isMessage(out) {
				t.Errorf("%s, %s: broken: %s", name, where, out)
			}
			if strings.Contains(where, "lines") && where != "JSON lines" {
				for line := range strings.SplitSeq(strings.ReplaceAll(string(out), `\n`, "\n"), "\n") {
					if len(line) > 90 {
						t.Errorf("%s, %s: a line of %d", name, where, len(line))
					}
				}
			}
			if r.Holds(out, Unknown) {
				t.Errorf("%s, %s: still held: %q", name, where, out)
			}
			again, changed, err := redactor(t, Policy{}, string(out)).Value(t.Context(), nil, out, Unknown, nil)
			if err != nil || changed || !bytes.Equal(again, out) {
				t.Errorf("%s, %s: redacting again changes %q to %q, error %v", name, where, out, again, err)
			}
		}
	}
}

package redact

import (
	"encoding/base64"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestKeyLines: what tail, grep and an editor show of a private key is replaced, too, in every
// spelling; what only stands between the words of one is not.
func TestKeyLines(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	var lines []string
	for range 12 {
		lines = append(lines, some(rnd, 64, digits+lower+upper+"+/"))
	}
	lines = append(lines, some(rnd, 30, digits+lower+upper)+"==")
	key := "-----BEGIN RSA " + "PRIVATE KEY-----\n" + strings.Join(lines, "\n") + "\n-----END RSA " + "PRIVATE KEY-----"
	r := redactor(t, Policy{}, "cat key\n"+key)
	for name, part := range map[string][]string{"tail": lines[5:], "head": lines[:3], "one": lines[4:5], "last": lines[12:], "body": lines} {
		text := strings.Join(part, "\n")
		for how, spelled := range map[string]string{
			"raw": text, "indented": "  " + strings.ReplaceAll(text, "\n", "\n  "), "diff": "+" + strings.ReplaceAll(text, "\n", "\n+"), "numbered": "7\t" + strings.ReplaceAll(text, "\n", "\n8\t"),
			"CRLF": strings.ReplaceAll(text, "\n", "\r\n"), "grep": "key:4:" + text, "JSON": quoted(text, 2), "base64": base64.StdEncoding.EncodeToString([]byte("x " + text)),
		} {
			out, changed, err := r.Value(t.Context(), nil, []byte("then "+spelled+"\nend"), Unknown, nil)
			if err != nil || !changed {
				t.Errorf("%s, %s: changed %v, %v", name, how, changed, err)
			}
			for _, line := range part {
				if kind := survives(out, line); kind != "" {
					t.Errorf("%s, %s: a line is left as %s", name, how, kind)
				}
			}
		}
	}

	doc := "-----BEGIN " + "PRIVATE KEY-----\nthe key itself as base64 in 3 Lines\nSomethingElseOf3WordsHere=x;\n" + strings.Repeat("and so on ", 9) + "\n-----END " + "PRIVATE KEY-----"
	r = redactor(t, Policy{}, doc)
	if r.Idle() {
		t.Fatal("the example is not found")
	}
	for line := range strings.Lines(doc) {
		if out, changed, err := r.Value(t.Context(), nil, []byte("x "+line), Unknown, nil); err != nil || changed {
			t.Errorf("%q became %q, %v", line, out, err)
		}
	}
}

// TestOwnRules: what our own rules find goes in every spelling.
func TestOwnRules(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 8))
	for before, after := range map[string]string{
		"postgres://app:": "@db.invalid/prod", "redis://:": "@cache", "Authorization: Bearer ": "", "Authorization: Basic ": "", "Cookie: a=b; sid=": "; c=d", "Set-Cookie: sid=": "; Path=/",
		"machine host.invalid login ann password ": "", "mysql -uroot -p": " app", "sshpass -p ": " ssh host", "redis-cli -a '": "' ping",
	} {
		secret := "aB3" + some(rnd, 17, digits+lower+upper)
		r := redactor(t, Policy{}, before+secret+after)
		for _, text := range []string{before + secret + after, secret, quoted("say "+secret+"\n", 2), base64.StdEncoding.EncodeToString([]byte("user:" + secret + " ok")), strings.Join(strings.Split("it is "+secret+" today", " "), "%20")} {
			out, changed, err := r.Value(t.Context(), nil, []byte(text), Unknown, nil)
			if kind := survives(out, secret); err != nil || !changed || kind != "" {
				t.Errorf("%s: changed %v, left as %q, %v", before, changed, kind, err)
			}
		}
	}
}

package redact

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestNothingToRedact: what only looks like keys does not change, not by a byte.
func TestNothingToRedact(t *testing.T) {
	rnd := rand.New(rand.NewPCG(9, 10))
	hexes := digits + "abcdef"
	noise := make([]byte, 30_000)
	for i := range noise {
		noise[i] = byte(rnd.Uint32())
	}
	texts := map[string]string{
		"digests": fmt.Sprintf("commit %s\nindex %s..%s 100644\nsha256:%s\nmd5 = %s", some(rnd, 40, hexes), some(rnd, 7, hexes), some(rnd, 7, hexes), some(rnd, 64, hexes), some(rnd, 32, hexes)),
		"uuids":   fmt.Sprintf(`{"id":"%s-%s-4%s-a%s-%s","key":"toolu_%s","request":"req_%s"}`, some(rnd, 8, hexes), some(rnd, 4, hexes), some(rnd, 3, hexes), some(rnd, 3, hexes), some(rnd, 12, hexes), some(rnd, 24, digits+upper), some(rnd, 24, digits+lower)),
		"image":   `{"data":"data:image/png;base64,` + base64.StdEncoding.EncodeToString(noise) + `"}`,
		"lock":    fmt.Sprintf("\"node_modules/left-pad\": {\n  \"version\": \"1.3.0\",\n  \"integrity\": \"sha512-%s==\"\n}\ngolang.org/x/sys v0.1.0 h1:%s=\n", some(rnd, 86, digits+lower+upper), some(rnd, 43, digits+lower+upper)),
		"code":    `!function(e,t){var n=e.token||t.key,r={a:1,secret:null};return n?r:(0,i.default)(e)}(window,"use strict");const apiKey = process.env.API_KEY; password: ${{ secrets.TOKEN }}`,
		"prose":   "The password reset flow sends a token to the user. Set API_KEY=your-api-key-here, then export TOKEN=<token>.",
		"paths":   `/home/user/app /Users/runner/work C:\Users\Public\x /home/linuxbrew/.linuxbrew`,
		"binary":  string(noise),
	}
	for name, text := range texts {
		r := redactor(t, Policy{Paths: true, Words: []string{"Acme"}}, text)
		out, changed, err := r.Value(t.Context(), nil, []byte(text), Unknown, nil)
		if err != nil || changed || string(out) != text {
			t.Errorf("%s: error %v, counts %+v", name, err, r.Counts())
		}
	}
}

// TestRepository redacts the texts that this repository expects of real stores: each of the
// few places that change is a known one.
func TestRepository(t *testing.T) {
	var size, places int64
	err := filepath.WalkDir("../../../golden", func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() || filepath.Ext(path) != ".jsonl" && filepath.Ext(path) != ".ndjson" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		r := redactor(t, Policy{}, string(text))
		out, changed, err := r.Value(t.Context(), nil, text, Unknown, nil)
		if err != nil || changed == bytes.Equal(out, text) {
			t.Errorf("%s: changed %t, error %v", path, changed, err)
		}
		size += int64(len(text))
		for _, c := range r.Counts() {
			places += c.Places
			t.Logf("%s: %s", path, c.Kind)
		}
		return nil
	})
	if err != nil || size < 1<<19 {
		t.Fatal(size, err)
	}
	if places > 0 {
		t.Errorf("%d places in %d bytes", places, size)
	}
}

// TestUsers: the names of home folders are found in every spelling of a path, and replaced
// wherever they are a word.
func TestUsers(t *testing.T) {
	r := redactor(t, Policy{Paths: true}, "/home/ann/app", `{"cwd":"C:\\Users\\nina\\app"}`, `\/Users\/bob.lee\/x`, "/home/ubuntu/app", "%2Fhome%2Fzoe%2Fx")
	for text, want := range map[string]string{
		"/home/ann/app -home-ann-app ann@host.invalid":       "/home/redacted-user-1/app -home-redacted-user-1-app redacted-user-1@host.invalid",
		`{"cwd":"C:\\Users\\nina\\app"}`:                     `{"cwd":"C:\\Users\\redacted-user-2\\app"}`,
		`C:\Users\nina\app`:                                  `C:\Users\redacted-user-2\app`,
		"/Users/bob.lee/x -Users-bob-lee-x bob":              "/Users/redacted-user-3/x -Users-redacted-user-3-x bob",
		"annotation, banner, anna, Hanna, zoe":               "annotation, banner, anna, Hanna, redacted-user-4",
		strings.Repeat("/home/ubuntu/app ", 2):               strings.Repeat("/home/ubuntu/app ", 2),
		`{"a":"line\nina"}`:                                  `{"a":"line\nina"}`,
		"file:///home/ann%2Fapp and %2Fhome%2Fann%2Fapp/ann": "file:///home/redacted-user-1%2Fapp and %2Fhome%2Fredacted-user-1%2Fapp/redacted-user-1",
	} {
		out, _, err := r.Value(t.Context(), nil, []byte(text), Unknown, nil)
		if err != nil || string(out) != want {
			t.Errorf("%q: %v: %s", text, err, out)
		}
	}
}

package schemas

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rehome/golden"
)

// judged are the schemas whose lines can be judged by their shape, with all of
// their fixtures.
func judged(t testing.TB) map[string][][]byte {
	t.Helper()
	out := map[string][][]byte{}
	for _, name := range Names() {
		if _, err := NewLines(name); err != nil {
			continue
		}
		files, _ := filepath.Glob(filepath.Join("testdata", name, "*.json"))
		for _, f := range files {
			b, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			out[name] = append(out[name], b)
		}
	}
	if len(out["canonical-1"]) < 20 {
		t.Fatal("canonical-1 is not among them")
	}
	return out
}

// agree fails the test unless the shape's verdict is that of the whole line.
func agree(t testing.TB, l *Lines, name string, doc []byte) {
	t.Helper()
	want := Validate(name, doc)
	for range 2 { // the second time from memory
		if got := l.Validate(doc); (got == nil) != (want == nil) {
			t.Fatalf("%s: %q\nits shape: %v\n    whole: %v", name, doc, got, want)
		}
	}
}

func TestLinesAreAsStrict(t *testing.T) {
	for name, docs := range judged(t) {
		for range 2 { // alone, and knowing the shapes of all others
			l, err := NewLines(name)
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				for _, doc := range docs {
					agree(t, l, name, doc)
				}
			}
		}
	}
}

// TestLinesOfMutants changes good lines at random, a byte or a token at a time.
func TestLinesOfMutants(t *testing.T) {
	tokens := []string{`""`, `"x"`, "0", "-1", "-0", "1.0", "0.5", "1e2", "1e999", "null", "true", "false", "{}", "[]", `{"type":"text","text":""}`, ",", ":", "{", "}", "[", "]", `"`, `\`, "\n", "\x00", "\xff",
		`"type":"opaque"`, `"raw":{"a":[1,"\u00zz"]}`, `"raw":[[]]`, `"data":5`, `"data":"y"`, `"\u0074ype":"file"`, strings.Repeat("[", 520), strings.Repeat("9", 1200), `"2026-01-31T12:00:00.000Z"`, `"~5"`, `"text"`}
	const rounds = 4000
	for name, docs := range judged(t) {
		l, err := NewLines(name)
		if err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewPCG(1, 2))
		for range rounds {
			doc := append([]byte(nil), docs[r.IntN(len(docs))]...)
			for range 1 + r.IntN(3) {
				from := r.IntN(len(doc))
				to := min(len(doc), from+r.IntN(4))
				if r.IntN(2) == 0 { // a whole token
					for to < len(doc) && !strings.ContainsRune(`,:{}[]`, rune(doc[to])) {
						to++
					}
					for from > 0 && !strings.ContainsRune(`,:{}[]`, rune(doc[from-1])) {
						from--
					}
				}
				doc = []byte(string(doc[:from]) + tokens[r.IntN(len(tokens))] + string(doc[to:]))
			}
			agree(t, l, name, doc)
		}
	}
}

func FuzzLines(f *testing.F) {
	for _, docs := range judged(f) {
		for _, doc := range docs {
			f.Add(doc)
		}
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		l, err := NewLines("canonical-1")
		if err != nil {
			t.Fatal(err)
		}
		agree(t, l, "canonical-1", doc)
	})
}

// TestShapes shows what is left of lines.
func TestShapes(t *testing.T) {
	l, err := NewLines("canonical-1")
	if err != nil {
		t.Fatal(err)
	}
	for doc, want := range map[string]string{
		`{"type":"message","id":"m1","role":"user","parts":[{"type":"text","text":"a"},{"type":"text","text":"b"},{"type":"text","text":""}]}`: `{"type":"message","id":"x","role":"user","parts":[{"type":"text","text":"x"},{"type":"text","text":""}]}`,
		` { "type" : "file" , "path":"p", "origin":["a","b","b"] , "extras":[{"name":"n","raw":{"a":[1,{"b":"c"}]}},{"name":"m","raw":7}] } `:  `{"type":"file","path":"x","origin":["x"],"extras":[{"name":"x","raw":0}]}`,
		`{"at":"2026-01-31T12:00:00.000Z","end":"~2026-01-31T12:00:00.001Z","usage":{"input":12345678901234567890,"output":-5}}`:               `{"at":"2026-01-31T12:00:00.000Z","end":"2026-01-31T12:00:00.000Z","usage":{"input":1,"output":-1}}`,
		`{"data":"x","data":{"a":1},"data":[],"version":1,"version":2}`:                                                                        `{"data":"x","data":0,"data":0,"version":1,"version":2}`,
	} {
		got, ok := l.reducer.reduce([]byte(doc))
		if !ok || string(got) != want {
			t.Errorf("%s\n got %s\nwant %s", doc, got, want)
		}
	}
	for _, odd := range []string{``, `{`, `{"a":}`, `{"a":1,}`, `[1,]`, `{"a" 1}`, `{"\u0061":1}`, `{"a":01}`, `{"raw":1e500}`, `{"raw":{"a":1,}}`, `{"raw":[1 2]}`, `{} {}`, `{"at":"yesterday"}`, `"a`, "\"\x01\"", `tru`, `]`} {
		if got, ok := l.reducer.reduce([]byte(odd)); ok {
			t.Errorf("%s was taken for %s", odd, got)
		}
	}
}

// TestLinesForget: hostile lines that are all different do not fill the memory.
func TestLinesForget(t *testing.T) {
	l, err := NewLines("canonical-1")
	if err != nil {
		t.Fatal(err)
	}
	line := func(i int) []byte {
		var b strings.Builder
		b.WriteString(`{"type":"message","id":"","role":"user","parts":[`)
		for n := range 13 {
			if i>>n&1 == 1 {
				b.WriteString(`{"type":"text","text":""},`)
			}
			b.WriteString(`{"type":"opaque"},`)
		}
		return []byte(strings.TrimSuffix(b.String(), ",") + "]}")
	}
	for i := range maxShapes + 100 {
		if err := l.Validate(line(i)); err != nil {
			t.Fatal(err)
		}
	}
	if len(l.passed) == 0 || len(l.passed) > maxShapes {
		t.Errorf("%d shapes are remembered", len(l.passed))
	}
}

func TestLinesDoNotAllocate(t *testing.T) {
	for _, doc := range judged(t)["canonical-1"] {
		l, err := NewLines("canonical-1")
		if err != nil {
			t.Fatal(err)
		}
		if l.Validate(doc) != nil || strings.Contains(string(doc), `i\u0064`) {
			continue
		}
		if n := testing.AllocsPerRun(100, func() { l.Validate(doc) }); n != 0 && !golden.Race {
			t.Errorf("%v allocations for %s", n, doc)
		}
	}
}

// TestUnjudgeable: a schema with rules that a shape does not keep is refused,
// not judged wrongly.
func TestUnjudgeable(t *testing.T) {
	for _, rule := range []string{`"maxLength":3`, `"minimum":2`, `"uniqueItems":true`, `"items":{"maximum":2}`, `"minLength":2`, `"properties":{"a":{"multipleOf":2}}`, `"additionalProperties":{}`,
		`"patternProperties":{"a":true}`, `"$ref":"#/$defs/x","$defs":{"x":{"maxItems":1}}`, `"contains":{}`, `"format":"date"`} {
		doc, err := decode([]byte("{" + rule + "}"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := treatments(doc); err == nil {
			t.Errorf("%s can be judged by shape", rule)
		}
	}
	if _, err := NewLines("nothing-9"); err == nil {
		t.Error("a schema that does not exist")
	}
}

func BenchmarkLines(b *testing.B) {
	doc := []byte(`{"type":"message","id":"0123456789abcdef","role":"assistant","at":"2026-01-31T12:00:00.000Z","parts":[{"type":"text","text":"` + strings.Repeat(`some words, a \"quote\" and\n`, 60) + `"},{"type":"tool_call","id":"c","name":"shell","args":{"command":"ls","a":[1,2,3]}}],"origin":["blobs#1 (0123456789abcdef)"]}`)
	l, err := NewLines("canonical-1")
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(doc)))
	for b.Loop() {
		if err := l.Validate(doc); err != nil {
			b.Fatal(err)
		}
	}
}

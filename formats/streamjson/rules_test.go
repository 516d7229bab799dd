package streamjson

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rehome/formats/formatstest"
	"rehome/formats/rule"
)

// asks checks a capture and gives what was found, a line each, in order.
func asks(t testing.TB, path string, layers rule.Layers) (out []string) {
	t.Helper()
	for _, f := range formatstest.Findings(t, Format(), path, layers, 1) {
		out = append(out, strings.TrimSpace(fmt.Sprintf("%s %s %d %s", rule.Lookup(f.Rule).Severity, f.Rule, f.At.Line, f.Pointer)))
	}
	slices.Sort(out)
	return out
}

// TestRulesOfSamples: those that show what the client prints are found no fault
// with; the others show what each is named for.
func TestRulesOfSamples(t *testing.T) {
	const all = rule.Container | rule.Schema | rule.References | rule.Meaning
	shows := map[string]string{
		"lonely-calls": "error RH203 14|warning RH375 6 /call_id|warning RH375 8 /call_id|warning RH375 9 /call_id|warning RH477 12 /call_id",
		"quiet":        "warning RH472 7|warning RH472 8",
		"runs":         "warning RH472 7|warning RH472 9|warning RH474 10",
		"strange":      "error RH203 12",
		"odd-types":    "",
	}
	files, err := filepath.Glob(filepath.Join("..", "..", "testdata", "stream", "*.json*"))
	if err != nil || len(files) < 20 {
		t.Fatalf("%d samples, %v", len(files), err)
	}
	for _, file := range files {
		got := slices.DeleteFunc(asks(t, file, all), func(f string) bool { return strings.HasPrefix(f, "note ") })
		name := strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
		if want := shows[name]; strings.Join(got, "|") != want && name != "odd-types" {
			t.Errorf("%s:\n got %s\nwant %s", name, strings.Join(got, "|"), want)
		}
		if name == "odd-types" && len(got) < 20 {
			t.Errorf("%s: only %d findings", name, len(got))
		}
	}
}

// TestRulesOfNoise: bytes that were changed anywhere never end the walk, and a
// layer finds the same alone as with others.
func TestRulesOfNoise(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.jsonl")
	r := rand.New(rand.NewPCG(3, 5))
	bits := []string{`"`, `null`, `{}`, `[]`, "\n", "\xff", `-1e999`, `\ud800`, `"call_id"`, `,`, ``, "\x00", `{"type":"result"}`}
	for _, name := range []string{"tools", "sessions", "parallel", "background", "lonely-calls"} {
		good, err := os.ReadFile(filepath.Join("..", "..", "testdata", "stream", name+".jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		for range 60 {
			b := bytes.Clone(good)
			for range r.IntN(5) {
				at := r.IntN(len(b) + 1)
				b = slices.Concat(b[:at:at], []byte(bits[r.IntN(len(bits))]), b[min(len(b), at+r.IntN(40)):])
			}
			if err := os.WriteFile(path, b, 0o600); err != nil {
				t.Fatal(err)
			}
			var apart []string
			for _, l := range []rule.Layers{rule.Container, rule.Schema, rule.References, rule.Meaning} {
				apart = append(apart, asks(t, path, l)...)
			}
			slices.Sort(apart)
			if at := asks(t, path, rule.Container|rule.Schema|rule.References|rule.Meaning); !slices.Equal(apart, at) {
				t.Fatalf("one by one:\n%s\nat once:\n%s", strings.Join(apart, "\n"), strings.Join(at, "\n"))
			}
		}
	}
}

// A run that goes on while it is read has no result yet.
func TestRulesOfLive(t *testing.T) {
	a := &audit{q: &rule.Pass{Layers: rule.Meaning, Report: func(f rule.Finding) { t.Errorf("%s is found", f.Rule) }}}
	a.order = append(a.order, &tale{turns: turns{number: 1}, calls: map[uint64]*happened{}})
	a.end(true)
}

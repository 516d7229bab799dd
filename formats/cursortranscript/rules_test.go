package cursortranscript

import (
	"bytes"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rehome/formats/formatstest"
	"rehome/formats/rule"
)

const allLayers = rule.Container | rule.Schema | rule.References | rule.Meaning

// asks checks a folder and gives what was found, a line each, in order.
func asks(t testing.TB, path string, layers rule.Layers) (out []string) {
	t.Helper()
	for _, f := range formatstest.Findings(t, Format(), path, layers, 1) {
		file := f.At.File
		out = append(out, strings.TrimSpace(fmt.Sprintf("%s %s %s:%d %s", rule.Lookup(f.Rule).Severity, f.Rule, file[:min(8, len(file))], f.At.Line, f.Pointer)))
	}
	slices.Sort(out)
	return out
}

func samples(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "projects")
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("..", "..", "testdata", "transcript", "projects"))); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "home-ann-app", "agent-transcripts")
}

// TestRulesOfSamples: only the broken lines of the sample with broken lines are
// found fault with.
func TestRulesOfSamples(t *testing.T) {
	want := []string{
		"note RH130 33333333:3", "note RH204 33333333:11 /role", "note RH204 33333333:5 /type", "note RH379 77777777:0", "note RH478 33333333:0",
		"warning RH133 33333333:7", "warning RH133 33333333:8",
	}
	dir := samples(t)
	if got := asks(t, dir, allLayers); !slices.Equal(got, want) {
		t.Errorf("got:\n%s", strings.Join(got, "\n"))
	}
	for _, one := range []string{"44444444-0000-4000-8000-000000000004.jsonl", "55555555-0000-4000-8000-000000000005.txt", "11111111-0000-4000-8000-000000000001"} {
		if got := asks(t, filepath.Join(dir, one), allLayers); len(got) > 0 {
			t.Errorf("%s: %v", one, got)
		}
	}
}

// TestRulesOfNoise: bytes that were changed anywhere never end the walk, and a
// layer finds the same alone as with others.
func TestRulesOfNoise(t *testing.T) {
	dir := samples(t)
	var paths []string
	var good [][]byte
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(p)
		paths, good = append(paths, p), append(good, b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(3, 5))
	bits := []string{`"`, `null`, `{}`, `[]`, "\n", "\xff", `-1e999`, `\ud800`, `"role"`, `,`, ``, "\x00", "user:\n"}
	for range 60 {
		for i, b := range good {
			b = bytes.Clone(b)
			for range r.IntN(3) {
				at := r.IntN(len(b) + 1)
				b = slices.Concat(b[:at:at], []byte(bits[r.IntN(len(bits))]), b[min(len(b), at+r.IntN(40)):])
			}
			if err := os.WriteFile(paths[i], b, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		var apart []string
		for _, l := range []rule.Layers{rule.Container, rule.Schema, rule.References, rule.Meaning} {
			apart = append(apart, asks(t, dir, l)...)
		}
		slices.Sort(apart)
		if at := asks(t, dir, allLayers); !slices.Equal(apart, at) {
			t.Fatalf("one by one:\n%s\nat once:\n%s", strings.Join(apart, "\n"), strings.Join(at, "\n"))
		}
	}
}

package codex_test

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/codex"
	"rehome/formats/rule"
	"rehome/formats/session"
)

// TestNoise changes bytes of rollouts anywhere: reading and checking them come
// to an end, and every line is accounted for.
func TestNoise(t *testing.T) {
	bits := []string{`"`, `null`, `{}`, `[]`, "\n", "\xff", `-1e999`, `\ud800`, `"type"`, `"payload":`, `,`, ``, "\x00", `"call_id":"call_0005"`, `"encrypted_content":1`, `{"type":"compacted"}`}
	r := rand.New(rand.NewPCG(7, 11))
	for _, name := range []string{"strange", "home/sessions/2026/11/22"} {
		files, err := filepath.Glob(filepath.Join(samples, filepath.FromSlash(name), "*.jsonl"))
		if err != nil || len(files) == 0 {
			t.Fatal(files, err)
		}
		for range 40 {
			dir := t.TempDir()
			for _, file := range files {
				b, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				for range r.IntN(4) {
					at := r.IntN(len(b) + 1)
					b = slices.Concat(b[:at:at], []byte(bits[r.IntN(len(bits))]), b[min(len(b), at+r.IntN(60)):])
				}
				if err := os.WriteFile(filepath.Join(dir, filepath.Base(file)), b, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			first, account := told(t, dir)
			if again, _ := told(t, dir); again != first || !account.Balanced() {
				t.Fatalf("%+v, or another time it is read differently", account)
			}
			l, err := formats.Locate(dir)
			if err != nil {
				t.Fatal(err)
			}
			q := &rule.Pass{Layers: rule.Container | rule.Schema | rule.References | rule.Meaning, Report: func(f rule.Finding) {
				if !rule.Lookup(f.Rule).AppliesTo("codex", "lines") || strings.Contains(f.Text(), "%!") {
					t.Errorf("%s: %s", f.Rule, f.Text())
				}
			}}
			if err := codex.Format().Check(t.Context(), l, formats.View{}, q); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestLongFirstLine has a first line that is longer than the piece of a file
// that is read to list it.
func TestLongFirstLine(t *testing.T) {
	b, err := os.ReadFile(original)
	if err != nil {
		t.Fatal(err)
	}
	long := bytes.Replace(b, []byte("You are a coding agent."), bytes.Repeat([]byte("You are a coding agent. "), 10_000), 1)
	path := filepath.Join(t.TempDir(), filepath.Base(original))
	if err := os.WriteFile(path, long, 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := formats.Locate(path)
	if err != nil {
		t.Fatal(err)
	}
	var heads []*session.Head
	for h, err := range codex.Format().Sessions.Heads(t.Context(), l, formats.View{}) {
		if err != nil {
			t.Fatal(err)
		}
		heads = append(heads, h)
	}
	if len(heads) != 1 || heads[0].Workspace != "/home/dev/demo-project" || !heads[0].Created.Known() {
		t.Errorf("%+v", heads)
	}
}

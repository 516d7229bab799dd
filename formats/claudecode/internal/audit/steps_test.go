package audit

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"rehome/formats/rule"
)

// TestRulesSteps: the way that the client goes is found in steps as the lines
// are, however they hang on one another.
func TestRulesSteps(t *testing.T) {
	const line = `{"type":"user","uuid":"u%d","parentUuid":"%s","isSidechain":%v,"timestamp":"2026-01-01T00:00:00.000Z","message":{"content":"x"}}` + "\n"
	parent := func(i int) string { return fmt.Sprintf("u%d", i) }
	for name, shape := range map[string]func(i, n int) (parent string, side bool){
		"a chain":           func(i, n int) (string, bool) { return parent(i - 1), false },
		"all reversed":      func(i, n int) (string, bool) { return parent(i + 1), false },
		"a star":            func(i, n int) (string, bool) { return parent(0), false },
		"nothing is there":  func(i, n int) (string, bool) { return "gone", false },
		"mostly sidechains": func(i, n int) (string, bool) { return "gone", i%8 != 0 },
		"there and back": func(i, n int) (string, bool) { // from the end to the start, over all that is aside
			switch {
			case i < n/4:
				return parent(n - 1 - i - 1), false
			case i < n-n/4:
				return "gone", true
			}
			return "gone", false
		},
		"sidechains of their own": func(i, n int) (string, bool) { return parent(i), true },
	} {
		steps := func(n int) int {
			path := filepath.Join(t.TempDir(), "20000000-0000-4000-8000-000000000001.jsonl")
			var b []byte
			for i := range n {
				up, side := shape(i, n)
				b = fmt.Appendf(b, line, i, up, side)
			}
			if err := os.WriteFile(path, b, 0o600); err != nil {
				t.Fatal(err)
			}
			q := &rule.Pass{Layers: rule.Container | rule.Schema | rule.References | rule.Meaning, Report: func(rule.Finding) {}}
			w := &worker{audit: &audit{ctx: t.Context(), q: q, dir: filepath.Dir(path)}, schemas: q.Schemas()}
			g := &fileAudit{worker: w, file: filepath.Base(path), references: &references{called: map[uint64]bool{}, calls: map[uint64]bool{}}}
			if err := g.read(); err != nil {
				t.Fatal(err)
			}
			return g.steps
		}
		const n = 400
		if few, many := steps(n), steps(8*n); few > 2*n || many > 2*8*n {
			t.Errorf("%s: %d steps for %d lines, %d for %d", name, few, n, many, 8*n)
		}
	}
}

// TestBranches: messages are skipped before the last one, but not if it begins the
// conversation anew.
func TestBranches(t *testing.T) {
	for parents, want := range map[string]int{" 01": 0, " 00": 1, " 0 ": 0, " 0 2": 0, " 011": 1} {
		path := filepath.Join(t.TempDir(), "20000000-0000-4000-8000-000000000001.jsonl")
		var b []byte
		for i, up := range parents {
			parent := "null"
			if up != ' ' {
				parent = fmt.Sprintf(`"u%c"`, up)
			}
			b = fmt.Appendf(b, `{"type":"user","uuid":"u%d","parentUuid":%s,"isSidechain":false,"timestamp":"2026-01-01T00:00:0%d.000Z","message":{"role":"user","content":"x"}}`+"\n", i, parent, i)
		}
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		got := 0
		q := &rule.Pass{Layers: rule.References | rule.Meaning, Report: func(f rule.Finding) {
			if f.Rule == "RH357" {
				got++
			}
		}}
		w := &worker{audit: &audit{ctx: t.Context(), q: q, dir: filepath.Dir(path)}, schemas: q.Schemas()}
		g := &fileAudit{worker: w, file: filepath.Base(path), references: &references{called: map[uint64]bool{}, calls: map[uint64]bool{}}}
		if err := g.read(); err != nil || got != want {
			t.Errorf("%q: %d findings, want %d; %v", parents, got, want, err)
		}
	}
}

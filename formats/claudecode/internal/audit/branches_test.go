package audit

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"rehome/formats/claudecode/internal/outline"
	"rehome/formats/internal/lines"
	"rehome/formats/rule"
)

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
		if got := branches(t, path); got != want {
			t.Errorf("%q: %d findings, want %d", parents, got, want)
		}
	}
}

// branches checks a file, and counts the findings about branches.
func branches(t *testing.T, path string) (found int) {
	t.Helper()
	q := &rule.Pass{Layers: rule.References | rule.Meaning, Report: func(f rule.Finding) {
		if f.Rule == "RH357" {
			found++
		}
	}}
	w := &worker{audit: &audit{ctx: t.Context(), q: q, dir: filepath.Dir(path)}, schemas: q.Schemas()}
	g := &fileAudit{worker: w, file: filepath.Base(path), references: &references{called: map[uint64]bool{}, calls: map[uint64]bool{}}}
	if err := g.read(); err != nil {
		t.Fatal(err)
	}
	return found
}

// TestReported: what is reported as a branch is one to those who read the session.
func TestReported(t *testing.T) {
	files, err := filepath.Glob("../../../../testdata/claude/*/projects/*/*.jsonl")
	if err != nil || len(files) < 5 {
		t.Fatal(files, err)
	}
	some := false
	for _, path := range files {
		found := branches(t, path)
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		tree, err := outline.ReadTree(t.Context(), lines.Each(t.Context(), f, outline.MaxLine), false)
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		is := slices.ContainsFunc(tree.Lines, func(o outline.Line) bool { return o.Branch >= 0 })
		some = some || is
		if found > 0 && !is {
			t.Errorf("%s: %d findings about branches, but there is none", filepath.Base(path), found)
		}
	}
	if !some {
		t.Error("no file has a branch")
	}
}

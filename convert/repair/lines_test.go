package repair_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rehome/convert/check"
	"rehome/convert/repair"
	"rehome/formats/all"
	"rehome/formats/rule"
	"rehome/formats/store"
)

// broken is a session of Claude Code with unusable lines before others that need repair.
const broken = `{"parentUuid":null,"isSidechain":false,"type":"user","message":{"role":"user","content":"one"},"uuid":"00000000-0000-4000-8000-000000000001","timestamp":"2026-01-01T00:00:01.000Z","cwd":"/work","sessionId":"5d0b2b7e-2222-4000-8000-000000000000"}
{"parentUuid":"00000000
no record
{"parentUuid":"00000000-0000-4000-8000-000000000001","isSidechain":false,"type":"user","message":{"role":"user","content":"two"},"uuid":"00000000-0000-4000-8000-000000000004","timestamp":"2026-01-01T00:00:04.000Z","cwd":"/work","sessionId":"5d0b2b7e-2222-4000-8000-000000000000"}{"parentUuid":"00000000-0000-4000-8000-000000000004","isSidechain":false,"type":"user","message":{"role":"user","content":"three"},"uuid":"00000000-0000-4000-8000-000000000005","timestamp":"2026-01-01T00:00:05.000Z","cwd":"/work","sessionId":"5d0b2b7e-2222-4000-8000-000000000000"}
{"parentUuid":"99999999-0000-4000-8000-000000000001","isSidechain":false,"type":"user","message":{"role":"user","content":"four"},"uuid":"00000000-0000-4000-8000-000000000006","timestamp":"2026-01-01T00:00:06.000Z","cwd":"/work","sessionId":"5d0b2b7e-2222-4000-8000-000000000000"}
[]
{"parentUuid":"88888888-0000-4000-8000-000000000001","isSidechain":false,"type":"user","message":{"role":"user","content":"five"},"uuid":"00000000-0000-4000-8000-000000000008","timestamp":"2026-01-01T00:00:08.000Z","cwd":"/work","sessionId":"5d0b2b7e-2222-4000-8000-000000000000"}
`

// TestSourceLines: a repair cites the places that a check of the source cites, although
// it deletes and adds lines before them, and counts its findings.
func TestSourceLines(t *testing.T) {
	src := filepath.Join(t.TempDir(), sessionName)
	if err := os.WriteFile(src, []byte(broken), 0o600); err != nil {
		t.Fatal(err)
	}
	found, err := check.Check(t.Context(), all.Registry(), check.Options{Paths: []string{src}, NoIgnore: true, Layers: rule.Container | rule.Schema | rule.References | rule.Meaning})
	if err != nil {
		t.Fatal(err)
	}
	r, err := repair.Repair(t.Context(), all.Registry(), src, filepath.Join(t.TempDir(), sessionName), repair.Options{})
	if err != nil {
		t.Fatal(err)
	}
	place := func(rule string, at store.Addr) string { return fmt.Sprintf("%s:%d", rule, at.Line) }
	var acts []string
	for _, a := range r.Stores[0].Acts {
		acts = append(acts, place(a.Rule, a.At))
	}
	cited := 0
	for _, of := range found.Stores[0].Findings {
		for _, p := range of.Places {
			if at := place(p.Rule, p.At); of.Rule.Severity > rule.Note {
				if cited++; !slices.Contains(acts, at) {
					t.Errorf("the check cites %s, the repair %q", at, acts)
				}
			}
		}
	}
	if n := repair.Findings(found.Stores); cited < 4 || n != int64(cited) || r.Findings != n || r.Left() > 0 {
		t.Errorf("%d findings can be repaired, of %d; the repair says %d, and %d are left: %q", n, cited, r.Findings, r.Left(), acts)
	}
	if want := []string{"RH131:2", "RH131:3", "RH134:6", "RH135:4", "RH352:5", "RH352:7"}; !slices.Equal(slices.Sorted(slices.Values(acts)), want) {
		t.Errorf("repairs %q, want %q", acts, want)
	}
}

// TestNames: a file is known by its own name while it is repaired, whatever its copy is called,
// and no private path is in a report.
func TestNames(t *testing.T) {
	dir := t.TempDir()
	src, odd := filepath.Join(dir, sessionName), filepath.Join(dir, "odd")
	for path, text := range map[string]string{src: broken, odd: "nothing that anybody knows\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, dst := range []string{"fixed", filepath.Join("new", "fixed"), filepath.Join("fixed.d", sessionName)} {
		r, err := repair.Repair(t.Context(), all.Registry(), src, filepath.Join(dir, dst), repair.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Stores) != 1 || len(r.Stores[0].Acts) != 6 || r.Stores[0].Err != nil || r.Stores[0].Path != src || !r.Placed {
			t.Errorf("%s: %+v", dst, r)
		}
		if text, err := os.ReadFile(filepath.Join(dir, dst)); err != nil || len(text) == 0 || strings.Contains(string(text), "[]") {
			t.Errorf("%s: %v, %q", dst, err, text)
		}
	}
	r, err := repair.Repair(t.Context(), all.Registry(), odd, filepath.Join(dir, "odd2"), repair.Options{})
	if err != nil || len(r.Stores) != 1 || r.Stores[0].Err == nil || !strings.HasPrefix(r.Stores[0].Err.Error(), odd+": ") {
		t.Errorf("%v, %+v", err, r)
	}
}

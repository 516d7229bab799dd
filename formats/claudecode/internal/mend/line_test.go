package mend

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/rule"
	"rehome/formats/store"
	"rehome/internal/rawjson"
)

// TestCompacted: a compaction names the line before it by the uuid that a repair gave it.
func TestCompacted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "20000000-0000-4000-8000-000000000001.jsonl")
	text := `{"parentUuid":null,"type":"user","uuid":"u1","message":{"role":"user","content":"one"}}
{"parentUuid":"u1","type":"assistant","uuid":"u2","message":{"id":"m1","content":[]}}
{"parentUuid":"u2","type":"assistant","uuid":"u2","message":{"id":"m2","content":[]}}
{"parentUuid":null,"logicalParentUuid":"u2","type":"system","subtype":"compact_boundary","uuid":"u3"}
`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	r := &formats.Repair{Findings: []rule.Finding{{Rule: "RH351", At: store.Addr{Line: 3}}}, Report: func(formats.Act) {}}
	if err := newFile(path, r).repair(t.Context()); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(b), "\n")
	id := rawjson.TextAt([]byte(lines[2]), "uuid")
	if before := rawjson.TextAt([]byte(lines[3]), "logicalParentUuid"); id == "u2" || before != id {
		t.Errorf("the compaction follows %q, not %q", before, id)
	}
}

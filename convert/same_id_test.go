package convert_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rehome/convert"
	"rehome/convert/check"
	"rehome/formats/all"
	"rehome/formats/formatstest"
	"rehome/formats/rule"
)

// twoOfOneID are two sessions with one id, each with a subagent.
func twoOfOneID() string {
	one := `{"type":"session","version":1,"id":"10000000-0000-4000-8000-00000000000a","agent":"claude-code"}
{"type":"message","id":"m1","role":"user","turn":0,"parts":[{"type":"text","text":"N"}]}
{"type":"message","id":"m2","role":"assistant","turn":0,"parts":[{"type":"tool-call","id":"c1","name":"Task","kind":"subagent","args":{"prompt":"look"}}]}
{"type":"message","id":"m3","role":"tool","turn":0,"parts":[{"type":"tool-result","call":"c1","status":"ok","content":[{"type":"text","text":"found"}]}]}
{"type":"message","id":"m4","role":"assistant","turn":0,"parts":[{"type":"text","text":"done"}]}
{"type":"session","version":1,"id":"kN","agent":"claude-code","parent":{"session":"10000000-0000-4000-8000-00000000000a","call":"c1"}}
{"type":"message","id":"k1","role":"user","turn":0,"parts":[{"type":"text","text":"look"}]}
{"type":"message","id":"k2","role":"assistant","turn":0,"parts":[{"type":"text","text":"found"}]}
`
	return strings.ReplaceAll(one, "N", "1") + strings.ReplaceAll(one, "N", "2")
}

// TestSameID: of two sessions of a store with the same id, the second one gets another id, as
// --again gives it, in every client.
func TestSameID(t *testing.T) {
	dir := t.TempDir()
	src := filepath.Join(dir, "two.jsonl")
	if err := os.WriteFile(src, []byte(twoOfOneID()), 0o600); err != nil {
		t.Fatal(err)
	}
	reg := all.Registry()
	for _, to := range []string{"claude-code", "cursor-chat", "cursor-sdk", "cursor-ndjson", "cursor-ide"} {
		dst := filepath.Join(dir, to)
		rep, err := convert.Convert(t.Context(), reg, src, dst, convert.Options{To: to})
		if err != nil || rep.Sessions(convert.Placed) != 4 {
			t.Errorf("%s: %d placed, %v", to, rep.Sessions(convert.Placed), err)
			continue
		}
		for _, s := range rep.Stores[0].Sessions {
			if strings.Contains(s.ID, "#") || strings.Contains(s.File, "-2.") {
				t.Errorf("%s: %+v", to, s)
			}
		}
		found, err := check.Check(t.Context(), reg, check.Options{Paths: []string{dst}, Layers: formatstest.Layers, Jobs: 1})
		if err != nil || len(found.Stores) == 0 {
			t.Fatalf("%s: %+v, %v", to, found, err)
		}
		for _, s := range found.Stores {
			for _, f := range s.Findings {
				if f.Rule.Severity > rule.Note {
					t.Errorf("%s: %s: %+v", to, s.Path, f)
				}
			}
		}
	}
	for _, to := range []string{"claude-code", "cursor-chat", "cursor-sdk"} {
		o := convert.MigrateOptions{To: to, Dir: filepath.Join(dir, "home-"+to), Cwd: dir, UndoDir: filepath.Join(dir, "undo")}
		ids := map[string]bool{}
		for _, again := range []bool{false, false, true} {
			o.Again = again
			rep, err := convert.Migrate(t.Context(), reg, []convert.MigrateSource{{Path: src}}, o)
			if err != nil || rep.Count(convert.Placed, convert.Same) != 2 || rep.Migrated[0].Subagents+rep.Migrated[1].Subagents != 2 {
				t.Errorf("%s: %+v, %v", to, rep, err)
				continue
			}
			for _, m := range rep.Migrated {
				ids[m.Session] = true
			}
		}
		if len(ids) != 4 {
			t.Errorf("%s: the ids %v", to, ids)
		}
	}
}

package check_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"rehome/convert/check"
	"rehome/formats/all"
	"rehome/formats/rule"
	"rehome/testdata/faults"
)

// sharedRules are the rules whose findings belong to no session of their store: they
// are about tables, settings, sidecars and folders, or about what lost its session.
var sharedRules = map[string][]string{
	"cursor-ide":        {"RH201", "RH202", "RH301", "RH305", "RH334", "RH336", "RH340", "RH344", "RH345", "RH346", "RH347", "RH426", "RH427", "RH428"},
	"cursor-sdk":        {"RH201", "RH202", "RH205", "RH206", "RH313", "RH316", "RH326"},
	"cursor-ndjson":     {"RH316", "RH326", "RH343", "RH389"},
	"cursor-transcript": {},
	"claude-code":       {"RH440", "RH469", "RH470"},
	"canonical":         {"RH400"},
	"codex":             {},
	"gemini":            {},
	"pi":                {},
	"copilot":           {},
}

// TestSessionOfFindings plants the faults of stores that hold several sessions. A finding
// names its session, and the check of one session finds what the check of the store does.
func TestSessionOfFindings(t *testing.T) {
	list, err := faults.Load("../../testdata/faults")
	if err != nil {
		t.Fatal(err)
	}
	known := &samples{dir: t.TempDir()}
	named, unnamed := map[string]map[string]bool{}, map[string]map[string]bool{}
	for name := range sharedRules {
		named[name], unnamed[name] = map[string]bool{}, map[string]bool{}
	}
	once := map[string]bool{} // one fault of each rule is enough
	for _, f := range list {
		if id := f.Catalog + f.Expect[0].Rule; once[id] || !slices.Contains([]string{"ide", "sdk", "ndjson", "canonical", "codex", "gemini", "pi", "copilot", "transcript", "claude"}, f.Catalog) {
			continue
		} else {
			once[id] = true
		}
		dir := known.fresh(t, f.Sample)
		if err := f.Plant(dir); err != nil {
			t.Fatal(err)
		}
		o := check.Options{Paths: []string{filepath.Join(dir, filepath.FromSlash(f.Check))}, Layers: everything}
		r := checked(t, o)
		for _, s := range r.Stores {
			if named[s.Format] == nil || s.Err != nil {
				continue
			}
			for _, b := range s.Findings {
				for _, p := range b.Places {
					if b.Rule.Layer != rule.Container && p.Session != "" {
						named[s.Format][b.Rule.ID] = true
					} else if b.Rule.Layer != rule.Container {
						unnamed[s.Format][b.Rule.ID] = true
					}
				}
			}
			checkEachSession(t, &f, o, s)
		}
	}
	for format, shared := range sharedRules {
		for id := range unnamed[format] {
			if !named[format][id] && !slices.Contains(shared, id) {
				t.Errorf("%s: no finding of %s names its session", format, id)
			}
		}
		for _, id := range shared {
			if named[format][id] || !unnamed[format][id] {
				t.Errorf("%s: findings of %s name their session, or there are none", format, id)
			}
		}
	}
}

// checkEachSession compares the check of a store with those of its sessions.
func checkEachSession(t *testing.T, f *faults.Fault, o check.Options, whole *check.Store) {
	t.Helper()
	ids := map[string]bool{"nobody": true}
	for _, b := range whole.Findings {
		for _, p := range b.Places {
			if p.Session != "" && len(ids) < 4 {
				ids[p.Session] = true
			}
		}
	}
	all := total(whole)
	for id := range ids {
		o.Paths, o.Sessions = []string{whole.Path}, map[string][]string{whole.Path: {id}}
		for _, s := range checked(t, o).Stores {
			if s.Path != whole.Path {
				continue
			}
			if total(s)+s.Others != all || s.Sessions[0] != id {
				t.Errorf("%s/%s: session %s of %v: %d findings and %d others, want %d", f.Catalog, f.Name, id, s.Sessions, total(s), s.Others, all)
			}
			for _, b := range s.Findings {
				for _, p := range b.Places {
					if p.Session != "" && !slices.Contains(s.Sessions, p.Session) {
						t.Errorf("%s/%s: session %s: %s belongs to %s", f.Catalog, f.Name, id, b.Rule.ID, p.Session)
					}
				}
			}
		}
	}
}

func total(s *check.Store) (n int64) {
	for _, b := range s.Findings {
		n += b.Count
	}
	return n
}

func checked(t *testing.T, o check.Options) *check.Report {
	t.Helper()
	r, err := check.Check(t.Context(), all.Registry(), o)
	if err != nil {
		t.Fatal(fmt.Errorf("%v: %w", o.Paths, err))
	}
	return r
}

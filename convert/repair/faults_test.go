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
	"rehome/golden"
	"rehome/internal/fsx"
	"rehome/testdata/faults"
)

func TestMain(m *testing.M) { golden.Main(m) }

const everything = rule.Container | rule.Schema | rule.References | rule.Meaning

// findings are counts by rule, at or above a severity.
func findings(t *testing.T, path string, least rule.Severity) map[string]int64 {
	t.Helper()
	r, err := check.Check(t.Context(), all.Registry(), check.Options{Paths: []string{path}, NoIgnore: true, Layers: everything})
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]int64{}
	for _, s := range r.Stores {
		if s.Err != nil {
			out["failed"]++
		}
		for _, f := range s.Findings {
			if f.Rule.Severity >= least {
				out[f.Rule.ID] += f.Count
			}
		}
	}
	return out
}

// TestFaults repairs every fault of the catalogs. The outcomes are in a table: what is
// repaired has no finding of its rule any more, and nothing has more findings than
// before.
func TestFaults(t *testing.T) {
	list, err := faults.Load("../../testdata/faults")
	if err != nil {
		t.Fatal(err)
	}
	known := &faults.Samples{Dir: t.TempDir(), Testdata: "../../testdata"}
	var repaired, total [rule.Error + 1]int
	var table strings.Builder
	part := false // only some of them run
	for _, f := range list {
		if f.Catalog == "for" || f.Catalog == "secrets" || f.Catalog == "walk" {
			continue // not damage of a store
		}
		for _, e := range f.Expect[:1] {
			if rule.Lookup(e.Rule).Severity == rule.Note {
				continue
			}
			of := rule.Lookup(e.Rule).Severity
			total[of]++
			how := attempt(t, known, &f, e.Rule)
			part = part || how == ""
			if strings.HasPrefix(how, "repaired") {
				repaired[of]++
			}
			fmt.Fprintf(&table, "%s %s/%s: %s\n", e.Rule, f.Catalog, f.Name, how)
		}
	}
	fmt.Fprintf(&table, "repaired: %d of %d errors, %d of %d warnings\n", repaired[rule.Error], total[rule.Error], repaired[rule.Warning], total[rule.Warning])
	if part {
		return
	}
	golden.Bytes(t, "repair/outcomes.txt", []byte(table.String()))
}

// attempt plants a fault, repairs the sample, and returns what came of it.
func attempt(t *testing.T, known *faults.Samples, f *faults.Fault, id string) (how string) {
	t.Run(f.Catalog+"/"+f.Name, func(t *testing.T) {
		sample := f.Sample
		if s := map[string]string{"claude": "claude-sound", "transcripts": "transcripts-sound"}[sample]; s != "" && !strings.Contains(strings.Join(f.Steps, " "), "*2.jsonl") {
			sample = s
		}
		dir, err := known.Fresh(t.Context(), sample)
		if err != nil {
			t.Fatal(err)
		}
		sound := findings(t, dir, rule.Warning)
		if err := f.Plant(dir); err != nil {
			t.Fatal(err)
		}
		kept := t.TempDir() + "/kept"
		if err := os.CopyFS(kept, os.DirFS(dir)); err != nil && !strings.Contains(err.Error(), "irregular") && !strings.Contains(err.Error(), "invalid") {
			t.Fatal(err)
		}
		before := findings(t, dir, rule.Warning)
		dst := filepath.Join(t.TempDir(), filepath.Base(dir))
		r, err := repair.Repair(t.Context(), all.Registry(), dir, dst, repair.Options{})
		if err != nil && strings.Contains(err.Error(), "not a regular file") {
			how = "refused"
			return
		}
		if err != nil {
			t.Fatalf("repair: %v", err)
		}
		if !fsx.SameTree(kept, dir) {
			t.Error("the source changed")
		}
		after := findings(t, dst, rule.Warning)
		var left []string
		for id, n := range after {
			if n > before[id] && n > sound[id] {
				left = append(left, id)
			}
		}
		slices.Sort(left)
		var did []string
		for _, s := range r.Stores {
			for _, a := range s.Acts {
				did = append(did, a.Rule)
			}
		}
		acts := strings.Join(slices.Compact(did), " ")
		switch {
		case after[id] <= sound[id] && len(did) > 0:
			how = "repaired by " + acts
		case len(did) > 0:
			how = "not repaired, but " + acts
		default:
			how = "not repaired"
			if !fsx.SameTree(dir, dst) {
				t.Error("nothing was repaired, but the copy differs")
			}
		}
		if len(left) > 0 {
			how += ", and now seen: " + strings.Join(left, " ")
		}
		os.RemoveAll(dir)
	})
	return how
}

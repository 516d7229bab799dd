package check_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rehome/convert/check"
	"rehome/formats/all"
	"rehome/formats/rule"
	"rehome/testdata/faults"
)

const everything = rule.Container | rule.Schema | rule.References | rule.Meaning

// TestFaults plants every fault of the catalogs in a good sample. The rule
// that is meant has to find it where it is, and no other rule of that severity,
// or of a graver one, may have anything to say.
func TestFaults(t *testing.T) {
	list, err := faults.Load("../../testdata/faults")
	if err != nil {
		t.Fatal(err)
	}
	known := &samples{dir: t.TempDir()}
	hits := map[string]int{}
	for _, f := range list {
		for _, e := range f.Expect {
			hits[e.Rule]++
		}
		t.Run(f.Catalog+"/"+f.Name, func(t *testing.T) {
			dir := known.fresh(t, f.Sample)
			before := asked(t, dir, &f)
			if err := f.Plant(dir); err != nil {
				t.Fatal(err)
			}
			judge(t, &f, before, asked(t, dir, &f))
		})
	}
	covered(t, len(list), hits)
}

// covered: each rule is broken at least twice. A run of a part of the catalog
// says nothing about that.
func covered(t *testing.T, faults int, hits map[string]int) {
	if faults < 150 {
		t.Errorf("%d faults are planted, want 150 or more", faults)
	}
	var never []string
	for _, r := range rule.All() {
		if hits[r.ID] < 2 {
			never = append(never, fmt.Sprintf("%s (%d)", r.ID, hits[r.ID]))
		}
	}
	if len(never) > 0 {
		t.Errorf("rules that are broken less than twice: %s", strings.Join(never, ", "))
	}
	t.Logf("%d faults, %d rules", faults, len(rule.All()))
}

// TestAsked: a rule is asked of formats that there are, and every format is asked
// something.
func TestAsked(t *testing.T) {
	asked, families := map[string]bool{}, map[string]bool{}
	for _, f := range all.Registry().All() {
		families[f.Family] = true
	}
	for _, r := range rule.All() {
		for _, name := range r.Formats {
			asked[name] = true
			if name != "*" && !families[name] && (all.Registry().Lookup(name) == nil || all.Registry().Lookup(name).Check == nil) {
				t.Errorf("%s is asked of %s, which cannot be asked", r.ID, name)
			}
		}
	}
	for _, f := range all.Registry().All() {
		if !asked[f.Name] && !asked[f.Family] {
			t.Errorf("nothing is asked of %s", f.Name)
		}
	}
}

// found are findings as the catalogs spell them: a rule, and its places with
// how often each was found.
type found map[string]map[string]int

func asked(t *testing.T, dir string, f *faults.Fault) found {
	t.Helper()
	o := check.Options{Paths: []string{filepath.Join(dir, filepath.FromSlash(f.Check))}, Layers: everything, For: f.For}
	if f.Secrets {
		o.Layers |= rule.Secrets
	}
	out, err := ask(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func ask(ctx context.Context, o check.Options) (found, error) {
	r, err := check.Check(ctx, all.Registry(), o)
	if err != nil {
		return nil, err
	}
	out := found{}
	for _, s := range r.Stores {
		if s.Err != nil {
			return nil, fmt.Errorf("%s: %w", s.Path, s.Err)
		}
		for _, b := range s.Findings {
			if out[b.Rule.ID] == nil {
				out[b.Rule.ID] = map[string]int{}
			}
			for _, p := range b.Places {
				if text := p.Text(); strings.Contains(text, "%!") {
					return nil, fmt.Errorf("%s: the wording does not fit its arguments: %s", b.Rule.ID, text)
				}
				at := p.At.String()
				if p.Pointer != "" {
					at += " " + p.Pointer
				}
				out[b.Rule.ID][at]++
			}
		}
	}
	return out, nil
}

// judge compares what was found with and without the fault.
func judge(t *testing.T, f *faults.Fault, before, after found) {
	t.Helper()
	mildest := rule.Error
	wanted := map[string][]string{}
	for _, e := range f.Expect {
		r := rule.Lookup(e.Rule)
		if r == nil {
			t.Fatalf("no rule is named %s", e.Rule)
		}
		mildest = min(mildest, r.Severity)
		wanted[e.Rule] = append(wanted[e.Rule], e.Place)
	}
	for id, places := range wanted {
		for _, place := range places {
			if place != "*" && after[id][place] <= before[id][place] {
				t.Errorf("%s is not found at %q", id, place)
			}
		}
		if len(fresh(before[id], after[id])) == 0 {
			t.Errorf("%s is not found", id)
		}
	}
	for id := range after {
		for _, place := range fresh(before[id], after[id]) {
			r := rule.Lookup(id)
			switch {
			case slices.Contains(f.Also, id), slices.Contains(wanted[id], place), slices.Contains(wanted[id], "*"):
			case wanted[id] != nil || r.Severity >= mildest:
				t.Errorf("%s, too, is found at %q: %s", id, place, r.Title)
			}
		}
	}
}

// fresh are the places that were not found before.
func fresh(before, after map[string]int) (out []string) {
	for place, n := range after {
		if n > before[place] {
			out = append(out, place)
		}
	}
	slices.Sort(out)
	return out
}

// TestGenuine: there is nothing to say of what the real clients wrote.
func TestGenuine(t *testing.T) {
	known := &samples{dir: t.TempDir()}
	for _, name := range genuine() {
		t.Run(name, func(t *testing.T) {
			got, err := ask(t.Context(), check.Options{Paths: []string{known.fresh(t, name)}, Layers: everything})
			if err != nil {
				t.Fatal(err)
			}
			for id, places := range got {
				if r := rule.Lookup(id); r.Severity > rule.Note {
					t.Errorf("%s %s at %v: %s", r.Severity, id, places, r.Title)
				}
			}
		})
	}
}

// genuine are the samples that nobody has broken on purpose.
func genuine() []string {
	list := []string{
		"chat", "sdk", "sdk-closed", "sdk-legacy", "sdk-play", "ndjson", "ndjson-play", "ndjson-closed", "ndjson-sidecar", "archive", "archive-packed",
		"claude-sound", "claude-long", "claude-versions", "transcripts-sound", "canonical", "codex", "gemini", "gemini-json", "copilot-json", "pi", "copilot", "opencode", "opencode-export", "opencode-json",
	}
	for _, of := range []struct{ kind, names, ending string }{
		{"stream/", "background failed legacy noise outcomes parallel partial partial-all plain questions retries sessions tools", ".jsonl"},
		{"ide/", "compacted files heads inline panes remotes sidebar tabs", ""},
	} {
		for _, name := range strings.Fields(of.names) {
			list = append(list, of.kind+name+of.ending)
		}
	}
	return list
}

// samples are the good stores that faults are planted in.
type samples struct {
	dir  string
	made *faults.Samples
}

func (s *samples) fresh(t *testing.T, name string) string {
	t.Helper()
	if s.made == nil {
		s.made = &faults.Samples{Dir: s.dir, Testdata: "../../testdata"}
	}
	dir, err := s.made.Fresh(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func chatFolder() string { return faults.ChatFolder() }

func madeFor(file string) string {
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		panic(err)
	}
	return file
}

func must(b []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return b
}

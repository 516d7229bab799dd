package formatstest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"rehome/formats"
	"rehome/formats/loss"
	"rehome/formats/rule"
	"rehome/formats/session"
)

// checkLaws are the promises of formats that have rules.
var checkLaws = []law{
	{"check", checks},
	{"check spares", checkSpares},
	{"check cancelled", checkCancelled},
	{"check truncated", checkTruncated},
}

// Layers are all layers that a Check may be asked for, except secrets, which are
// found without the help of codecs.
const Layers = rule.Container | rule.Schema | rule.References | rule.Meaning

// Findings returns what the rules of some layers find in a store.
func Findings(t testing.TB, f *formats.Format, path string, layers rule.Layers, jobs int) []rule.Finding {
	t.Helper()
	out, err := findings(t.Context(), t, f, path, layers, jobs)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// findings leaves out layers that were not asked for, like every caller of a Check.
// It fails the test if a rule is one of another format.
func findings(ctx context.Context, t testing.TB, f *formats.Format, path string, layers rule.Layers, jobs int) (out []rule.Finding, err error) {
	l, err := formats.Locate(path)
	if err != nil {
		return nil, err
	}
	var mu sync.Mutex
	p := &rule.Pass{Layers: layers, Report: func(found rule.Finding) {
		mu.Lock()
		defer mu.Unlock()
		r := rule.Lookup(found.Rule)
		if !r.AppliesTo(f.Name, f.Family) {
			t.Errorf("%s is reported, and does not apply to %s", found.Rule, f.Name)
		}
		if found.Detach(); layers.Has(r.Layer) {
			out = append(out, found)
		}
	}}
	if layers.Has(rule.Schema) {
		p.Schema = Validator(t)
	}
	view := silent()
	view.Jobs = jobs
	return out, f.Check(ctx, l, view, p)
}

// told returns findings as text, sorted.
func told(list []rule.Finding) (out []string) {
	for _, f := range list {
		out = append(out, fmt.Sprintf("%s %v %s %s %s", f.Rule, f.At, f.Pointer, f.Text(), f.Session))
	}
	slices.Sort(out)
	return out
}

// checks: any number of workers find the same, and each finding is found by its
// layer alone, too.
func checks(t *testing.T, c Case, s source) {
	one, many := told(Findings(t, c.Format, s.path, Layers, 1)), told(Findings(t, c.Format, s.path, Layers, 7))
	if d := rowDifference(one, many); d != "" {
		t.Errorf("one worker and seven: %s", d)
	}
	var apart []rule.Finding
	for _, layer := range []rule.Layer{rule.Container, rule.Schema, rule.References, rule.Meaning} {
		apart = append(apart, Findings(t, c.Format, s.path, layer, 2)...)
	}
	for _, f := range one {
		if !slices.Contains(told(apart), f) {
			t.Errorf("not found by its layer alone: %s", f)
		}
	}
}

// checkSpares: a store that is written from this one breaks no rule that this one
// keeps.
func checkSpares(t *testing.T, c Case, s source) {
	if c.Format.Records == nil {
		return
	}
	broken := map[string]bool{}
	for _, f := range Findings(t, c.Format, s.path, Layers, 2) {
		broken[f.Rule] = true
	}
	path, err := write(t, c, c.Format, s.path, writing{to: c.Format})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range Findings(t, c.Format, path, Layers, 2) {
		if !broken[f.Rule] && rule.Lookup(f.Rule).Severity > rule.Note {
			t.Errorf("written again: %s", told([]rule.Finding{f}))
		}
	}
}

// checkCancelled: a check that is cancelled ends with the context's error.
func checkCancelled(t *testing.T, c Case, s source) {
	cancelAnywhere(t, func(ctx context.Context) error {
		_, err := findings(ctx, t, c.Format, s.path, Layers, 2)
		return err
	})
}

// checkTruncated: a file that is cut anywhere is found, unless the rest of it can
// be read as well as all of it.
func checkTruncated(t *testing.T, c Case, s source) {
	whole, could := told(Findings(t, c.Format, s.path, Layers, 2)), c.readable(t, s.path)
	eachCut(t, s, func(what, path, file string) {
		var got []rule.Finding
		err := addressed(t, what, func() (err error) {
			got, err = findings(t.Context(), t, c.Format, path, Layers&^rule.Schema, 2)
			return err
		})
		if err != nil || slices.ContainsFunc(told(got), func(f string) bool { return !slices.Contains(whole, f) }) {
			return
		}
		if can := c.readable(t, path); can != could {
			t.Errorf("%s: the rules find nothing, and reading it ends with %q", what, can)
		}
	})
}

// readable returns what goes wrong when a store is read in every way that its
// format has, "" if nothing.
func (c Case) readable(t *testing.T, path string) (bad string) {
	var losses loss.Log
	if c.Format.Records != nil {
		if _, err := read(t.Context(), c.Format, path, formats.View{OnLoss: losses.Add}); err != nil || losses.Worst() >= loss.Dropped {
			bad = fmt.Sprintf("records: %v, %v", err, losses.Worst())
		}
	}
	if c.Format.Sessions != nil {
		got, err := decode(t.Context(), c.Format, path, formats.View{}, session.Selection{})
		if err := errors.Join(append(got.failed, err)...); err != nil {
			bad += fmt.Sprintf("sessions: %v", err)
		}
	}
	return bad
}

package verdict

import (
	"rehome/convert/check"
	"rehome/formats"
	"rehome/formats/rule"
)

// Result is the verdict as JSON: schema check-result-1.
type Result struct {
	Checked  []Store   `json:"checked"`
	Layers   []string  `json:"layers"`
	FailOn   string    `json:"fail_on"`
	Totals   Totals    `json:"totals"`
	Baseline *Baseline `json:"baseline,omitempty"`
}

// Totals are the totals of all stores.
type Totals struct {
	Stores   int   `json:"stores"`
	Bytes    int64 `json:"bytes"`
	Errors   int64 `json:"errors"`
	Warnings int64 `json:"warnings"`
	Notes    int64 `json:"notes"`
	Known    int64 `json:"known"`
	Failed   int   `json:"failed"`
	Skipped  int   `json:"skipped"`
}

// Baseline reports the effect of a baseline.
type Baseline struct {
	Path  string `json:"path"`
	Known int64  `json:"known"`
	Gone  int64  `json:"gone"`
}

// Store is a store that was checked.
type Store struct {
	Path     string    `json:"path"`
	Format   string    `json:"format,omitempty"`
	Bytes    int64     `json:"bytes"`
	Findings []Finding `json:"findings"`
	Said     []string  `json:"said,omitempty"`
	Sessions []string  `json:"sessions,omitempty"`
	Others   int64     `json:"others,omitempty"`
	Error    *Failure  `json:"error,omitempty"`
}

// Failure is why a store could not be fully examined.
type Failure struct {
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

// Finding is a rule that a store violates.
type Finding struct {
	Rule     string        `json:"rule"`
	Severity rule.Severity `json:"severity"`
	Layer    string        `json:"layer"`
	Title    string        `json:"title"`
	Mend     string        `json:"mend"`
	Count    int64         `json:"count"`
	Known    int64         `json:"known"`
	Places   []Place       `json:"places"`
}

// Place is a place of a finding.
type Place struct {
	File        string `json:"file"`
	Line        int    `json:"line,omitempty"`
	At          string `json:"at,omitempty"`
	Pointer     string `json:"pointer,omitempty"`
	Says        string `json:"says,omitempty"`
	Fingerprint string `json:"fingerprint"`
}

// Result returns the verdict as JSON.
func (v *Verdict) Result(layers []string) *Result {
	r := &Result{Checked: []Store{}, Layers: layers, FailOn: v.FailOn.String()}
	r.Totals = Totals{Errors: v.Count(rule.Error), Warnings: v.Count(rule.Warning), Notes: v.Count(rule.Note), Failed: len(v.Failed()), Skipped: v.Skipped}
	for _, s := range v.Stores {
		one := Store{Path: s.Path, Format: s.Format, Bytes: s.Bytes, Findings: []Finding{}, Said: s.Remarks, Sessions: s.Sessions, Others: s.Others}
		if s.Err != nil {
			one.Error = &Failure{s.Err.Error(), formats.Hint(s.Err)}
		}
		for _, b := range s.Findings {
			r.Totals.Known += b.Known
			one.Findings = append(one.Findings, newFinding(s, b))
		}
		r.Totals.Bytes += s.Bytes
		if s.Format != "" {
			r.Totals.Stores++
		}
		r.Checked = append(r.Checked, one)
	}
	if b := v.Report.Baseline; b != nil {
		r.Baseline = &Baseline{b.Path, b.Known, b.Gone}
	}
	return r
}

func newFinding(s *check.Store, b check.RuleFindings) Finding {
	out := Finding{
		Rule: b.Rule.ID, Severity: b.Rule.Severity, Layer: b.Rule.Layer.String(), Title: b.Rule.Title, Mend: b.Rule.Fix,
		Count: b.Count, Known: b.Known, Places: []Place{},
	}
	for i, f := range b.Places {
		at := f.At
		at.Line = 0
		out.Places = append(out.Places, Place{
			File: s.File(f.At), Line: f.At.Line, At: addrInFile(at), Pointer: f.Pointer, Says: f.Text(), Fingerprint: b.Fingerprint(i),
		})
	}
	return out
}

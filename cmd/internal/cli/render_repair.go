package cli

import (
	"path/filepath"
	"slices"

	"rehome/cmd/internal/screen"
	"rehome/convert/repair"
	"rehome/formats/store"
)

// repairResult is the result of repair: schema repair-result-1.
type repairResult struct {
	Source   string        `json:"source"`
	Target   string        `json:"target"`
	DryRun   bool          `json:"dry_run"`
	Backup   string        `json:"backup,omitempty"`
	Repaired int64         `json:"repaired"`
	Findings int64         `json:"findings"`
	Left     int64         `json:"left"`
	Warnings int64         `json:"warnings,omitempty"`
	Stores   []repairStore `json:"results"`
}

type repairStore struct {
	Path     string      `json:"path"`
	Format   string      `json:"format"`
	Repaired int64       `json:"repaired"`
	Acts     []repairAct `json:"acts"`
	Left     []repairGap `json:"left"`
	Error    string      `json:"error,omitempty"`
}

type repairAct struct {
	Rule  string `json:"rule"`
	Place string `json:"place"`
	Did   string `json:"did"`
	Lost  string `json:"lost,omitempty"`
}

type repairGap struct {
	Rule   string   `json:"rule"`
	Title  string   `json:"title"`
	Count  int64    `json:"count"`
	Places []string `json:"places"`
	Why    string   `json:"why"`
}

// maxRepairPlaces is how many places are named of what is left.
const maxRepairPlaces = 5

// newRepairResult returns what repair prints: stores in which something was repaired or
// is still wrong.
func newRepairResult(r *repair.Report) *repairResult {
	why := map[string]string{}
	for _, w := range repair.Ways() {
		if why[w.Rule.ID] = "it could not be repaired here"; len(w.Formats) == 0 {
			why[w.Rule.ID] = w.Does
		}
	}
	out := &repairResult{Source: r.Source, Target: r.Target, DryRun: r.DryRun, Backup: r.Backup, Repaired: r.Acts(), Findings: r.Findings,
		Left: r.Left(), Warnings: r.Warnings, Stores: []repairStore{}}
	for _, s := range r.Stores {
		one := repairStore{Path: s.Path, Format: s.Format, Repaired: s.Count, Acts: []repairAct{}, Left: []repairGap{}}
		if s.Err != nil {
			one.Error = s.Err.Error()
		}
		for _, a := range s.Acts {
			one.Acts = append(one.Acts, repairAct{a.Rule, repairPlace(s.Path, a.At), a.Did, a.Lost})
		}
		for _, f := range s.Left {
			gap := repairGap{Rule: f.Rule.ID, Title: f.Rule.Title, Count: f.Count, Places: []string{}, Why: why[f.Rule.ID]}
			for _, p := range f.Places[:min(len(f.Places), maxRepairPlaces)] {
				gap.Places = append(gap.Places, repairPlace(s.Path, p.At))
			}
			one.Left = append(one.Left, gap)
		}
		if len(one.Acts)+len(one.Left) > 0 || s.Err != nil {
			out.Stores = append(out.Stores, one)
		}
	}
	return out
}

// repairPlace returns an address. The only file of a store has no name in it.
func repairPlace(path string, at store.Addr) string {
	if at.File == "" && at.Set == "" {
		at.File = filepath.Base(path)
	}
	return at.String()
}

func (r *repairResult) Text(p *screen.Page) {
	for _, s := range r.Stores {
		p.Line(p.Strong(screen.Visible(s.Path)) + p.Faint("  "+screen.Visible(s.Format)))
		for _, a := range s.Acts {
			p.Wrapped("  ", p.OK()+" "+screen.Visible(a.Rule)+spaced(a.Place)+": "+screen.Visible(a.Did), screen.Plain)
			if a.Lost != "" {
				p.Wrapped("      ", "lost: "+screen.Visible(a.Lost), p.Faint)
			}
		}
		if n := s.Repaired - int64(len(s.Acts)); n > 0 {
			p.Line(screen.Sprintf("  … and %d more", n))
		}
		for _, g := range s.Left {
			line := p.Bad() + " " + screen.Visible(g.Rule) + ": " + screen.Visible(g.Title)
			for _, place := range g.Places {
				line += spaced(place)
			}
			if n := g.Count - int64(len(g.Places)); n > 0 {
				line += screen.Sprintf(" and %d more", n)
			}
			p.Wrapped("  ", line, screen.Plain)
			p.Wrapped("      ", "not repaired: "+screen.Visible(g.Why), p.Faint)
		}
		if s.Error != "" {
			p.Wrapped("  ", p.Bad()+" "+screen.Visible(s.Error), screen.Plain)
		}
	}
	summary := screen.Safe("nothing to repair")
	if r.Repaired > 0 {
		if summary = screen.Plural(r.Repaired, "repair"); r.Findings != r.Repaired {
			summary += " of " + screen.Plural(r.Findings, "finding")
		}
	} else if r.Left+r.Warnings > 0 || slices.ContainsFunc(r.Stores, func(s repairStore) bool { return s.Error != "" }) {
		summary = "nothing repaired"
	}
	if r.Left > 0 {
		summary += ", " + screen.Plural(r.Left, "problem") + " left"
	}
	if r.Warnings > 0 {
		summary += ", " + screen.Plural(r.Warnings, "warning") + " left (rehome check lists them)"
	}
	if r.DryRun {
		p.Line(summary + "; dry run: nothing was written")
		return
	}
	p.Line(summary + "; the copy is " + screen.Visible(r.Target))
	if r.Backup != "" {
		p.Line("the old one is kept as " + screen.Visible(r.Backup))
	}
}

func spaced(place string) screen.Safe {
	if place == "" {
		return ""
	}
	return " " + screen.Visible(place)
}

// repairList is the result of repair --list: schema repair-list-1.
type repairList struct {
	Ways []repairWay `json:"repairs"`
}

type repairWay struct {
	Rule    string   `json:"rule"`
	Title   string   `json:"title"`
	Formats []string `json:"formats"`
	Repair  string   `json:"repair,omitempty"`
	Loses   string   `json:"loses,omitempty"`
	Why     string   `json:"why,omitempty"`
}

func newRepairList() *repairList {
	out := &repairList{}
	for _, w := range repair.Ways() {
		one := repairWay{Rule: w.Rule.ID, Title: w.Rule.Title, Formats: append([]string{}, w.Formats...), Repair: w.Does, Loses: w.Loses}
		if len(w.Formats) == 0 {
			one.Repair, one.Why = "", w.Does
		}
		out.Ways = append(out.Ways, one)
	}
	return out
}

func (l *repairList) Text(p *screen.Page) {
	for _, w := range l.Ways {
		p.Wrapped("", screen.Visible(w.Rule)+"  "+screen.Visible(w.Title), p.Strong)
		if w.Why != "" {
			p.Wrapped("       ", "not repaired: "+screen.Visible(w.Why), screen.Plain)
			continue
		}
		p.Wrapped("       ", "repair: "+screen.Visible(w.Repair), screen.Plain)
		if w.Loses != "" {
			p.Wrapped("       ", "lost: "+screen.Visible(w.Loses), screen.Plain)
		}
	}
}

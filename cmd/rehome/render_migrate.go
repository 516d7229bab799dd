package main

import (
	"cmp"

	"rehome/cmd/rehome/internal/screen"
	"rehome/convert"
	"rehome/formats/loss"
)

// text prints each session with its losses. If there are many, it prints only
// those that failed, and the totals.
func (r *migrateResult) text(p *page) {
	few := len(r.Migrated) <= maxSessionRows
	var losses lossTotals
	count := map[string]int{}
	for _, m := range r.Migrated {
		count[m.Status]++
		if few || m.Status == convert.Failed {
			r.entry(p, m)
		}
		losses.addSession(m.Migrated)
	}
	if r.Empty > 0 {
		p.Line(plural(int64(r.Empty), "empty session") + " skipped")
	}
	if r.Histories > 0 {
		p.Line(plural(int64(r.Histories), "prompt history session") + " skipped: no answers (rehome show prints the prompts)")
	}
	if few && len(r.Migrated) == 1 || len(r.Migrated) == 0 && r.Empty+r.Histories > 0 {
		return
	}
	var totals []screen.Safe
	for _, status := range []string{convert.Placed, convert.Checked, convert.Updated, convert.Same, convert.Failed} {
		if n := count[status]; n > 0 {
			totals = append(totals, grouped(int64(n))+" "+p.status(status))
		}
	}
	p.Linef("%s, in %s", cmp.Or(screen.Join(totals, ", "), "no sessions"), r.Dir)
	if !few {
		p.losses("  ", losses)
	}
}

// addSession adds the losses of a session.
func (t *lossTotals) addSession(m *convert.Migrated) {
	s := convert.StoreReport{Path: m.ID, Losses: m.Losses}
	t.add(&s)
}

func (r *migrateResult) entry(p *page, m migrated) {
	p.Line(p.Strong(visible(cmp.Or(m.Title, m.ID))))
	if m.Error != nil {
		p.failure("  ", m.Error)
		return
	}
	length := plural(m.Turns, "turn") + ", " + plural(m.Messages, "message")
	if m.Subagents > 0 {
		length += ", " + plural(int64(m.Subagents), "subagent")
	}
	if m.Status == convert.Same && m.Agent == r.To {
		p.Linef("  already a session of %s: %s", r.To, length)
	} else {
		p.Linef("  %s -> %s: %s, %s", m.Agent, r.To, p.status(m.Status), length)
	}
	if r.verbose {
		p.losses("  ", m.Losses)
	} else {
		p.briefLosses("  ", m.Losses)
	}
	p.Line("  " + visible(m.File))
	if m.Continue == "" {
		return
	}
	p.Line("")
	p.Line("    " + p.Strong(visible(m.Continue)))
	p.Line("")
}

// briefLosses names what the model no longer sees, and counts the rest.
func (p *page) briefLosses(indent screen.Safe, lines []loss.Group) {
	var rest int64
	for _, l := range lines {
		if l.Kind > loss.Inferred {
			p.lossLine(indent, l)
		} else {
			rest += l.Count
		}
	}
	if rest > 0 {
		p.Linef("%s%s in another form or inferred; add -v to list them", indent, plural(rest, "detail"))
	}
}

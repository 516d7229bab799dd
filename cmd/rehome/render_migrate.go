package main

import (
	"cmp"

	"rehome/cmd/rehome/internal/screen"
	"rehome/convert"
)

// text shows each session with what was lost of it; of many, those that failed
// and what all came to.
func (r *migrateResult) text(p *page) {
	few := len(r.Migrated) <= mostSessions
	var books crowdBooks
	count := map[string]int{}
	for _, m := range r.Migrated {
		count[m.Status]++
		if few || m.Status == convert.Failed {
			r.entry(p, m)
		}
		books.gather(m.Migrated)
	}
	if r.Empty > 0 {
		p.Line(many(int64(r.Empty), "empty session") + " skipped")
	}
	if r.Histories > 0 {
		p.Line(many(int64(r.Histories), "prompt history session") + " skipped: no answers (rehome show prints the prompts)")
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
		p.losses("  ", books)
	}
}

// gather adds the losses of a session.
func (b *crowdBooks) gather(m *convert.Migrated) {
	s := convert.StoreReport{Path: m.ID, Losses: m.Losses}
	b.enter(&s)
}

func (r *migrateResult) entry(p *page, m migrateEntry) {
	p.Line(p.Strong(visible(cmp.Or(m.Title, m.ID))))
	if m.Error != nil {
		p.failure("  ", m.Error)
		return
	}
	length := many(m.Turns, "turn") + ", " + many(m.Messages, "message")
	if m.Subagents > 0 {
		length += ", " + many(int64(m.Subagents), "subagent")
	}
	if m.Status == convert.Same && m.Agent == r.To {
		p.Linef("  already a session of %s: %s", r.To, length)
	} else {
		p.Linef("  %s -> %s: %s, %s", m.Agent, r.To, p.status(m.Status), length)
	}
	p.losses("  ", m.Losses)
	p.Line("  " + visible(m.File))
	if m.Continue == "" {
		return
	}
	p.Line("")
	p.Line("    " + p.Strong(visible(m.Continue)))
	p.Line("")
}

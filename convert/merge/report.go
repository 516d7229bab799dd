package merge

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"rehome/convert"
	"rehome/formats/loss"
)

// progress adds bytes of a stage to what is done.
func (m *merger) progress(stage string, n int) {
	m.notify.Update(func(p *convert.Progress) {
		if p.Stage != stage {
			p.Stage, p.Done = stage, 0
		}
		p.Done += int64(n)
	})
}

// report reports what became of sessions of a store.
func (m *merger) report(u *union, rel string, ids ...string) {
	kept := map[string]bool{}
	for _, id := range u.forked {
		kept[id] = true
	}
	for _, id := range ids {
		if id == "" {
			continue
		}
		all := u.sessions[id]
		s := Session{Store: rel, ID: id, Title: u.titles[id], Of: u.forked[id]}
		for _, v := range all {
			s.From = append(s.From, v.from...)
		}
		slices.Sort(s.From)
		s.From = slices.Compact(s.From)
		switch {
		case s.Of != "":
			s.Outcome, s.Title = Forked, u.titles[s.Of]
		case kept[id]:
			s.Outcome = Kept
		case u.newer[id]:
			s.Outcome = Continued
		case len(s.From) == 1:
			s.Outcome = Copied
		case len(all) == 1:
			s.Outcome = Same
		case alike(all):
			s.Outcome = Same
			m.remark(id + ": the sources differ in its title, state or other details; those of one are kept")
		default:
			s.Outcome = Continued
		}
		m.res.Sessions = append(m.res.Sessions, s)
		if u.of.Sessions != nil {
			m.reportOwn(u, s, all)
		}
	}
}

// reportOwn reports the sessions that were merged with another one, but are not part of it.
func (m *merger) reportOwn(u *union, with Session, all []*version) {
	for _, p := range paths(u.of, all) {
		best := longest(p, all)
		if !best.own || best.session == with.ID {
			continue
		}
		s := Session{Store: with.Store, ID: best.session, Title: u.titles[cmp.Or(best.of, best.session)], Outcome: with.Outcome, Of: best.of}
		same := true
		for _, v := range all {
			if f := v.files[p]; f != nil {
				s.From = append(s.From, v.from...)
				same = same && len(f.lines) == len(best.lines)
			}
		}
		slices.Sort(s.From)
		switch s.From = slices.Compact(s.From); {
		case with.Outcome == Forked:
		case len(s.From) == 1:
			s.Outcome = Copied
		case same:
			s.Outcome = Same
		default:
			s.Outcome = Continued
		}
		m.res.Sessions = append(m.res.Sessions, s)
	}
}

// lost notes what is left out of a store.
func (m *merger) lost(at string, groups ...loss.Group) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, g := range groups {
		if g.Kind < loss.Dropped {
			continue
		}
		text := fmt.Sprintf("%s: %s (%s)", g.Kind, g.What, g.Code)
		if m.losses[text] == nil {
			m.losses[text] = map[string]bool{}
		}
		m.losses[text][at] = true
	}
}

// reportLost adds a remark about each kind of what is left out, with a store.
func (m *merger) reportLost() {
	for _, text := range slices.Sorted(maps.Keys(m.losses)) {
		at := slices.Sorted(maps.Keys(m.losses[text]))
		remark := text + ", in " + at[0]
		if len(at) > 1 {
			remark += fmt.Sprintf(" and %d more", len(at)-1)
		}
		m.remark(remark)
	}
}

// remark adds a remark to the result, once.
func (m *merger) remark(text string) {
	if !slices.Contains(m.res.Remarks, text) {
		m.res.Remarks = append(m.res.Remarks, text)
	}
}

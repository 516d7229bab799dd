package codex

import (
	"slices"
	"strconv"

	"rehome/formats"
	"rehome/formats/session"
)

// aside is what the client keeps and never sends again: turns that the user took back, and
// events that repeat no item. It becomes branches, each of what follows one message.
type aside struct {
	branch string // of the message that is being made; "" for the live one
	starts []int  // the records that branches begin with
	live   int    // turns of the conversation so far
	own    int    // turns of the branch so far
}

// undone reports whether a record is part of a turn that the user took back.
func (d *decoder) undone(r *record) bool {
	return d.gone[d.turn] && (!d.open || d.prompted) && r.sub != "thread_rolled_back"
}

// isAside reports whether a record is part of a branch.
func (d *decoder) isAside(r *record) bool {
	if d.undone(r) {
		return d.Sel.History
	}
	return d.pairs.orphans[d.n]
}

func branchName(i int) string { return "branch-" + strconv.Itoa(i+1) }

// number numbers a turn that begins.
func (d *decoder) number(t *session.Turn) *session.Turn {
	if d.branch == "" {
		d.live++
		t.Number = d.live
	} else {
		d.own++
		t.Number = d.live + d.own
	}
	return t
}

// messages hands out the conversation, then the branches. Lines of the session that this one
// was forked from are not in its account.
func (d *decoder) messages() error {
	if err := d.pass(d.line); err != nil || d.over {
		return err
	}
	if len(d.starts) > 0 {
		if err := d.pass(d.takeAside); err != nil || d.over {
			return err
		}
	}
	for _, f := range d.File.Older {
		lines, err := d.Store.Superseded(d.Ctx, d.File, f, d.View.OnLoss, nil)
		if err != nil {
			return err
		}
		d.account.Add(lines)
	}
	return nil
}

// pass reads the records once more, after the outline.
func (d *decoder) pass(take func(*record)) error {
	d.clock, d.n, d.branch, d.live, d.archived, d.waiting, d.prompt = clock{}, 0, "", 0, 0, map[string]*report{}, ""
	for r, err := range d.records() {
		if err != nil {
			return err
		}
		d.n++
		own := d.account
		if take(&r); d.over {
			return nil
		}
		if r.at.File != d.File.Name {
			d.account = own
		}
	}
	d.flush()
	if d.unanswered(); d.turn != len(d.turns) {
		return formats.Changed("", "")
	}
	return nil
}

// takeAside takes what line left.
func (d *decoder) takeAside(r *record) {
	if r.Bad != "" {
		return
	}
	begins := d.begins(r)
	if !d.isAside(r) {
		if begins && !d.undone(r) {
			d.live++
		}
		return
	}
	if i, begun := slices.BinarySearch(d.starts, d.n); begun {
		d.flush()
		d.branch, d.own = branchName(i), 0
	}
	d.record(r, begins)
}

// plan finds the branches, and the messages that they follow.
func (d *decoder) plan(s *session.Session) error {
	view, last, undos := d.View, "", 0
	defer func() { d.View, d.account, d.over = view, session.Account{}, false }()
	d.View.OnLoss = nil
	d.yield = func(m *session.Message, _ error) bool {
		last = m.ID
		return true
	}
	var place, before struct {
		from  string
		undos int
	}
	return d.pass(func(r *record) {
		d.line(r)
		if r.sub == "thread_rolled_back" {
			undos++
		}
		if r.Bad != "" || !d.isAside(r) {
			return
		}
		place.from, place.undos = last, undos
		if d.held != nil {
			place.from = d.held.ID
		}
		if len(d.starts) == 0 || place != before {
			before = place
			s.Branches = append(s.Branches, session.Branch{Name: branchName(len(d.starts)), From: place.from})
			d.starts = append(d.starts, d.n)
		}
	})
}

package read

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"rehome/formats/cursoride/internal/lists"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/formats/store"
)

// run is a sequence of bubbles: those that a session lists, or a branch of abandoned
// ones.
type run struct {
	name    string // of the branch; "" for the live one
	at      int    // how many live bubbles precede it
	turns   int    // and how many prompts
	headers []header
}

// notLive is the number of a bubble that is not listed.
const notLive = -2

// abandoned makes branches of the bubbles that no list names: abandoned turns, which
// are related to the others only by their times. Those between two listed bubbles are
// one branch. Those without a time are one branch in the order of their keys, because
// nothing better is known.
func (c *Chat) abandoned(ctx context.Context, ids []string) error {
	timed, rest := c.unsent()
	for _, id := range ids {
		r, err := c.Database.Get(ctx, lists.DiskTable, lists.BubbleRow+c.ID+":"+id, func(loss.Loss) {})
		if err != nil {
			return err
		}
		if r.Fate == lists.Deleted { // what is left of a turn
			c.tally.Read++
			c.tally.Superseded++
			continue
		}
		b := bubble{header: header{user: userType(r.Body)}}
		b.rename(id)
		b.f.SplitBy(r.Body, "", bubbleTable())
		if b.at = b.when(); !b.at.Known() {
			b.at = b.done()
		}
		if b.at.Known() {
			timed = append(timed, b.header)
		} else {
			rest = append(rest, b.header)
		}
	}
	if len(timed)+len(rest) == 0 {
		return nil
	}
	slices.SortFunc(timed, func(a, b header) int {
		if a.user != b.user && a.at.Millis() == b.at.Millis() { // an answer can begin with its prompt
			if a.user {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(a.at.Millis(), b.at.Millis()), cmp.Compare(a.id, b.id))
	})
	if err := c.grow(ctx, timed); err != nil {
		return err
	}
	if len(rest) > 0 {
		slices.SortFunc(rest, func(a, b header) int { return cmp.Compare(a.id, b.id) })
		c.branch(&run{headers: rest}, "")
		c.note.Add(loss.Loss{Code: loss.UndoneOrder, At: c.addr})
	}
	if len(timed) > 0 {
		c.note.Add(loss.Loss{Code: loss.UndonePlace, At: c.addr})
	}
	return nil
}

// leaveOut names the abandoned turns that the session is read without, by their prompts.
func (c *Chat) leaveOut(ctx context.Context, ids []string) error {
	var answer *store.Addr
	prompts := 0
	for _, id := range ids {
		r, err := c.Database.Get(ctx, lists.DiskTable, lists.BubbleRow+c.ID+":"+id, func(loss.Loss) {})
		if err != nil {
			return err
		}
		c.tally.Read++
		switch {
		case r.Fate == lists.Deleted:
			c.tally.Superseded++
			continue
		case userType(r.Body):
			prompts++
			c.note.Add(loss.Loss{Code: loss.TurnAbandoned, At: r.Addr})
		case answer == nil:
			answer = &r.Addr
		}
		c.tally.Unreadable++
	}
	if prompts == 0 && answer != nil { // another answer to a live prompt
		c.note.Add(loss.Loss{Code: loss.TurnAbandoned, At: *answer})
	}
	return nil
}

// unsent returns the bubbles of the session's own record that its list does not name, those
// with a time and the others. The client does not send them. One that is no bubble, or has a row
// of its own, is kept as it is.
func (c *Chat) unsent() (timed, rest []header) {
	for _, h := range c.beside {
		b := bubble{header: h}
		if c.rows[h.id] || len(c.headers) == 0 || !b.f.SplitBy(h.inline, "", bubbleTable()) {
			if e, ok := bare("conversation."+h.id, h.inline); ok {
				if c.rows[h.id] {
					c.note.Add(loss.Loss{Code: loss.RowCopy, At: c.addr})
				}
				c.Out.Extras = append(c.Out.Extras, e)
			}
			continue
		}
		c.note.Add(loss.Loss{Code: loss.EventUnsent, At: c.addr})
		if h.at = b.when(); h.at.Known() {
			timed = append(timed, h)
		} else {
			rest = append(rest, h)
		}
	}
	return timed, rest
}

// branch adds a branch to the session.
func (c *Chat) branch(r *run, from string) {
	r.name = "branch-" + strconv.Itoa(len(c.Out.Branches)+1)
	c.runs = append(c.runs, r)
	c.Out.Branches = append(c.Out.Branches, session.Branch{Name: r.name, From: from})
}

// grow divides bubbles into branches, by the live bubble before each.
func (c *Chat) grow(ctx context.Context, timed []header) error {
	if len(timed) == 0 {
		return nil
	}
	live, err := c.moments(ctx)
	if err != nil {
		return err
	}
	turns, passed, began := 0, 0, 0
	trail := c.newTrail()
	for len(timed) > 0 {
		r := &run{}
		r.at, _ = slices.BinarySearch(live, timed[0].at.Millis()+1)
		n := 1
		for n < len(timed) && (r.at == len(live) || timed[n].at.Millis() < live[r.at]) {
			n++
		}
		r.headers, timed = timed[:n], timed[n:]
		for ; passed < r.at; passed++ {
			if c.headers[passed].user {
				turns++
				began = passed
			}
		}
		r.turns = turns
		from, err := trail.to(ctx, began, r.at)
		if err != nil {
			return err
		}
		c.branch(r, from)
	}
	return nil
}

// moments returns the times of the live bubbles, none earlier than the one before it:
// bubbles without a time and clocks that were set back do not count.
func (c *Chat) moments(ctx context.Context) ([]int64, error) {
	out := make([]int64, len(c.headers))
	var last int64
	for i, h := range c.headers {
		at := h.at
		if !at.Known() {
			b, err := c.read(ctx, h, i, func(loss.Loss) {})
			if err != nil {
				return nil, err
			}
			at = b.when()
		}
		if at.Known() {
			last = max(last, at.Millis())
		}
		out[i] = last
	}
	return out, nil
}

// trail finds out which message ends with which live bubble. Several bubbles can be
// one message, so they are assembled once more, for each turn with a branch.
type trail struct {
	assembler *assembler
	next      int
	last      string
}

func (c *Chat) newTrail() *trail {
	scratch := *c // its accounts are dropped
	scratch.asides, scratch.edits = nil, nil
	t := &trail{assembler: &assembler{chat: &scratch, past: notLive - 1}}
	t.assembler.give = func(m *session.Message) { t.last = m.ID }
	return t
}

// to returns the message that ends with the bubble before at, whose turn began there.
// at never decreases.
func (t *trail) to(ctx context.Context, began, at int) (string, error) {
	c, d := t.assembler.chat, t.assembler
	if t.next < began {
		d.flush()
		t.next = began
	}
	for ; t.next < at; t.next++ {
		b, err := c.read(ctx, c.headers[t.next], t.next, func(loss.Loss) {})
		if err != nil {
			return "", err
		}
		d.take(b)
		c.edits = nil
	}
	switch {
	case len(d.held) > 0:
		return d.held[len(d.held)-1].ID, nil
	case d.msg != nil:
		return d.msg.ID, nil
	}
	return t.last, nil
}

// enter begins a branch: its times do not follow those before it. It returns the record
// of the turn, nil if there is none.
func (d *assembler) enter(r *run, t *session.Turn) *session.Turn {
	d.run, d.branch, d.turns = r, r.name, r.turns
	d.last, d.mode, d.request, d.turn = session.Stamp{}, "", "", nil
	if t != nil && !r.headers[0].user { // another answer to a live prompt
		d.turns = max(d.turns, 1)
		if t.RequestID == "" && t.Usage == nil && t.Status == "" && t.Error == "" {
			return nil
		}
		t.Number = d.turns
		d.request = t.RequestID
	}
	return t
}

package diff

import (
	"context"
	"errors"
	"fmt"

	"rehome/formats"
	"rehome/formats/session"
	"rehome/internal/udiff"
)

// Session is a session that differs.
type Session struct {
	ID, Title, Client string
	Workspace         string
	Before, After     *Place // nil: only the other side has it
	Cross             bool   // the clients differ

	// The rest is of sessions that both sides have.
	Fields  Fields   // of the session
	Changes []Change // in the order of the conversation
	Turns   Turns
	Details []Details
	More    int // messages whose details differ, beyond Details
	// Coarse reports that the session has too many parts to tell what differs.
	Coarse bool
}

// Place is where a session is.
type Place struct {
	ID, Client, Format, Store string
	Turns                     int64 // -1 if not known
}

// Turns counts turns.
type Turns struct{ Added, Removed, Changed int }

// Field is a member that differs. Values that are not strings are JSON; "" means that a
// side does not have it.
type Field struct{ Name, Before, After string }

// Fields are members that differ, and how many more do.
type Fields struct {
	List []Field
	More int
}

// Details are the differences of a message that says the same on both sides.
type Details struct {
	Turn   int
	Fields Fields
}

// Change is a part that was added, removed or, if both are set, changed.
type Change struct {
	Before, After *Part
	// WholeTurn reports that nothing of its turn is on the other side.
	WholeTurn bool
	Longs     []Long // texts that differ and are too long to show
	Fields    Fields // of a call or a result that changed: its arguments, and the result
}

// Part is a part of a session.
type Part struct {
	Kind   Kind
	Turn   int // 0 before the first one
	Text   string
	Cut    bool                // Name, Text or the arguments or the result are not whole
	Name   string              // of a tool, a tag, a file, a type of media
	Call   *session.ToolCall   // of a Call
	Result *session.ToolResult // of a Call or a Result

	long []longText // those that are not whole
}

// session reads what differs in a pair of sessions.
func (c *Comparison) session(p pair) (*Session, error) {
	out := &Session{}
	for i, e := range p {
		if e == nil {
			continue
		}
		out.ID, out.Title, out.Client, out.Workspace = e.head.ID, e.head.Title, e.head.Agent, first(e.folder, e.head.Workspace)
		at := &Place{e.head.ID, e.head.Agent, e.format, c.sides[i].Show(e.store), e.head.Turns}
		if i == 0 {
			out.Before = at
		} else {
			out.After = at
		}
	}
	if p[0] == nil || p[1] == nil {
		return out, nil
	}
	out.Cross = p.cross()
	var list [2]*items
	for i := range p {
		err := c.sides[i].one(c.ctx, p[i], func(s *session.Session) (err error) {
			list[i], err = digests(c.ctx, s, out.Cross)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	a, b := list[0], list[1]
	out.Coarse = a.more+b.more > 0
	edits := udiff.Changes(keys(a), keys(b))
	want := newWanted(a, b, edits)
	var got [2]*texts
	for i := range p {
		err := c.sides[i].one(c.ctx, p[i], func(s *session.Session) (err error) {
			got[i], err = want.collect(c.ctx, s, out.Cross, i)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	out.Fields = headFields(got[0].head, got[1].head, out.Cross)
	out.changes(a, b, edits, want, got)
	out.details(want, got)
	return out, c.ctx.Err()
}

// one reads one session of a side.
func (s *side) one(ctx context.Context, e *entry, read func(*session.Session) error) error {
	nth := 0
	for one, err := range s.decode(ctx, e.store, e.format, e.head.ID) {
		if one != nil && one.ID == e.head.ID {
			if nth++; err == nil && nth > e.nth {
				err = read(one)
				if err == nil {
					return ctx.Err()
				}
			}
		}
		if err != nil {
			return s.restate(err)
		}
	}
	return s.restate(&formats.Error{Format: e.format, At: e.store, Err: errors.Join(formats.ErrBusy, fmt.Errorf("session %s is no longer there", e.head.ID))})
}

func keys(it *items) []string {
	out := make([]string, len(it.list))
	for i, one := range it.list {
		out[i] = one.key
	}
	return out
}

// changes pairs what was removed with what was added in its place.
func (s *Session) changes(a, b *items, edits []udiff.Change, want *wanted, got [2]*texts) {
	gone, came := wholeTurns(a, edits, func(e udiff.Change) (int, int) { return e.OldStart, e.Removed }), wholeTurns(b, edits, func(e udiff.Change) (int, int) { return e.NewStart, e.Added })
	touched := map[int32]bool{}
	for turn := range gone {
		if came[turn] { // another one in its place
			touched[turn] = true
			delete(gone, turn)
			delete(came, turn)
		}
	}
	i, j := 0, 0
	same := func(end int) { // aligned, but perhaps with another result
		for ; i < end; i, j = i+1, j+1 {
			if a.list[i].result != b.list[j].result {
				s.add(a.list[i].part(i, got[0]), b.list[j].part(j, got[1]), false)
				touched[b.list[j].turn] = true
			}
		}
	}
	for _, e := range edits {
		same(e.OldStart)
		var olds, news []*Part
		for ; i < e.OldStart+e.Removed; i++ {
			olds = append(olds, a.list[i].part(i, got[0]))
			if !gone[a.list[i].turn] {
				touched[a.list[i].turn] = true
			}
		}
		for ; j < e.NewStart+e.Added; j++ {
			news = append(news, b.list[j].part(j, got[1]))
			if !came[b.list[j].turn] {
				touched[b.list[j].turn] = true
			}
		}
		s.pairUp(olds, news, gone, came)
	}
	same(len(a.list))
	s.Turns = Turns{len(came), len(gone), len(touched)}
}

func (it item) part(n int, t *texts) *Part {
	if p := t.parts[n]; p != nil {
		return p
	}
	return &Part{Kind: Other, Turn: int(it.turn), Cut: true} // beyond the limit
}

// wholeTurns returns the turns all of whose parts are among the changes.
func wholeTurns(it *items, edits []udiff.Change, span func(udiff.Change) (start, n int)) map[int32]bool {
	count := map[int32]int{}
	for _, one := range it.list {
		count[one.turn]++
	}
	for _, e := range edits {
		start, n := span(e)
		for _, one := range it.list[start : start+n] {
			count[one.turn]--
		}
	}
	out := map[int32]bool{}
	for turn, n := range count {
		if n == 0 && turn > 0 {
			out[turn] = true
		}
	}
	return out
}

// pairUp pairs parts of the same kind, and calls of the same tool, in order.
func (s *Session) pairUp(olds, news []*Part, gone, came map[int32]bool) {
	label := func(list []*Part) (out []string) {
		for _, p := range list {
			out = append(out, string(p.Kind)+" "+p.Name)
		}
		return out
	}
	i, j := 0, 0
	one := func(before, after *Part) { s.add(before, after, wholeTurn(before, after, gone, came)) }
	for _, e := range append(udiff.Changes(label(olds), label(news)), udiff.Change{OldStart: len(olds), NewStart: len(news)}) {
		for ; i < e.OldStart; i, j = i+1, j+1 {
			one(olds[i], news[j])
		}
		for ; i < e.OldStart+e.Removed; i++ {
			one(olds[i], nil)
		}
		for ; j < e.NewStart+e.Added; j++ {
			one(nil, news[j])
		}
	}
}

func wholeTurn(before, after *Part, gone, came map[int32]bool) bool {
	switch {
	case before == nil:
		return came[int32(after.Turn)]
	case after == nil:
		return gone[int32(before.Turn)]
	}
	return false
}

func (s *Session) add(before, after *Part, whole bool) {
	s.Changes = append(s.Changes, Change{before, after, whole, longs(before, after, s.Cross), callFields(before, after, s.Cross)})
}

// details compares the messages that say the same.
func (s *Session) details(want *wanted, got [2]*texts) {
	for _, m := range want.messages {
		a, b := got[0].lines[m.at[0]], got[1].lines[m.at[1]]
		if a == nil || b == nil || len(s.Details) == maxDetails {
			s.More++
			continue
		}
		s.Details = append(s.Details, Details{m.turn, members(a, b)})
	}
}

// maxDetails is how many messages are listed whose details differ.
const maxDetails = 100

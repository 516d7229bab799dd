package sdksession

import (
	"cmp"

	"rehome/formats/internal/agentstate"
	"rehome/formats/internal/toolmap"
	"rehome/formats/session"
)

// turnMerge puts what the events of a run tell beyond its turn in the graph
// where it happened: both tell one story in one order, so that what stands in
// front of a part that both know belongs in front of it.
type turnMerge struct {
	*stream
	t       *turnEvents
	next    int               // items in front of it are dealt with
	byCall  map[string]int    // item by call: t.calls
	byText  map[textKey][]int // items by text
	known   map[string]bool   // calls that the graph has
	pending []int             // calls of the last message, whose results have not come
	said    map[sum]bool      // texts of the graph
	answers int               // of the graph, that are still to come
	runs    [2]concat         // of texts and of thoughts
}

type textKey struct {
	sort sort
	sum  sum
}

// concat is what the graph said since the last part that both know, and the
// items that may say the same.
type concat struct {
	graph, items sum
	from, at     int // items from..at make up items
	open         bool
	in           cursor // in the item at, of which the graph has but the beginning
}

func newTurnMerge(s *stream, t *turnEvents, turn *agentstate.Turn) *turnMerge {
	m := &turnMerge{stream: s, t: t, byText: map[textKey][]int{}, known: map[string]bool{}, said: map[sum]bool{}, byCall: t.calls, answers: turn.Answers}
	for _, id := range turn.Calls {
		m.known[id] = true
	}
	for i := range t.items {
		it := &t.items[i]
		switch it.sort {
		case textItem, thoughtItem:
			if it.n == 0 {
				it.done = it.millis == 0
			}
			fallthrough
		case userItem:
			k := textKey{it.sort, it.sum}
			m.byText[k] = append(m.byText[k], i)
		}
	}
	return m
}

// before does what is to be done in front of a message of the graph, and puts
// into the message what belongs there.
func (m *turnMerge) before(g *session.Message) error {
	switch g.Role {
	case session.Tool:
		for _, p := range g.Parts {
			if r, ok := p.(*session.ToolResult); ok {
				m.answered(g, r.Call)
				if err := m.otherResult(r); err != nil {
					return err
				}
			}
		}
		return nil
	case session.User:
		return m.user(g)
	case session.Assistant:
		if err := m.results(); err != nil {
			return err
		}
		return m.assistant(g)
	}
	return nil
}

func (m *turnMerge) answered(g *session.Message, call string) {
	if i, ok := m.byCall[call]; ok {
		it := &m.t.items[i]
		if it.answered = true; !g.At.Known() && it.over {
			g.At = it.till
		}
	}
}

// results tells what came of calls of which the graph does not tell it.
func (m *turnMerge) results() error {
	for _, i := range m.pending {
		if m.t.items[i].answered {
			continue
		}
		if err := m.callResult(m.t, &m.t.items[i]); err != nil {
			return err
		}
	}
	m.pending = m.pending[:0]
	return nil
}

// user claims the event that tells the same prompt; a prompt that the graph has
// lost comes from it.
func (m *turnMerge) user(g *session.Message) error {
	var all sum
	empty := true
	for _, p := range g.Parts {
		if text, ok := p.(*session.Text); ok {
			all, empty = all.add(text.Text), false
		}
	}
	if !empty {
		if i := m.claim(textKey{userItem, all}); i >= 0 && !g.At.Known() {
			g.At = m.t.items[i].at
		}
		return nil
	}
	if g.Turn == nil || g.Simulated {
		return nil
	}
	for i := range m.t.items {
		if it := &m.t.items[i]; it.sort == userItem && !it.done {
			parts, err := m.add(m.t, g, it)
			g.Parts = append(g.Parts, parts...)
			return err
		}
	}
	return nil
}

// claim finds the next item of a text, -1 if there is none.
func (m *turnMerge) claim(k textKey) int {
	list := m.byText[k]
	for len(list) > 0 {
		i := list[0]
		list = list[1:]
		m.byText[k] = list
		if it := &m.t.items[i]; !it.done && it.sum == k.sum { // of one that was cut the rest is to be told
			it.done = true
			return i
		}
	}
	return -1
}

// assistant puts what the graph lacks between the parts that both know.
func (m *turnMerge) assistant(g *session.Message) error {
	var parts []session.Part
	first, called := true, false
	m.answers--
	for _, p := range g.Parts {
		i, at, err := m.anchor(p)
		if err != nil {
			return err
		}
		if !g.At.Known() {
			g.At = at
		}
		if i >= m.next {
			gap := m.gap(i)
			m.next = i
			if m.t.items[i].done { // else the rest of it is still to be told
				m.next++
			}
			if gap, err = m.front(gap, first); err != nil {
				return err
			}
			first = false
			for _, j := range gap {
				more, err := m.add(m.t, g, &m.t.items[j])
				if err != nil {
					return err
				}
				parts = append(parts, more...)
				if m.t.items[j].sort == callItem {
					m.pending = append(m.pending, j)
				}
			}
		}
		_, call := p.(*session.ToolCall)
		called = called || call
		parts = append(parts, p)
	}
	g.Parts = parts
	if first && !called && m.answers == 0 {
		return m.ahead(g)
	}
	return nil
}

// ahead tells what happened before the words that end the turn, where the
// events do not have those words: all of it, as far as no time says otherwise.
func (m *turnMerge) ahead(g *session.Message) error {
	gap := m.gap(len(m.t.items))
	for n, i := range gap {
		if at := m.t.items[i].at; at.Known() && g.At.Known() && at.Millis() >= g.At.Millis() {
			gap = gap[:n]
			break
		}
	}
	if len(gap) > 0 {
		m.next = gap[len(gap)-1] + 1
	}
	return m.say(m.t, gap)
}

// gap lists the items in front of one that no other source tells. Calls that the
// graph has are its to tell, to the end of the turn.
func (m *turnMerge) gap(to int) (list []int) {
	for i := m.next; i < to; i++ {
		it := &m.t.items[i]
		if !it.done && (to == len(m.t.items) || it.sort != callItem || !m.known[it.call]) {
			list = append(list, i)
		}
	}
	return list
}

// front tells what is in front of the first part that both know as messages of
// their own; but thoughts right in front of it belong to it.
func (m *turnMerge) front(gap []int, first bool) ([]int, error) {
	if !first {
		return gap, nil
	}
	n := len(gap)
	for n > 0 && m.t.items[gap[n-1]].sort == thoughtItem {
		n--
	}
	return gap[n:], m.say(m.t, gap[:n])
}

// anchor finds the item that tells the same as a part of the graph; of several,
// the last. -1: none does. at is when it began.
func (m *turnMerge) anchor(p session.Part) (i int, at session.Stamp, err error) {
	switch p := p.(type) {
	case *session.ToolCall:
		i, ok := m.byCall[p.ID]
		if !ok {
			return -1, at, nil
		}
		it := &m.t.items[i]
		if !it.done && it.end >= 0 {
			m.pending = append(m.pending, i)
		}
		it.done = true
		if p.Kind == "" { // a tool of an MCP server, whose name tells nothing
			p.Kind = cmp.Or(toolmap.Kind(it.name), it.name)
		}
		if !p.Start.Known() {
			p.Start = it.at
		}
		if !p.End.Known() && it.over {
			p.End = it.till
		}
		m.runs = [2]concat{}
		return i, it.at, m.otherArgs(p, it)
	case *session.Text:
		m.said[sumOf(p.Text)] = true
		return m.same(textItem, &m.runs[0], p.Text)
	case *session.Thinking:
		i, at, err := m.same(thoughtItem, &m.runs[1], p.Text)
		if err == nil && i >= 0 && p.Millis == 0 {
			p.Millis = m.t.items[i].millis
		}
		return i, at, err
	}
	return -1, at, nil
}

// same finds the item of a text, or the items that make it up together with
// what the graph said before. Of the last of them the graph may have no more
// than the beginning: then what follows is left to be told.
func (m *turnMerge) same(s sort, c *concat, text string) (last int, at session.Stamp, err error) {
	piece := sumOf(text)
	if piece.n == 0 {
		return -1, at, nil
	}
	if i := m.claim(textKey{s, piece}); i >= 0 {
		*c = concat{}
		return i, m.t.items[i].at, nil
	}
	if !c.open {
		*c = concat{from: m.next, at: m.next, open: true}
	}
	c.graph = c.graph.join(piece)
	for ; c.items.n < c.graph.n && c.at < len(m.t.items); c.at++ {
		it := &m.t.items[c.at]
		if it.sort != s || it.done {
			continue
		}
		if c.items.n+it.n > c.graph.n {
			break
		}
		c.items, c.in = c.items.join(it.sum), cursor{}
	}
	last = -1
	switch {
	case c.items == c.graph:
	case c.items.n < c.graph.n && c.at < len(m.t.items):
		it := &m.t.items[c.at]
		if err := m.store.walk(m.ctx, m.t, it, &c.in, c.graph.n-c.items.n); err != nil || c.items.join(c.in.sum) != c.graph {
			return -1, at, err
		}
		last, at = c.at, it.at
		m.said[it.sum] = true
		if err := m.store.cut(m.ctx, m.t, it, c.in, blanksAtEnd(text)); err != nil {
			return -1, at, err
		}
	default:
		return -1, at, nil
	}
	for i := c.from; i < c.at; i++ {
		if it := &m.t.items[i]; it.sort == s && !it.done {
			if it.done = true; last < i {
				last, at = i, it.at
			}
		}
	}
	*c = concat{}
	return last, at, nil
}

// finish tells what the events tell beyond the end of the turn in the graph.
func (m *turnMerge) finish() error {
	if err := m.results(); err != nil {
		return err
	}
	gap := m.gap(len(m.t.items))
	m.next = len(m.t.items)
	if err := m.say(m.t, gap); err != nil {
		return err
	}
	return m.result(m.t, func(want sum) bool { return m.said[want] })
}

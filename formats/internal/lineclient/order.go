package lineclient

import (
	"rehome/formats/session"
)

// What waits for the results of calls, at most: bytes, and lines.
const (
	maxHeld    = 8 << 20
	maxWaiting = 1000
)

// ran tells the command that the user ran, whether its output came or not.
func (t *teller) ran() {
	if c := t.command; c != nil {
		t.command = nil
		t.put(c)
	}
}

// put tells what is said, once all calls before it have their results.
func (t *teller) put(s *Said) {
	t.ran()
	switch called := s.What == Result && t.open[s.Result.Call] != nil; {
	case len(t.open) > 0 && !called:
		t.wait(s)
	case s.What == Result && !called: // the call had its result
		t.orphan(s)
	default:
		if t.say(s); len(t.open) == 0 && len(t.waiting) > 0 {
			t.release()
		}
	}
}

// release tells what waits, and what waits again after it.
func (t *teller) release() {
	list := t.waiting
	t.waiting, t.held = nil, 0
	clear(t.later)
	for _, s := range list {
		t.put(s)
	}
}

func (t *teller) say(s *Said) {
	t.begun = true
	switch s.What {
	case Answer:
		for _, p := range s.Parts {
			if c, ok := p.(*session.ToolCall); ok {
				t.open[c.ID] = c
			}
		}
	case Result:
		s.Call = t.open[s.Result.Call]
		delete(t.open, s.Result.Call)
	}
	t.spell(s)
}

// wait holds what is said back, because calls have no results yet: not for ever.
func (t *teller) wait(s *Said) {
	more := !s.kept
	if more {
		s = s.keep() // a message is valid until the next one
	}
	t.held += len(s.Raw)
	for _, p := range s.Parts {
		switch p := p.(type) {
		case *session.ToolCall:
			t.later[p.ID] = true
			t.held += len(p.Input)
		case *session.Text:
			t.held += len(p.Text)
		case *session.Thinking:
			t.held += len(p.Text)
		case *session.Media:
			t.held += len(p.Data)
		case *session.Opaque:
			t.held += len(p.Raw)
		}
	}
	t.waiting = append(t.waiting, s)
	if more && (t.held > maxHeld || len(t.waiting) > maxWaiting) {
		t.drain()
	}
}

// drain tells all that waits: only the last answer can still get results.
func (t *teller) drain() {
	for len(t.waiting) > 0 {
		clear(t.open)
		t.release()
	}
}

// flush tells all that waits: no result is expected any more.
func (t *teller) flush() {
	t.ran()
	t.drain()
	clear(t.open)
}

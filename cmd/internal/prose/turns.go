package prose

import (
	"fmt"
	"iter"
	"strconv"
	"strings"

	"rehome/formats/session"
)

// Turns selects turns of a session: 3, 2-5, 7-, or -3 for the last three. The
// zero value selects all of them.
type Turns struct {
	from, to int // 0 means unbounded
	last     int
}

// ParseTurns parses a range of turns, such as 2-5.
func ParseTurns(s string) (t Turns, err error) {
	wrong := fmt.Errorf("invalid turn range %q", s)
	number := func(s string) int {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 || s[0] == '+' {
			return 0
		}
		return n
	}
	from, to, ranged := strings.Cut(s, "-")
	switch {
	case s == "":
		return t, nil
	case !ranged:
		t.from = number(s)
		t.to = t.from
	case from == "":
		t.last = number(to)
	case to == "":
		t.from = number(from)
	default:
		t.from, t.to = number(from), number(to)
		if t.from == 0 || t.to < t.from {
			return Turns{}, wrong
		}
	}
	if t == (Turns{}) {
		return t, wrong
	}
	return t, nil
}

// All reports whether t selects every turn.
func (t Turns) All() bool { return t == Turns{} }

// FromEnd reports whether t counts from the end of the session.
func (t Turns) FromEnd() bool { return t.last > 0 }

// Resolve returns the same range counted from the beginning, for a session
// whose last turn has the given number.
func (t Turns) Resolve(number int) Turns {
	if t.last == 0 {
		return t
	}
	return Turns{from: max(1, number-t.last+1), to: max(1, number)}
}

// LastTurn returns the number of a session's last turn. It reads all of its messages.
func LastTurn(s *session.Session) (number int, err error) {
	for m, err := range s.Messages {
		if err != nil {
			return number, err
		}
		if m.Turn != nil {
			number = max(number, m.Turn.Number)
		}
	}
	return number, nil
}

// WithoutBranches returns a session without its abandoned branches.
func WithoutBranches(s *session.Session) *session.Session {
	out := *s
	out.Branches = nil
	out.Messages = func(yield func(*session.Message, error) bool) {
		for m, err := range s.Messages {
			if err == nil && m.Branch != "" {
				continue
			}
			if !yield(m, err) {
				return
			}
		}
	}
	return &out
}

// Tap returns a session that passes its messages to f as they are read.
func Tap(s *session.Session, f func(*session.Message)) *session.Session {
	out := *s
	out.Messages = func(yield func(*session.Message, error) bool) {
		for m, err := range s.Messages {
			if err == nil {
				f(m)
			}
			if !yield(m, err) {
				return
			}
		}
	}
	return &out
}

// Pick returns a session with only the selected turns. Messages before the
// first turn belong to it. Unless the session has branches, whose turns start
// over, reading stops after the last selected turn. If the session has none of the
// turns, the messages are a TurnsError.
func (t Turns) Pick(s *session.Session) *session.Session {
	if t.All() {
		return s
	}
	out := *s
	out.Files = nil
	out.Messages = t.pick(s.Messages, len(s.Branches) > 0)
	return &out
}

// TurnsError is the error of a selection without any turn of the session.
type TurnsError struct {
	Last int // number of the session's last turn
}

func (e TurnsError) Error() string {
	switch e.Last {
	case 0:
		return "the session has no turns"
	case 1:
		return "the session has 1 turn"
	}
	return fmt.Sprintf("the session has %d turns", e.Last)
}

func (t Turns) pick(from iter.Seq2[*session.Message, error], branches bool) iter.Seq2[*session.Message, error] {
	return func(yield func(*session.Message, error) bool) {
		at, last, picked := 0, 0, false
		for m, err := range from {
			if err != nil {
				yield(nil, err)
				return
			}
			if m.Turn != nil {
				at = m.Turn.Number
				last = max(last, at)
			}
			if t.to > 0 && at > t.to && !branches {
				return
			}
			if here := max(at, 1); here < t.from || t.to > 0 && here > t.to {
				continue
			}
			picked = true
			if !yield(m, nil) {
				return
			}
		}
		if !picked {
			yield(nil, TurnsError{last})
		}
	}
}

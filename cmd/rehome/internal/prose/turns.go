package prose

import (
	"fmt"
	"iter"
	"strconv"
	"strings"

	"rehome/formats/session"
)

// Turns says which turns of a session are wanted: 3, 2-5, 7-, or the last so
// many, -3. The zero Turns are all of them.
type Turns struct {
	from, to int // 0: no such bound
	last     int
}

// ParseTurns reads what the command line says.
func ParseTurns(s string) (t Turns, err error) {
	wrong := fmt.Errorf("invalid range of turns %q", s)
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

// All reports whether every turn is wanted.
func (t Turns) All() bool { return t == Turns{} }

// FromEnd reports whether only the end of a session tells which turns are
// wanted.
func (t Turns) FromEnd() bool { return t.last > 0 }

// Of is the same range for a session whose last turn has that number.
func (t Turns) Of(number int) Turns {
	if t.last == 0 {
		return t
	}
	return Turns{from: max(1, number-t.last+1), to: max(1, number)}
}

// Last is the number of a session's last turn. It walks all of its messages.
func Last(s *session.Session) (number int, err error) {
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

// Live is a session without the branches that its client went back on.
func Live(s *session.Session) *session.Session {
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

// Pick is a session of which only some turns are left. What stands in front of
// the first turn belongs to it. Without branches, which begin anew, nothing is
// read behind the last one that is wanted.
func (t Turns) Pick(s *session.Session) *session.Session {
	if t.All() {
		return s
	}
	out := *s
	out.Files = nil
	out.Messages = t.pick(s.Messages, len(s.Branches) > 0)
	return &out
}

func (t Turns) pick(from iter.Seq2[*session.Message, error], branches bool) iter.Seq2[*session.Message, error] {
	return func(yield func(*session.Message, error) bool) {
		at := 0
		for m, err := range from {
			if err != nil {
				yield(nil, err)
				return
			}
			if m.Turn != nil {
				at = m.Turn.Number
			}
			if t.to > 0 && at > t.to && !branches {
				return
			}
			if here := max(at, 1); here < t.from || t.to > 0 && here > t.to {
				continue
			}
			if !yield(m, nil) {
				return
			}
		}
	}
}

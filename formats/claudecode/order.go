package claudecode

import (
	"cmp"
	"slices"
)

// sort puts the lines in the order in which they are read: each thread's live
// branch with all that belongs to none, then its other branches.
func (s *survey) sort() {
	s.rows = make([]int32, 0, len(s.lines))
	for i := range s.lines {
		if s.lines[i].kind != blanks {
			s.rows = append(s.rows, int32(i))
		}
	}
	slices.SortFunc(s.rows, func(a, b int32) int {
		x, y := &s.lines[a], &s.lines[b]
		return cmp.Or(cmp.Compare(x.thread, y.thread), cmp.Compare(max(x.branch, nowhere), max(y.branch, nowhere)), cmp.Compare(a, b))
	})
}

// linesOf are the lines of a thread, in reading order.
func (s *survey) linesOf(thread int32) []int32 {
	at := func(t int32) int {
		i, _ := slices.BinarySearchFunc(s.rows, t, func(i, t int32) int { return cmp.Compare(s.lines[i].thread, t) })
		return i
	}
	return s.rows[at(thread):at(thread+1)]
}

// commands tells those that the model was asked to carry out, which begin a
// turn, from those of the client itself: an answer follows, and not what they
// printed.
func (s *survey) commands() {
	asked := false
	var next *outline
	for _, i := range slices.Backward(s.rows) {
		o := &s.lines[i]
		if !o.chained() {
			continue
		}
		asked = asked && o.sameBranch(next)
		next = o
		switch {
		case o.kind == answers:
			asked = true
		case o.command:
			o.prompt, asked = asked, false
		case o.prompt || o.printed:
			asked = false
		}
	}
}

// sameBranch reports a line of the same branch of the same thread.
func (o *outline) sameBranch(other *outline) bool {
	return other != nil && o.thread == other.thread && o.branch == other.branch
}

// mostResponse bounds what is held of one response.
const mostResponse = 64 << 20

// join finds the lines of each response, which is one message whatever stands
// between them, up to the next prompt.
func (s *survey) join() {
	type group struct {
		last int32
		size int64
	}
	var open map[uint64]group
	var was *outline
	for _, i := range s.rows {
		o := &s.lines[i]
		if !o.chained() {
			continue
		}
		if !o.sameBranch(was) || o.prompt || o.boundary {
			open = nil
		}
		if was = o; o.kind != answers || o.response == 0 {
			continue
		}
		g, ok := open[o.response]
		if g.size += int64(o.size); ok && g.size <= mostResponse && s.lines[g.last].archived == o.archived {
			o.head, s.lines[g.last].next = s.lines[g.last].head, i
		} else {
			g.size = int64(o.size)
		}
		if g.last = i; open == nil {
			open = map[uint64]group{}
		}
		open[o.response] = g
	}
}

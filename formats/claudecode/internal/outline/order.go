package outline

import (
	"cmp"
	"slices"

	"rehome/formats/claudecode/internal/shape"
)

// sort orders the lines for reading: for each thread, the live branch and the lines
// outside of branches, then the other branches.
func (s *Tree) sort() {
	s.rows = make([]int32, 0, len(s.Lines))
	for i := range s.Lines {
		if s.Lines[i].Kind != shape.Blanks {
			s.rows = append(s.rows, int32(i))
		}
	}
	slices.SortFunc(s.rows, func(a, b int32) int {
		x, y := &s.Lines[a], &s.Lines[b]
		return cmp.Or(cmp.Compare(x.thread, y.thread), cmp.Compare(max(x.Branch, nowhere), max(y.Branch, nowhere)), cmp.Compare(a, b))
	})
	for thread := range s.Threads {
		s.preserve(s.LinesOf(int32(thread)))
	}
}

// preserve moves the messages that the last compaction of a thread preserved to where the
// client sends them: after the summary.
func (s *Tree) preserve(rows []int32) {
	boundary := -1
	for n, i := range rows {
		if o := &s.Lines[i]; o.Boundary && o.Branch == Live {
			boundary = n
		}
	}
	if boundary < 0 || len(s.kept) == 0 || s.Lines[rows[boundary]].Kind != shape.System {
		return
	}
	end := boundary + 1
	for n, i := range rows[end:] {
		if o := &s.Lines[i]; o.Branch == Live && o.Kind == shape.User && o.Parent == s.Lines[rows[boundary]].UUID {
			end += n + 1
			break
		}
	}
	var kept []int32
	rest := slices.DeleteFunc(rows[:end:end], func(i int32) bool {
		o := &s.Lines[i]
		moves := o.Branch == Live && !o.Archived && o.chained() && i < rows[boundary]
		if moves {
			kept = append(kept, i)
		}
		return moves
	})
	copy(rows[len(rest):end], kept)
}

// LinesOf returns the lines of a thread, in reading order.
func (s *Tree) LinesOf(thread int32) []int32 {
	at := func(t int32) int {
		i, _ := slices.BinarySearchFunc(s.rows, t, func(i, t int32) int { return cmp.Compare(s.Lines[i].thread, t) })
		return i
	}
	return s.rows[at(thread):at(thread+1)]
}

// commands marks commands as prompts if the model answers them, because these begin
// a turn. The output of a command of the client itself precedes any answer.
func (s *Tree) commands() {
	asked := false
	var next *Line
	for _, i := range slices.Backward(s.rows) {
		o := &s.Lines[i]
		if !o.chained() {
			continue
		}
		asked = asked && o.sameBranch(next)
		next = o
		switch {
		case o.Kind == shape.Assistant:
			asked = true
		case o.command:
			o.Prompt, asked = asked, false
		case o.Prompt || o.printed:
			asked = false
		}
	}
}

// sameBranch reports whether two lines are on the same branch of the same thread.
func (o *Line) sameBranch(other *Line) bool {
	return other != nil && o.thread == other.thread && o.Branch == other.Branch
}

// maxResponse bounds the size of one response in memory.
const maxResponse = 64 << 20

// join links the lines of each response. They are one message, up to the next
// prompt, whatever is between them.
func (s *Tree) join() {
	type group struct {
		last int32
		size int64
	}
	var open map[uint64]group
	var was *Line
	for _, i := range s.rows {
		o := &s.Lines[i]
		if !o.chained() {
			continue
		}
		if !o.sameBranch(was) || o.Prompt || o.Boundary {
			open = nil
		}
		if was = o; o.Kind != shape.Assistant || o.Response == 0 {
			continue
		}
		g, ok := open[o.Response]
		if g.size += int64(o.Size); ok && g.size <= maxResponse && s.Lines[g.last].Archived == o.Archived {
			o.Head, s.Lines[g.last].Next = s.Lines[g.last].Head, i
		} else {
			g.size = int64(o.Size)
		}
		if g.last = i; open == nil {
			open = map[uint64]group{}
		}
		open[o.Response] = g
	}
}

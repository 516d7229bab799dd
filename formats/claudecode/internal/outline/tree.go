package outline

import (
	"context"
	"slices"

	"rehome/formats/claudecode/internal/shape"
)

// Walk finds the branch of every line: first the live one, as the client finds it. Its
// cost is linear, whatever the lines refer to.
func (s *Tree) Walk(ctx context.Context) error {
	s.split = shape.Line{}
	prev, leaves := s.chains()
	for _, leaf := range leaves {
		if err := s.walk(ctx, int(leaf), prev); err != nil {
			return err
		}
	}
	s.gather()
	return ctx.Err()
}

// Arrange finds the branch and the place of every line.
func (s *Tree) Arrange(ctx context.Context) error {
	if err := s.Walk(ctx); err != nil {
		return err
	}
	s.sort()
	s.commands()
	s.join()
	s.charge()
	for i := range s.Lines {
		if o := &s.Lines[i]; o.Prompt && o.Branch == Live && o.thread == 0 {
			s.Turns++
		}
	}
	return ctx.Err()
}

// chained reports whether a line is part of the conversation, and the last one with
// its uuid.
func (o *Line) chained() bool {
	return o.Kind.Chained() && o.Branch != Dropped
}

// said reports whether a line is a prompt, an answer or a tool result.
func (o *Line) said() bool { return o.Kind.Said() }

// chains returns the previous line in its thread for each line, and the last prompt
// or answer for each thread; -1 for none.
func (s *Tree) chains() (prev, leaves []int32) {
	prev, leaves = make([]int32, len(s.Lines)), slices.Repeat([]int32{-1}, len(s.Threads))
	last := slices.Clone(leaves)
	for i := range s.Lines {
		o := &s.Lines[i]
		if !o.chained() {
			continue
		}
		prev[i], last[o.thread] = last[o.thread], int32(i)
		if o.said() {
			leaves[o.thread] = int32(i)
		}
	}
	return prev, leaves
}

// walk marks the path from a leaf to its root as live.
func (s *Tree) walk(ctx context.Context, i int, prev []int32) error {
	archived := false
	for i >= 0 && s.Lines[i].Branch == nowhere {
		s.steps++
		o := &s.Lines[i]
		o.Branch = Live
		o.Archived = archived && !s.kept[o.UUID]
		up := o.Parent
		if o.Boundary {
			archived = true
			if o.Root {
				up = o.logical
			}
		}
		next, there := s.At[up]
		there = there && up != 0
		switch {
		case there && s.Lines[next].thread == o.thread:
			i = int(next)
			continue
		case there && o.thread > 0, o.Root && s.linked && !o.Boundary:
			return ctx.Err() // a root, or the call that started a subagent
		}
		// The previous line replaces a parent that is missing or not given.
		if i = s.before(ctx, i, prev); i >= 0 && up == 0 && !o.Boundary {
			s.Unlinked++
		} else if up != 0 && (o.said() || o.Boundary || o.Kind == shape.Attachment) {
			s.Healed++
		}
	}
	return ctx.Err()
}

// before returns the closest previous line of the thread without a place. It
// shortens prev, so that lines with a place are skipped once.
func (s *Tree) before(ctx context.Context, i int, prev []int32) int {
	at := prev[i]
	for at >= 0 && s.Lines[at].Branch != nowhere && ctx.Err() == nil {
		s.steps++
		if up := prev[at]; up >= 0 && s.Lines[up].Branch != nowhere {
			prev[at] = prev[up]
		}
		at = prev[at]
	}
	prev[i] = at
	return int(at)
}

// gather adds lines beside the live path to it: other calls of its responses,
// results of its calls, and lines that are not messages. All others are branches.
func (s *Tree) gather() {
	responses := map[uint64]int32{}
	for i := range s.Lines {
		if o := &s.Lines[i]; o.Branch == Live && o.Kind == shape.Assistant && o.Response != 0 {
			responses[o.Response] = int32(i)
		}
	}
	for i := range s.Lines {
		o := &s.Lines[i]
		if o.Branch != nowhere || o.Kind != shape.Assistant || o.Response == 0 {
			continue
		}
		if of, ok := responses[o.Response]; ok && s.Lines[of].thread == o.thread {
			o.Branch, o.Archived = Live, s.Lines[of].Archived
		}
	}
	s.pairResults()
	branches := int32(0)
	for i := range s.Lines {
		o := &s.Lines[i]
		if o.Branch != nowhere || !o.chained() {
			continue
		}
		up := &Line{Branch: Live}
		if at, ok := s.At[o.Parent]; ok && int(at) != i && o.Parent != 0 {
			up = &s.Lines[at]
		}
		switch {
		case up.Branch < 0 && !o.said() && !o.Boundary:
			o.Branch, o.Archived = Live, up.Archived
		case up.Branch >= 0:
			o.Branch = up.Branch
		default:
			o.Branch = branches
			branches++
		}
	}
}

// pairResults adds results beside the live path if their calls are on it and have
// no other result. The client finds them by their ids.
func (s *Tree) pairResults() {
	open := map[uint64]*Line{}
	for _, m := range s.Uses {
		if o := &s.Lines[m.Line]; o.Branch == Live {
			open[m.Call] = o
		}
	}
	for _, m := range s.Replies {
		if s.Lines[m.Line].Branch == Live {
			delete(open, m.Call)
		}
	}
	for _, m := range s.Replies {
		o, call := &s.Lines[m.Line], open[m.Call]
		if o.Branch == nowhere && call != nil && call.thread == o.thread {
			o.Branch, o.Archived = Live, call.Archived
			delete(open, m.Call)
		}
	}
}

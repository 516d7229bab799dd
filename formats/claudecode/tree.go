package claudecode

import (
	"context"
	"slices"
)

// arrange finds the place of every line: the live branch first, as the client
// finds it. Each step looks at a line a few times at most, however they hang
// together.
func (s *survey) arrange(ctx context.Context) error {
	prev, leaves := s.chains()
	for _, leaf := range leaves {
		if err := s.walk(ctx, int(leaf), prev); err != nil {
			return err
		}
	}
	s.gather()
	s.sort()
	s.commands()
	s.join()
	s.charge()
	for i := range s.lines {
		if o := &s.lines[i]; o.prompt && o.branch == live && o.thread == 0 {
			s.turns++
		}
	}
	return ctx.Err()
}

// chained reports a line of the conversation that counts.
func (o *outline) chained() bool {
	return o.kind >= user && o.kind <= progress && o.branch != dropped
}

// said reports a prompt, an answer, or what came of a call.
func (o *outline) said() bool { return o.kind == user || o.kind == answers }

// chains are, for each line, the one before it in its thread, and for each
// thread the last prompt or answer; -1 for none.
func (s *survey) chains() (prev, leaves []int32) {
	prev, leaves = make([]int32, len(s.lines)), slices.Repeat([]int32{-1}, len(s.threads))
	last := slices.Clone(leaves)
	for i := range s.lines {
		o := &s.lines[i]
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

// walk marks the way from a leaf to its root.
func (s *survey) walk(ctx context.Context, i int, prev []int32) error {
	archived := false
	for i >= 0 && s.lines[i].branch == nowhere {
		o := &s.lines[i]
		o.branch = live
		o.archived = archived && !s.kept[o.uuid]
		up := o.parent
		if o.boundary {
			archived = true
			if o.root {
				up = o.logical
			}
		}
		next, there := s.at[up]
		there = there && up != 0
		switch {
		case there && s.lines[next].thread == o.thread:
			i = int(next)
			continue
		case there && o.thread > 0, o.root && s.linked && !o.boundary:
			return ctx.Err() // a root, or the call that started a subagent
		}
		// The line before it stands in for one that is not there, or not named.
		if i = s.before(ctx, i, prev); i >= 0 && up == 0 && !o.boundary {
			s.unlinked++
		} else if up != 0 && (o.said() || o.boundary || o.kind == attached) {
			s.healed++
		}
	}
	return ctx.Err()
}

// before is the line of the thread before one that has no place yet. What has
// one is passed by once.
func (s *survey) before(ctx context.Context, i int, prev []int32) int {
	at := prev[i]
	for at >= 0 && s.lines[at].branch != nowhere && ctx.Err() == nil {
		if up := prev[at]; up >= 0 && s.lines[up].branch != nowhere {
			prev[at] = prev[up]
		}
		at = prev[at]
	}
	prev[i] = at
	return int(at)
}

// gather gives their place to the lines beside the way: calls of a response
// that is on it, results of calls, and what nobody said. All others are
// branches.
func (s *survey) gather() {
	responses := map[uint64]int32{}
	for i := range s.lines {
		if o := &s.lines[i]; o.branch == live && o.kind == answers && o.response != 0 {
			responses[o.response] = int32(i)
		}
	}
	for i := range s.lines {
		o := &s.lines[i]
		if o.branch != nowhere || o.kind != answers || o.response == 0 {
			continue
		}
		if of, ok := responses[o.response]; ok && s.lines[of].thread == o.thread {
			o.branch, o.archived = live, s.lines[of].archived
		}
	}
	s.pairResults()
	branches := int32(0)
	for i := range s.lines {
		o := &s.lines[i]
		if o.branch != nowhere || !o.chained() {
			continue
		}
		up := &outline{branch: live}
		if at, ok := s.at[o.parent]; ok && int(at) != i && o.parent != 0 {
			up = &s.lines[at]
		}
		switch {
		case up.branch < 0 && !o.said() && !o.boundary:
			o.branch, o.archived = live, up.archived
		case up.branch >= 0:
			o.branch = up.branch
		default:
			o.branch = branches
			branches++
		}
	}
}

// pairResults gives results beside the way to the calls on it that have none: the
// client looks for them by their ids.
func (s *survey) pairResults() {
	open := map[uint64]*outline{}
	for _, m := range s.uses {
		if o := &s.lines[m.line]; o.branch == live {
			open[m.call] = o
		}
	}
	for _, m := range s.replies {
		if s.lines[m.line].branch == live {
			delete(open, m.call)
		}
	}
	for _, m := range s.replies {
		o, call := &s.lines[m.line], open[m.call]
		if o.branch == nowhere && call != nil && call.thread == o.thread {
			o.branch, o.archived = live, call.archived
			delete(open, m.call)
		}
	}
}

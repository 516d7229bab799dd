package claudecode

// arrange finds the place of every line: the live branch first, as the client
// finds it.
func (s *survey) arrange() {
	s.walk(s.leaf(nil), nil)
	for _, t := range s.order {
		in := func(o *outline) bool { return o.side && o.thread == t }
		s.walk(s.leaf(in), in)
	}
	s.gather()
	s.charge()
	for i := range s.lines {
		if o := &s.lines[i]; o.prompt && o.branch == live && !o.side {
			s.turns++
		}
	}
}

// leaf is the last prompt or answer of a thread, -1 if it has none.
func (s *survey) leaf(in func(*outline) bool) int {
	for i := len(s.lines) - 1; i >= 0; i-- {
		o := &s.lines[i]
		if (o.kind == user || o.kind == answers) && o.branch == nowhere && mine(o, in) {
			return i
		}
	}
	return -1
}

func mine(o *outline, in func(*outline) bool) bool {
	if in == nil {
		return !o.side
	}
	return in(o)
}

// walk marks the way from a leaf to its root.
func (s *survey) walk(i int, in func(*outline) bool) {
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
		next, ok := s.at[up]
		switch {
		case up != 0 && ok:
			i = int(next)
		case up != 0 || o.boundary: // the line in front stands in for one that is not there
			if up != 0 {
				s.healed++
			}
			i = s.before(i, in)
		default:
			i = -1
		}
	}
}

// before is the line of the thread in front of one.
func (s *survey) before(i int, in func(*outline) bool) int {
	for i--; i >= 0; i-- {
		o := &s.lines[i]
		if o.kind >= user && o.kind <= progress && o.branch == nowhere && mine(o, in) {
			return i
		}
	}
	return -1
}

// gather gives their place to the lines beside the way: calls of a response
// that is on it, results of calls, and what the client attached. All others are
// branches.
func (s *survey) gather() {
	responses := map[uint64]bool{}
	for i := range s.lines {
		if o := &s.lines[i]; o.branch == live && o.kind == answers && o.response != 0 {
			responses[o.response] = true
		}
	}
	branches := int32(0)
	for i := range s.lines {
		o := &s.lines[i]
		if o.branch != nowhere || o.kind < user || o.kind > progress {
			continue
		}
		var up *outline
		if at, ok := s.at[o.parent]; ok && int(at) != i && o.parent != 0 {
			up = &s.lines[at]
		}
		beside := o.kind == answers && o.response != 0 && responses[o.response]
		if up != nil && up.branch == live && (o.result && up.kind == answers || o.kind > answers && !o.boundary) {
			beside = true
		}
		switch {
		case beside:
			o.branch = live
			o.archived = up != nil && up.archived
		case up != nil && up.branch >= 0 && int(s.at[o.parent]) < i:
			o.branch = up.branch
		default:
			o.branch = branches
			branches++
		}
	}
}

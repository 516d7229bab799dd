package agentstate

// align determines which prompt messages belong to which turn. It matches, in this order:
// tool call ids and texts that occur once on each side, the id of the user's message if a
// mark states it, the request id, the user's text.
// It takes linear time and keeps the order of both sides: the prompt messages of a turn
// never come before those of an earlier turn.
func (s *State) align() {
	if len(s.turns) == 0 || len(s.lines) == 0 {
		return
	}
	s.anchor()
	byText, byRequest, byMessage := map[uint64][]int32{}, map[uint64][]int32{}, map[uint64][]int32{}
	for i := range s.lines {
		l := &s.lines[i]
		if l.role != userRole || !l.content || l.boundary {
			continue
		}
		a := s.asker(l)
		if a.text != 0 {
			byText[a.text] = append(byText[a.text], int32(i))
		}
		if a.request != 0 {
			byRequest[a.request] = append(byRequest[a.request], int32(i))
		}
		if a.message != 0 {
			byMessage[a.message] = append(byMessage[a.message], int32(i))
		}
	}
	before := make([]int32, len(s.turns)) // the last anchor of all earlier turns
	last := int32(-1)
	for i := range s.turns {
		before[i] = last
		last = max(last, s.turns[i].lastAnchor)
	}
	// Backwards, as a compaction leaves the end of the conversation.
	until := int32(len(s.lines))
	for i := len(s.turns) - 1; i >= 0; i-- {
		t := &s.turns[i]
		if t.firstAnchor >= 0 {
			until = min(until, t.firstAnchor)
		}
		if t.line = pick(byMessage, s.hash([]byte(t.message)), before[i], until); t.line < 0 {
			t.line = pick(byRequest, s.hash([]byte(t.request)), before[i], until)
		}
		if t.line < 0 {
			t.line = pick(byText, t.text, before[i], until)
		}
		if t.line < 0 && t.firstAnchor >= 0 {
			t.line = s.answered(before[i], until)
		}
		if t.line >= 0 {
			until = t.line
		}
	}
	s.pairGaps()
	s.regions()
}

// pick returns the last of the places between two others.
func pick(places map[uint64][]int32, key uint64, after, until int32) int32 {
	if key == 0 {
		return -1
	}
	list := places[key]
	for len(list) > 0 && list[len(list)-1] >= until {
		list = list[:len(list)-1]
	}
	places[key] = list
	if len(list) > 0 && list[len(list)-1] > after {
		return list[len(list)-1]
	}
	return -1
}

// answered returns the user's message that the anchor of a turn answers.
func (s *State) answered(after, until int32) int32 {
	for i := until - 1; i > after; i-- {
		if l := &s.lines[i]; l.role == userRole && l.content {
			return i
		}
	}
	return -1
}

// anchor matches turns with prompt messages by what occurs exactly once on both sides.
func (s *State) anchor() {
	const twice = -2
	steps := make(map[uint64]int32, len(s.steps))
	for t := range s.turns {
		for i := s.turns[t].from; i < s.turns[t].to; i++ {
			key := s.tied(i)
			if key == 0 {
				continue
			}
			if _, ok := steps[key]; ok {
				steps[key] = twice
			} else {
				steps[key] = int32(t)
			}
		}
	}
	lines := make(map[uint64]int32, len(s.parts))
	for i := range s.lines {
		for p := s.lines[i].from; p < s.lines[i].to; p++ {
			key := s.parts[p].tied()
			if _, ok := steps[key]; !ok || key == 0 {
				continue
			}
			if _, ok := lines[key]; ok {
				lines[key] = twice
			} else {
				lines[key] = int32(i)
			}
		}
	}
	for i := range s.lines {
		for p := s.lines[i].from; p < s.lines[i].to; p++ {
			key := s.parts[p].tied()
			turn, ok := steps[key]
			if line, once := lines[key]; key == 0 || !ok || !once || turn < 0 || line != int32(i) {
				continue
			}
			t := &s.turns[turn]
			if t.firstAnchor < 0 || int32(i) < t.firstAnchor {
				t.firstAnchor = int32(i)
			}
			t.lastAnchor = max(t.lastAnchor, int32(i))
		}
	}
}

// tied returns the key that a step shares with the part that says the same, 0 if it has
// none. Results are not anchors: their calls are.
func (s *State) tied(step int32) uint64 { return tie(s.steps[step].kind, s.keys[step]) }

func (p *partLine) tied() uint64 {
	if p.kind == resultPart {
		return 0
	}
	return tie(p.kind, p.key)
}

func tie(k partKind, key uint64) uint64 {
	if key == 0 || k == otherPart {
		return 0
	}
	return key ^ uint64(k)<<1
}

// pairGaps pairs the turns and user messages between two matches if there are equally many
// of both.
func (s *State) pairGaps() {
	line := int32(-1)
	for i := 0; i <= len(s.turns); {
		j := i
		for j < len(s.turns) && s.turns[j].line < 0 {
			j++
		}
		until := int32(len(s.lines))
		if j < len(s.turns) {
			until = s.turns[j].line
		}
		if j > i {
			s.pairGap(i, j, line, until)
		}
		if j < len(s.turns) {
			line = s.turns[j].line
		}
		i = j + 1
	}
}

func (s *State) pairGap(from, to int, after, until int32) {
	for i := from; i < to; i++ {
		if s.turns[i].shell { // it has no prompt message
			return
		}
	}
	var free []int32
	answered := true
	for i := after + 1; i < until; i++ {
		l := &s.lines[i]
		switch {
		case l.role == userRole && l.content && answered:
			free, answered = append(free, i), false
		case l.role == assistantRole || l.role == toolRole:
			answered = true
		}
		if len(free) > to-from {
			return
		}
	}
	if len(free) != to-from {
		return
	}
	for k, line := range free {
		s.turns[from+k].line = line
	}
}

// regions sets where the prompt messages of each turn begin: at the context that the
// client inserted before the user's message. What the user said before is not part of it:
// it was said in an earlier turn, before this one was added.
func (s *State) regions() {
	after := int32(-1)
	for i := range s.turns {
		t := &s.turns[i]
		switch {
		case t.line >= 0:
			t.region = t.line
			s.lines[t.line].turn = int32(i)
			for t.region > after+1 {
				l := &s.lines[t.region-1]
				if l.role == assistantRole || l.role == toolRole || l.turn >= 0 || l.role == userRole && l.content && !l.boundary {
					break
				}
				t.region--
			}
			after = max(t.line, t.lastAnchor)
		case t.firstAnchor > after:
			t.region = t.firstAnchor
			after = max(after, t.lastAnchor)
		}
	}
}

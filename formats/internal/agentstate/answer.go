package agentstate

// answer plans a prompt message of the assistant: its parts, and between them the steps
// that occur only in the turn.
func (p *planner) answer(i int32) {
	l := &p.lines[i]
	firstStep := int32(-1)
	for k := l.from; k < l.to; k++ {
		if step := p.parts[k].step; step >= 0 && (firstStep < 0 || step < firstStep) {
			firstStep = step
		}
	}
	if firstStep >= 0 {
		p.flush(firstStep, i)
	}
	m := planned{kind: planAnswer, turn: -1, line: i, archived: i < p.last, from: int32(len(p.items))}
	lastPart := int32(-1)
	for k := l.from; k < l.to; k++ {
		if p.parts[k].step >= 0 {
			lastPart = k
		}
	}
	for k := l.from; k < l.to; k++ {
		step := p.parts[k].step
		if step >= 0 {
			p.between(step)
			p.place(step)
		}
		p.items = append(p.items, item{k, step})
		if k == lastPart {
			p.next = max(p.next, step+1)
		}
	}
	m.to = int32(len(p.items))
	p.add(m)
}

// between adds the steps before the given one to the same message, unless a prompt message
// holds them.
func (p *planner) between(step int32) {
	for ; p.next < step; p.next++ {
		if !p.steps[p.next].matched && !p.isPlaced(p.next) {
			p.items = append(p.items, item{-1, p.next})
			p.place(p.next)
		}
	}
	p.next = max(p.next, step+1)
}

func (p *planner) isPlaced(step int32) bool { return p.placed[step-p.turns[p.turn].from] }

// place marks a step as planned, and queues its result if no prompt message has it.
func (p *planner) place(step int32) {
	p.placed[step-p.turns[p.turn].from] = true
	s := &p.steps[step]
	if s.kind == callPart && s.result && !p.results[p.keys[step]] {
		p.waiting = append(p.waiting, step)
	}
}

// toolMessage plans a prompt message with the role tool: one message for each result.
func (p *planner) toolMessage(i int32) {
	l := &p.lines[i]
	if l.from == l.to {
		p.add(planned{kind: planLine, turn: -1, line: i, archived: i < p.last})
		return
	}
	for k := l.from; k < l.to; k++ {
		part := &p.parts[k]
		if part.kind == resultPart && p.turn >= 0 {
			part.step = p.stepOf(part.key)
		}
		p.items = append(p.items, item{k, part.step})
		n := int32(len(p.items))
		p.add(planned{kind: planResult, turn: -1, line: i, archived: i < p.last, from: n - 1, to: n})
	}
}

// stepOf returns the call of the current turn that a result belongs to, -1 if there is
// none.
func (p *planner) stepOf(key uint64) int32 {
	if key == 0 {
		return -1
	}
	if p.callSteps == nil || p.callTurn != p.turn {
		p.callSteps, p.callTurn = map[uint64]int32{}, p.turn
		t := &p.turns[p.turn]
		for i := t.from; i < t.to; i++ {
			if s := &p.steps[i]; s.kind == callPart {
				if _, ok := p.callSteps[p.keys[i]]; !ok {
					p.callSteps[p.keys[i]] = i
				}
			}
		}
	}
	if step, ok := p.callSteps[key]; ok {
		return step
	}
	return -1
}

// addResults plans the results that occur only in steps.
func (p *planner) addResults(line int32) {
	for _, step := range p.waiting {
		p.result(step, line)
	}
	p.waiting = p.waiting[:0]
}

func (p *planner) result(step, line int32) {
	p.items = append(p.items, item{-1, step})
	n := int32(len(p.items))
	p.add(planned{kind: planResult, turn: -1, line: -1, archived: p.archivedAt(line), from: n - 1, to: n})
}

// flush plans the steps before the given one that no prompt message holds, as messages of
// their own.
func (p *planner) flush(until, line int32) {
	open := planned{kind: planAnswer, turn: -1, line: -1, archived: p.archivedAt(line), from: int32(len(p.items))}
	called, busy := false, int64(0) // whether there was a call, and when the last one ended
	end := func() {
		if open.to = int32(len(p.items)); open.to > open.from {
			p.add(open)
		}
		p.addResults(line)
		open.from, called, busy = int32(len(p.items)), false, 0
	}
	for ; p.next < until; p.next++ {
		s := &p.steps[p.next]
		if s.matched || p.isPlaced(p.next) {
			continue
		}
		// What follows a call is the next answer, but for calls that ran
		// beside it.
		if called && (s.kind != callPart || s.start > 0 && busy > 0 && s.start >= busy) {
			end()
		}
		if s.kind == callPart {
			called, busy = true, max(busy, s.end)
		}
		p.items = append(p.items, item{-1, p.next})
		p.place(p.next)
	}
	end()
}

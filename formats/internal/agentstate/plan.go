package agentstate

// The plan is the list of messages that the conversation will be: made from
// the outline, before any content is read again.

// planKind is what a planned message is made from.
type planKind uint8

const (
	planLine     planKind = iota // one prompt message, of any role
	planUser                     // a turn's user message, with or without its prompt message
	planAnswer                   // an assistant's message: items
	planResult                   // the result of one call, from a part of a prompt message, a step, or both
	planShell                    // the output of a shell command of the user
	planBoundary                 // where the client compacted the conversation
	planPending                  // an assistant's message whose calls have no result yet
)

type planned struct {
	kind     planKind
	archived bool
	starts   bool  // a turn begins here
	turn     int32 // in State.turns; -1
	line     int32 // in State.lines; -1
	from, to int32 // in State.items; of planPending: in root.pending
	nth      int32 // how many messages so far take their ids from the same record
}

// item is one part of an assistant's message, or a result.
type item struct {
	part int32 // in State.parts; -1 if only the step has it
	step int32 // in State.steps; -1 if only the prompt message has it
}

// planner is the state of planning.
type planner struct {
	*State
	turn    int32 // the current turn; -1
	next    int32 // the first of its steps that is not planned yet
	placed  []bool
	byKey   map[uint64][]int32 // steps of the turn, in order
	results map[uint64]bool    // calls whose result a prompt message holds
	waiting []int32            // calls whose result only the step has
	last    int32              // the last boundary; -1

	callSteps map[uint64]int32 // the calls of callTurn, by id
	callTurn  int32
}

// makePlan walks prompt messages and turns side by side.
func (s *State) makePlan() {
	p := &planner{State: s, turn: -1, last: -1}
	for i := range s.lines {
		if s.lines[i].boundary {
			p.last = int32(i)
		}
	}
	i, n := int32(0), int32(len(s.lines))
	for i < n && s.lines[i].role == systemRole && !s.lines[i].archived && !s.lines[i].boundary {
		p.add(planned{kind: planLine, turn: -1, line: i})
		i++
	}
	// Context that the client sent before the first prompt.
	for i < n && s.lines[i].role == userRole && !s.lines[i].content && !s.lines[i].boundary {
		p.add(planned{kind: planLine, turn: -1, line: i, archived: i < p.last})
		i++
	}
	t := 0
	for t < len(s.turns) && s.turns[t].region < 0 {
		t++
	}
	end := n
	if t < len(s.turns) {
		end = max(i, s.turns[t].region)
	}
	p.region(-1, i, end)
	for k := range t {
		p.alone(int32(k), end)
	}
	for t < len(s.turns) {
		next := t + 1
		for next < len(s.turns) && s.turns[next].region < 0 {
			next++
		}
		from := end
		if end = n; next < len(s.turns) {
			end = max(from, s.turns[next].region)
		}
		p.region(int32(t), from, end)
		for k := t + 1; k < next; k++ {
			p.alone(int32(k), end)
		}
		t = next
	}
	s.settlePending()
}

// add adds a message to the plan.
func (p *planner) add(m planned) {
	p.plan = append(p.plan, m)
}

// archivedAt reports whether what comes before a line is archived.
func (p *planner) archivedAt(line int32) bool { return line <= p.last }

// alone plans a turn that has no prompt messages.
func (p *planner) alone(turn, line int32) {
	p.begin(turn)
	t := &p.turns[turn]
	p.add(planned{kind: planUser, starts: true, turn: turn, line: -1, archived: p.archivedAt(line)})
	if t.shell {
		if t.output != (ID{}) {
			p.add(planned{kind: planShell, turn: turn, line: -1, archived: p.archivedAt(line)})
		}
		return
	}
	p.flush(t.to, line)
}

// begin makes a turn the current one.
func (p *planner) begin(turn int32) {
	p.turn, p.next = turn, 0
	p.byKey, p.results, p.placed, p.waiting = nil, nil, nil, nil
	if turn < 0 {
		return
	}
	t := &p.turns[turn]
	p.next = t.from
	p.placed = make([]bool, t.to-t.from)
}

// region plans the prompt messages of a turn together with its steps; turn is -1 for
// prompt messages that belong to none.
func (p *planner) region(turn, from, to int32) {
	p.begin(turn)
	lastMatch := int32(-1)
	if turn >= 0 {
		lastMatch = p.match(from, to)
		if p.turns[turn].line < 0 {
			p.add(planned{kind: planUser, starts: true, turn: turn, line: -1, archived: p.archivedAt(from)})
		}
		lastMatch = max(lastMatch, p.turns[turn].line)
	}
	asked := false // a turn without a record of its own has begun and is not answered
	for i := from; i < to; i++ {
		l := &p.lines[i]
		if l.role != toolRole {
			p.addResults(i)
		}
		m := planned{kind: planLine, turn: -1, line: i, archived: i < p.last}
		switch {
		case l.boundary:
			m.kind, m.archived = planBoundary, false
			p.add(m)
		case l.role == userRole && turn >= 0 && l.turn == turn:
			m.kind, m.starts, m.turn = planUser, true, turn
			p.add(m)
		case l.role == userRole:
			if l.content && i > lastMatch && !asked {
				p.finish(i)
				m.starts, asked = true, true
			}
			p.add(m)
		case l.role == assistantRole:
			asked = false
			p.answer(i)
		case l.role == toolRole:
			asked = false
			p.toolMessage(i)
		default:
			p.add(m)
		}
	}
	p.finish(to)
}

// finish plans the rest of the current turn.
func (p *planner) finish(line int32) {
	p.addResults(line)
	if p.turn >= 0 {
		p.flush(p.turns[p.turn].to, line)
		t := &p.turns[p.turn]
		if t.shell && t.output != (ID{}) && !t.spoiled {
			p.add(planned{kind: planShell, turn: p.turn, line: -1, archived: p.archivedAt(line)})
		}
		p.begin(-1)
	}
}

// match finds, for each part of a region, the step that says the same: calls by their id,
// texts between the calls around them. It returns the last line with a match.
func (p *planner) match(from, to int32) (last int32) {
	last = -1
	t := &p.turns[p.turn]
	p.byKey, p.results = make(map[uint64][]int32, t.to-t.from), map[uint64]bool{}
	for i := t.from; i < t.to; i++ {
		if key := p.tied(i); key != 0 {
			p.byKey[key] = append(p.byKey[key], i)
		}
	}
	for i := from; i < to; i++ {
		for k := p.lines[i].from; k < p.lines[i].to; k++ {
			part := &p.parts[k]
			if part.kind == resultPart {
				p.results[part.key] = true
				continue
			}
			if list := p.byKey[part.tied()]; part.kind == callPart && len(list) > 0 && part.key != 0 {
				part.step = list[0]
				p.byKey[part.tied()] = list[1:]
				p.steps[part.step].matched = true
				last = i
			}
		}
	}
	return max(last, p.matchTexts(t, from, to))
}

func (p *planner) matchTexts(t *turnLine, from, to int32) (last int32) {
	last = -1
	// The step of the first call that follows, for each part, from the end.
	parts := []int32{}
	for i := from; i < to; i++ {
		for k := p.lines[i].from; k < p.lines[i].to; k++ {
			if p.parts[k].kind != resultPart {
				parts = append(parts, k)
			}
		}
	}
	until := make([]int32, len(parts))
	next := t.to
	for i := len(parts) - 1; i >= 0; i-- {
		until[i] = next
		if step := p.parts[parts[i]].step; step >= 0 {
			next = min(next, step)
		}
	}
	cursor, at := t.from, from
	for i, k := range parts {
		for k >= p.lines[at].to {
			at++
		}
		part := &p.parts[k]
		if part.step >= 0 {
			cursor = max(cursor, part.step+1)
			continue
		}
		key := part.tied()
		if key == 0 || part.kind == callPart {
			continue
		}
		list := p.byKey[key]
		for len(list) > 0 && list[0] < cursor {
			list = list[1:]
		}
		p.byKey[key] = list
		if len(list) > 0 && list[0] < until[i] {
			part.step = list[0]
			p.steps[part.step].matched = true
			cursor, last = part.step+1, at
		}
	}
	return last
}

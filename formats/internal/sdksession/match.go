package sdksession

import (
	"context"
	"slices"
	"strings"

	"rehome/formats/internal/agentstate"
	"rehome/formats/internal/sdkdoc"
)

// plan is which run is which turn, and in what order all is told.
type plan struct {
	turns  []*run   // of each turn of the graph; nil where no run knows of it
	before [][]*run // runs without a turn in the graph, in front of each turn; the last element is behind all
	aside  bool     // those are not in the conversation that the client sends, but branches beside it
	asleep []*run   // queued, and never began
	number map[*run]int
	first  []int         // the number of each turn of the graph
	known  map[*run]bool // that its events tell the prompt
}

// glimpse is what the first events of a run tell.
type glimpse struct {
	prompt string
	told   bool // there is a prompt
	calls  []string
}

// peek is how many events are looked at to know a run.
const peek = 64

func (s *Store) glimpse(ctx context.Context, r *run) (g glimpse, err error) {
	for _, e := range r.events[:min(len(r.events), peek)] {
		ev, err := s.event(ctx, e)
		if err != nil {
			return g, err
		}
		switch {
		case ev == nil:
		case ev.what == userText && !g.told:
			g.prompt, g.told = ev.text, true
		case ev.what == toolCall:
			g.calls = append(g.calls, ev.call)
		}
		if g.told && len(g.calls) > 0 {
			break
		}
	}
	return g, nil
}

// match finds out which run is which turn of the graph.
func (s *Store) match(ctx context.Context, a *agent, turns []agentstate.Turn, root agentstate.ID) (*plan, error) {
	p := &plan{turns: make([]*run, len(turns)), before: make([][]*run, len(turns)+1), number: map[*run]int{}, known: map[*run]bool{}}
	m := matcher{plan: p, turns: turns, at: map[*run]int{}}
	var live []*run
	for _, r := range a.runs {
		if r.status == sdkdoc.Queued && len(r.events) == 0 && !r.said && !r.began {
			p.asleep = append(p.asleep, r)
		} else {
			live = append(live, r)
		}
	}
	m.requests(live)
	for _, r := range live {
		if _, found := m.at[r]; found {
			continue
		}
		g, err := s.glimpse(ctx, r)
		if err != nil {
			return nil, err
		}
		p.known[r] = g.told
		m.evidence(r, g)
	}
	m.prompts(live)
	m.roots(live, root)
	m.gaps(live)
	m.place(live)
	p.aside = len(turns) > 0
	m.numbers()
	return p, nil
}

// matchPrompts finds out which run each prompt of a transcript began.
func (s *Store) matchPrompts(p *plan, turns []agentstate.Turn, prompts []string) map[*run]int {
	m := matcher{plan: &plan{turns: make([]*run, len(prompts))}, at: map[*run]int{}, turns: make([]agentstate.Turn, len(prompts)), said: true}
	for i, text := range prompts {
		m.turns[i].Prompt = text
	}
	var live []*run
	p.each(func(r *run, turn int) {
		if r == nil {
			r = &run{known: true} // a turn that no run knows of has its place, too
		}
		if turn >= 0 {
			r.prompt = clip(turns[turn].Prompt)
		}
		live = append(live, r)
	})
	m.prompts(live)
	m.gaps(live)
	return m.at
}

// matcher makes a plan.
type matcher struct {
	*plan
	turns []agentstate.Turn
	at    map[*run]int // turn by run
	said  bool         // the turns are a transcript's, which knows of runs that left no state
	calls map[string]int
	clips []string // of the turns' prompts, from prompts on
}

func (m *matcher) pair(r *run, turn int) {
	m.at[r], m.plan.turns[turn] = turn, r
}

// requests pairs by request id.
func (m *matcher) requests(live []*run) {
	byRequest := map[string]int{}
	for i, t := range m.turns {
		if t.RequestID == "" {
			continue
		}
		if _, twice := byRequest[t.RequestID]; twice {
			byRequest[t.RequestID] = -1
		} else {
			byRequest[t.RequestID] = i
		}
	}
	for _, r := range live {
		if i, ok := byRequest[r.request]; ok && i >= 0 && r.request != "" {
			m.pair(r, i)
			byRequest[r.request] = -1
		}
	}
}

// evidence pairs by a call that both know.
func (m *matcher) evidence(r *run, g glimpse) {
	if m.calls == nil {
		m.calls = map[string]int{}
		for i, t := range m.turns {
			for _, id := range t.Calls {
				if _, twice := m.calls[id]; twice {
					m.calls[id] = -1
				} else {
					m.calls[id] = i
				}
			}
		}
	}
	for _, id := range g.calls {
		if i, ok := m.calls[id]; ok && i >= 0 && m.plan.turns[i] == nil {
			m.pair(r, i)
			return
		}
	}
	r.prompt = clip(g.prompt)
}

// prompts pairs by a prompt that is like no other.
func (m *matcher) prompts(live []*run) {
	turns, runs := map[string]int{}, map[string]int{}
	m.clips = make([]string, len(m.turns))
	for i := range m.turns {
		m.clips[i] = clip(m.turns[i].Prompt)
		if text := m.clips[i]; text != "" {
			if _, twice := turns[text]; twice {
				i = -1
			}
			turns[text] = i
		}
	}
	for _, r := range live {
		runs[r.prompt]++
	}
	for _, r := range live {
		i, ok := turns[r.prompt]
		if _, found := m.at[r]; ok && !found && i >= 0 && runs[r.prompt] == 1 && m.plan.turns[i] == nil && m.agree(r, i) {
			m.pair(r, i)
		}
	}
}

// clip is the beginning of a prompt as outlines have it, without blanks.
func clip(text string) string {
	return strings.Join(strings.Fields(text[:min(len(text), 150)]), "")
}

// roots pairs the last turn with the run that left the current state.
func (m *matcher) roots(live []*run, root agentstate.ID) {
	last := len(m.turns) - 1
	if last < 0 || m.plan.turns[last] != nil {
		return
	}
	for i := len(live) - 1; i >= 0; i-- {
		r := live[i]
		if _, found := m.at[r]; !found && r.hasLatest && r.latest == root && r.moved() && m.agree(r, last) {
			m.pair(r, last)
			return
		}
	}
}

// moved reports whether a run left a state of its own: each begins with the
// one before.
func (r *run) moved() bool { return r.hasLatest && (!r.hasStart || r.start != r.latest) }

// agree reports whether nothing speaks against a run being a turn.
func (m *matcher) agree(r *run, turn int) bool {
	t := &m.turns[turn]
	if t.Kind == agentstate.ShellTurn { // a command of the user's own is no run
		return false
	}
	if r.request != "" && t.RequestID != "" && r.request != t.RequestID {
		return false
	}
	want := m.clips[turn]
	if r.prompt == "" || want == "" {
		return true
	}
	n := min(len(r.prompt), len(want))
	return r.prompt[:n] == want[:n]
}

// gaps pairs what is left in order, between pairs that are sure.
func (m *matcher) gaps(live []*run) {
	from, turn := 0, 0
	for i := 0; i <= len(live); i++ {
		end := len(m.turns)
		if i < len(live) {
			at, found := m.at[live[i]]
			if !found {
				continue
			}
			end = at
		}
		if end >= turn {
			m.gap(live[from:i], turn, end)
			turn = end + 1
		}
		from = i + 1
	}
}

// mostAhead is how many turns a run may be looked for in.
const mostAhead = 1000

// gap pairs some runs with the turns from..end. Where there are as many, it is
// one by one; else those that left no state are passed by, and each run goes to
// the first turn that it can be, if that is not far.
func (m *matcher) gap(runs []*run, from, end int) {
	var free []int
	for i := from; i < end; i++ {
		if m.plan.turns[i] == nil && m.turns[i].Kind != agentstate.ShellTurn {
			free = append(free, i)
		}
	}
	if len(runs) == len(free) {
		for k, r := range runs {
			if m.agree(r, free[k]) {
				m.pair(r, free[k])
			}
		}
		return
	}
	able := runs
	if !m.said && slices.ContainsFunc(runs, func(r *run) bool { return r.hasLatest }) {
		able = slices.DeleteFunc(slices.Clone(runs), func(r *run) bool { return r.known && !r.moved() })
	}
	for _, r := range able {
		k := slices.IndexFunc(free[:min(len(free), mostAhead)], func(i int) bool { return m.agree(r, i) })
		if k >= 0 {
			m.pair(r, free[k])
			free = free[k+1:]
		}
	}
}

// place puts runs that no turn was found for behind the turn of the run in front.
func (m *matcher) place(live []*run) {
	behind := 0
	for _, r := range live {
		if at, found := m.at[r]; found {
			behind = max(behind, at+1)
		} else {
			m.before[behind] = append(m.before[behind], r)
		}
	}
}

// numbers counts the turns. A branch goes on from the turns in front of it.
func (m *matcher) numbers() {
	n := 0
	m.each(func(r *run, turn int) {
		n++
		if turn >= 0 {
			m.first = append(m.first, n)
		}
		if r != nil {
			m.number[r] = n
		}
		if m.aside && turn < 0 {
			n--
		}
	})
}

// each goes through the turns in the order in which they are told.
func (p *plan) each(f func(r *run, turn int)) {
	for i := range p.before {
		for _, r := range p.before[i] {
			f(r, -1)
		}
		if i < len(p.turns) {
			f(p.turns[i], i)
		}
	}
}

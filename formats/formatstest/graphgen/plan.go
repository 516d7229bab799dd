package graphgen

import "math/rand/v2"

// Shape is which parts of its state a client wrote.
type Shape int

// The shapes that stores come in.
const (
	Whole       Shape = iota // turns and prompts, as clients do today
	PromptsOnly              // the prompts alone, as in 2025 and as importers write
	SpineOnly                // the turns alone
	Archived                 // compacted, and no turns
	Midway                   // a checkpoint in the middle of a turn, with calls that nobody answered yet
	Shapes
)

func (s Shape) String() string {
	return [...]string{"whole", "prompts only", "spine only", "archived", "midway"}[s]
}

// Key is the secret that the stores of the plan hold, and no session may.
func (p *Plan) Key() string { return p.key }

// Prompts are what the user typed, in order, as far as a container knows.
func (p *Plan) Prompts(in Container) (out []string) {
	for _, t := range p.turns {
		if t.shell == nil && (in == SDK || !t.run.lost) {
			out = append(out, t.prompt)
		}
	}
	return out
}

// Told are the prompts that the events of the SDK tell.
func (p *Plan) Told() (out []string) {
	for _, t := range p.turns {
		if t.shell == nil && !t.run.silent {
			out = append(out, t.prompt)
		}
	}
	return out
}

// Plan is a session before anything is written.
type Plan struct {
	Shape    Shape
	ID       string
	Name     string
	Cwd      string
	Model    string // its id
	created  int64
	updated  int64
	system   string
	context  []envelope // the first message, before any prompt
	turns    []*turn
	archives []archive
	todos    []todo
	plan     string
	files    []file
	repos    [][2]string
	branch   string
	used     [2]uint32
	pending  *response
	children []*Child
	key      string // the secret that must stay at home
}

type envelope struct{ tag, text string }

type turn struct {
	prompt     string
	around     []envelope // in front of the prompt, in its message
	image      []byte
	attached   *attachment
	messageID  string
	request    string
	display    string // the model's name as people read it
	responses  []*response
	shell      *shellTurn
	start, end int64
	run        run
}

type attachment struct{ path, content string }

type shellTurn struct {
	command, out, err string
	code              int32
}

// run is what the SDK knows of a turn besides.
type run struct {
	id      string
	ending  string // finished, cancelled, error
	err     string
	silent  bool // the events do not tell the prompt
	lost    bool // the state never got this turn: only events tell of it
	more    *response
	usage   [5]int64
	ordinal int
}

type response struct {
	redacted string
	thinking string
	signed   string
	took     uint32
	text     string
	calls    []*call
	thought  [2]int64
	spoken   [2]int64
}

type archive struct {
	upTo    int // turns before this one
	summary string
	tail    uint32
}

type todo struct {
	id, content      string
	status           int
	created, updated int64
	needs            []string
}

type file struct {
	path          string
	before, after []byte // nil: not there
}

// Child is a subagent.
type Child struct {
	*Plan
	call    string
	title   string
	custom  string // its kind, if that is not explore
	inline  bool
	created int64
	used    int64
}

// New makes a plan.
func New(seed uint64, shape Shape) *Plan {
	s := &source{Rand: rand.New(rand.NewPCG(seed, uint64(shape)+77))}
	p := s.session(shape, 1+s.IntN(5))
	if shape == Whole && s.chance(60) {
		s.subagents(p)
	}
	return p
}

func (s *source) session(shape Shape, turns int) *Plan {
	p := &Plan{Shape: shape, ID: s.uuid(), Name: s.of(plain(), 2), Cwd: "/work space/" + s.mark(), Model: "opus-" + s.mark(), key: s.hex(64), created: 1_780_000_000_000 + s.Int64N(1e9)}
	p.system = s.text()
	p.context = []envelope{{"user_info", s.text()}, {"git_status", s.of(halves(), 3)}}
	now := p.created + 5
	for i := range turns {
		t := s.turn(now, i > 0 && p.spine())
		t.run.ordinal = i + 1
		p.turns = append(p.turns, t)
		now = t.end + 1000
	}
	p.updated = now
	if shape == PromptsOnly || shape == Archived {
		for _, t := range p.turns {
			t.image, t.attached = nil, nil
		}
	}
	s.endings(p)
	if shape == Archived || shape == Whole && s.chance(50) {
		s.compact(p)
	}
	if shape == Midway {
		p.pending = s.response(now)
		p.pending.calls = append(p.pending.calls, s.call(now), s.call(now))
	}
	s.state(p)
	return p
}

func (s *source) turn(now int64, shell bool) *turn {
	t := &turn{prompt: s.text(), messageID: s.uuid(), request: s.uuid(), display: "Opus " + s.mark(), start: now}
	t.run = run{id: "run-" + s.uuid(), ending: "finished", silent: s.chance(40), usage: [5]int64{s.Int64N(1e6), s.Int64N(1e6), s.Int64N(1e6), 0, s.Int64N(1e6)}}
	if shell && s.chance(12) {
		t.shell = &shellTurn{s.text(), s.text(), s.text(), int32(s.IntN(3))}
		t.end = now + 10
		return t
	}
	if s.chance(60) {
		t.around = append(t.around, envelope{"timestamp", "Sunday, Apr 26, 2026, 9:53 PM (UTC-4) " + s.mark()})
	}
	if s.chance(50) {
		t.around = append(t.around, envelope{"open_and_recently_viewed_files", s.of(halves(), 4)})
	}
	if s.chance(25) {
		t.image = []byte{0xff, 0xd8, byte(s.IntN(256)), byte(s.IntN(256)), 0}
	}
	if s.chance(25) {
		t.attached = &attachment{s.path(), s.text()}
	}
	at := now + 10
	for range 1 + s.IntN(4) {
		r := s.response(at)
		if len(r.calls) == 0 { // or the turn would end here
			r.calls = append(r.calls, s.call(at+5))
		}
		t.responses = append(t.responses, r)
		at = r.end()
	}
	// A turn ends with words.
	last := s.response(at)
	last.calls = nil
	if last.text == "" {
		last.text = s.text()
	}
	t.responses = append(t.responses, last)
	t.end = last.end()
	return t
}

func (s *source) response(at int64) *response {
	r := &response{text: s.text()}
	if s.chance(60) {
		r.thinking, r.took, r.thought = s.text(), uint32(s.IntN(5000)), [2]int64{at + 1, at + 2}
		if s.chance(50) {
			r.signed = s.hex(40)
		}
	}
	if s.chance(15) {
		r.redacted = s.hex(30)
	}
	if r.thinking != "" && s.chance(20) {
		r.text = ""
	}
	r.spoken = [2]int64{at + 3, at + 4}
	for range s.IntN(4) {
		r.calls = append(r.calls, s.call(at+5))
	}
	if r.text == "" && len(r.calls) == 0 {
		r.text = s.text()
	}
	return r
}

func (r *response) end() int64 {
	at := r.spoken[1]
	for _, c := range r.calls {
		at = max(at, c.end)
	}
	return at
}

func (s *source) call(at int64) *call {
	all := makers()
	m := all[s.IntN(len(all))]
	c := &call{id: "toolu_" + s.hex(20), num: m.num, kind: m.kind, name: m.name, announced: m.announced, start: at + s.Int64N(5), end: at + 5 + s.Int64N(50)}
	m.make(s, c)
	c.failed = c.outcome != "success" && c.outcome != "async" && c.outcome != ""
	if s.chance(15) {
		c.hook = s.text()
	}
	return c
}

// endings has some runs go wrong. Cancelled ones stop early in the state, or
// are not in it at all, as with the SDK; failed ones never are.
func (s *source) endings(p *Plan) {
	for i, t := range p.turns {
		if t.shell != nil || p.Shape != Whole {
			continue
		}
		switch n := s.IntN(100); {
		case n < 15:
			t.run.ending = "cancelled"
			t.run.more = s.response(t.end + 1)
			for _, c := range t.run.more.calls {
				c.announced = true
			}
			if s.chance(50) && (i == 0 || p.turns[i-1].shell == nil) {
				t.forget()
			}
		case n < 30 && i > 0 && p.turns[i-1].shell == nil: // or nothing tells which of the two came first
			t.run.ending, t.run.err = "error", s.text()
			t.forget()
		}
	}
}

// forget makes a turn one that only events tell of.
func (t *turn) forget() {
	t.run.lost, t.run.silent = true, false
	t.around, t.image, t.attached = nil, nil, nil
}

func (s *source) compact(p *Plan) {
	for at := 1; at < len(p.turns) && len(p.archives) < 2; at += 1 + s.IntN(2) {
		if p.turns[at-1].run.lost || p.unprompted(at) { // nothing tells on which side of the boundary it was
			continue
		}
		p.archives = append(p.archives, archive{at, s.text(), uint32(s.IntN(3))})
	}
}

// unprompted reports whether a command of the user's own comes next in the
// state: it is none of the prompt messages, and no archive speaks of it.
func (p *Plan) unprompted(at int) bool {
	for at < len(p.turns) && p.turns[at].run.lost {
		at++
	}
	return at < len(p.turns) && p.turns[at].shell != nil
}

func (s *source) state(p *Plan) {
	for range s.IntN(3) {
		p.todos = append(p.todos, todo{s.mark(), s.text(), 1 + s.IntN(4), p.created, p.created + 1, []string{"x"}})
	}
	if s.chance(50) {
		p.plan = s.text()
	}
	p.branch = "feature/" + s.mark()
	p.repos = [][2]string{{p.Cwd, p.branch}}
	p.used = [2]uint32{uint32(s.IntN(1e5)), 200_000}
	for range s.IntN(3) {
		f := file{path: s.path(), after: []byte(s.text())}
		switch s.IntN(3) {
		case 0:
			f.before = []byte{0xff, 0xfe, 0, byte(s.IntN(256))}
		case 1:
			f.before = []byte(s.text())
		}
		p.files = append(p.files, f)
	}
}

// subagents gives one or two turns a call that started a session of its own.
func (s *source) subagents(p *Plan) {
	for n := range 1 + s.IntN(2) {
		var home *response
		for _, t := range p.turns {
			if t.shell == nil && !t.run.lost {
				home = t.responses[0]
			}
		}
		if home == nil {
			return
		}
		sub := s.session(Whole, 1+s.IntN(2))
		sub.archives, sub.Name = nil, s.of(plain(), 1)
		if n == 0 { // the other works in a folder of its own
			sub.Cwd = p.Cwd
		}
		for _, t := range sub.turns {
			t.run.lost, t.run.ending, t.run.more = false, "finished", nil
		}
		c := s.call(p.created)
		c.num, c.kind, c.name, c.announced, c.failed, c.hook = 19, "task", "Task", true, false, ""
		c.args = message{{1, "description", s.text()}, {2, "prompt", s.text()}, {3, "subagentType", message{{4, "explore", message{}}}}}
		c.ends(1, "success", message{{2, "agentId", sub.ID}, {4, "durationMs", uint64(5)}})
		c.both(s, members{{"description", value{s.text()}}})
		c.child = &Child{Plan: sub, call: c.id, title: s.text(), inline: n == 1, created: p.created + 7, used: p.created + 8}
		if s.chance(40) {
			c.child.custom = "kind-" + s.mark()
		}
		home.calls = append(home.calls, c)
		p.children = append(p.children, c.child)
	}
}

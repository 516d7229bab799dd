package canonical

import (
	"strconv"

	"rehome/formats/internal/linecheck"
	"rehome/formats/rule"
	"rehome/formats/session"
	"rehome/formats/store"
	"rehome/internal/rawjson"
)

// conversation is the current session.
type conversation struct {
	id       string
	at       store.Addr      // of its head
	gap      bool            // a line is unreadable
	files    bool            // a file line was read
	ids      map[uint64]bool // of the messages; nil if the head is unreadable
	calls    map[uint64]open
	waiting  []reference // to parents that were not read yet
	branches []session.Branch
	named    map[string]store.Addr // the first message of each branch that messages name
	turn     int64
	shell    bool // the turn is a command that the user ran, whose result has no call
	archived int64
	bounds   int64 // archived messages, as boundaries count them
	boundary place // the last
}

// open is a call.
type open struct {
	place
	done bool // its result was read
}

// place is where a finding is, and what it says.
type place struct {
	at      store.Addr
	pointer string
	says    string
	args    []any
}

type reference struct {
	place
	id uint64
}

func newConversation(at store.Addr) *conversation {
	return &conversation{at: at, ids: map[uint64]bool{}, calls: map[uint64]open{}, named: map[string]store.Addr{}}
}

// message checks a message. It reads only the members that the rules need, which takes half
// as long as reading all.
func (x *examination) message(l *linecheck.Line) {
	s := x.s
	id := rawjson.Text(l.Member("id"))
	if s.ids[x.id(id)] {
		x.found("RH391", "/id", "message %q", id)
	}
	s.ids[x.id(id)] = true
	if parent := rawjson.Text(l.Member("parent")); parent != "" {
		if n := x.id(parent); !s.ids[n] {
			s.waiting = append(s.waiting, reference{place{x.at, "/parent", "message %q", []any{parent}}, n})
		}
	}
	if name := rawjson.Text(l.Member("branch")); name != "" {
		if _, ok := s.named[name]; !ok {
			s.named[name] = x.at
		}
	} else if turn := l.Member("turn"); turn != nil {
		x.turn(rawjson.Last(turn, "number"))
	}
	if string(l.Member("archived")) == "true" {
		s.archived++
	}
	if turn := l.Member("turn"); turn != nil {
		s.shell = rawjson.TextAt(turn, "kind") == "shell"
	}
	n := 0
	for part := range rawjson.Elements(l.Member("parts")) {
		x.part(part, "/parts/"+strconv.Itoa(n))
		n++
	}
}

// turn checks the number of a turn.
func (x *examination) turn(raw []byte) {
	n, err := strconv.ParseInt(string(raw), 10, 64)
	if err != nil {
		return
	}
	if s := x.s; n <= s.turn || n > s.turn+1 && !s.gap {
		x.found("RH393", "/turn/number", "%d after %d", n, s.turn)
	}
	x.s.turn = n
}

func (x *examination) part(part []byte, pointer string) {
	s := x.s
	switch rawjson.Text(first(part, "type")) {
	case "tool_call":
		if id := rawjson.TextAt(part, "id"); id != "" {
			s.calls[x.id(id)] = open{place: place{x.at, pointer + "/id", "call %q", []any{id}}}
		}
	case "tool_result":
		id := rawjson.TextAt(part, "call")
		call, ok := s.calls[x.id(id)]
		if !ok && !s.gap && !(s.shell && id == "") {
			x.found("RH394", pointer+"/call", "call %q", id)
		}
		if ok {
			call.done = true
			s.calls[x.id(id)] = call
		}
	case "boundary":
		if n, err := strconv.ParseInt(string(rawjson.Last(part, "archived")), 10, 64); err == nil {
			s.bounds += n
			s.boundary = place{x.at, pointer + "/archived", "", nil}
		}
	}
}

// end checks what depends on the whole session.
func (x *examination) end() {
	s := x.s
	if s == nil || s.ids == nil {
		return
	}
	last := x.at
	defer func() { x.at = last }()
	for _, r := range s.waiting {
		if !s.ids[r.id] && !s.gap {
			x.report("RH392", r.place)
		}
	}
	for _, c := range s.calls {
		if !c.done && !s.gap {
			x.report("RH395", c.place)
		}
	}
	known := map[string]bool{}
	for i, b := range s.branches {
		known[b.Name] = true
		if b.From != "" && !s.ids[x.id(b.From)] && !s.gap {
			x.report("RH399", place{s.at, "/branches/" + strconv.Itoa(i) + "/from", "message %q", []any{b.From}})
		}
	}
	for name, at := range s.named {
		if !known[name] {
			x.report("RH399", place{at, "/branch", "branch %q", []any{name}})
		}
	}
	if s.boundary.at.Line > 0 && s.bounds != s.archived && !s.gap {
		s.boundary.says, s.boundary.args = "boundaries count %v, but %v are archived", []any{rule.Count(s.bounds, ""), rule.Count(s.archived, "")}
		x.report("RH398", s.boundary)
	}
}

func (x *examination) report(id string, p place) {
	x.at = p.at
	x.found(id, p.pointer, p.says, p.args...)
}

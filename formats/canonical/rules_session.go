package canonical

import (
	"strconv"

	"rehome/formats/internal/linecheck"
	"rehome/formats/internal/rawjson"
	"rehome/formats/rule"
	"rehome/formats/store"
)

// conversation is the session at hand.
type conversation struct {
	at       store.Addr      // its head
	gap      bool            // a line of it could not be read
	files    bool            // its files have begun
	ids      map[uint64]bool // messages
	calls    map[uint64]open
	waiting  []reference // parents that have not been seen yet
	branches []branch
	named    map[string]store.Addr // branches that messages are of
	turn     int64
	shell    bool // the turn is a command of the user's own, whose result has no call
	archived int64
	bounds   int64 // archived messages that boundaries speak of
	boundary place // the last
}

type branch struct{ name, from string }

// open is a call, until its result is seen.
type open struct {
	place
	done bool
}

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

// message enters one message.
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
		s.shell = rawjson.Text(rawjson.Last(turn, "kind")) == "shell"
	}
	n := 0
	for part := range rawjson.Elements(l.Member("parts")) {
		x.part(part, "/parts/"+strconv.Itoa(n))
		n++
	}
}

// turn asks a turn's number, which is 0 where the client does not count.
func (x *examination) turn(raw []byte) {
	n, err := strconv.ParseInt(string(raw), 10, 64)
	if err != nil || n == 0 {
		return
	}
	if n <= x.s.turn {
		x.found("RH393", "/turn/number", "%d after %d", n, x.s.turn)
	}
	x.s.turn = max(x.s.turn, n)
}

func (x *examination) part(part []byte, pointer string) {
	s := x.s
	switch rawjson.Text(first(part, "type")) {
	case "tool_call":
		if id := rawjson.Text(rawjson.Last(part, "id")); id != "" {
			s.calls[x.id(id)] = open{place: place{x.at, pointer + "/id", "call %q", []any{id}}}
		}
	case "tool_result":
		id := rawjson.Text(rawjson.Last(part, "call"))
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

// end asks what only the whole session tells.
func (x *examination) end() {
	s := x.s
	if s == nil || s.ids == nil {
		return
	}
	last := x.at
	defer func() { x.at = last }()
	for _, r := range s.waiting {
		if !s.ids[r.id] && !s.gap {
			x.tell("RH392", r.place)
		}
	}
	for _, c := range s.calls {
		if !c.done && !s.gap {
			x.tell("RH395", c.place)
		}
	}
	known := map[string]bool{}
	for i, b := range s.branches {
		known[b.name] = true
		if b.from != "" && !s.ids[x.id(b.from)] && !s.gap {
			x.tell("RH399", place{s.at, "/branches/" + strconv.Itoa(i) + "/from", "message %q", []any{b.from}})
		}
	}
	for name, at := range s.named {
		if !known[name] {
			x.tell("RH399", place{at, "/branch", "branch %q", []any{name}})
		}
	}
	if s.boundary.at.Line > 0 && s.bounds != s.archived && !s.gap {
		s.boundary.says, s.boundary.args = "boundaries count %v, but %v are archived", []any{rule.Count(s.bounds, ""), rule.Count(s.archived, "")}
		x.tell("RH398", s.boundary)
	}
}

func (x *examination) tell(id string, p place) {
	x.at = p.at
	x.found(id, p.pointer, p.says, p.args...)
}

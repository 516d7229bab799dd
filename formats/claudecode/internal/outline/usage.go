package outline

import (
	"strconv"

	"rehome/formats/claudecode/internal/shape"
	"rehome/formats/session"
	"rehome/internal/rawjson"
)

// answered reads a line of an answer. All lines of a response repeat its usage.
func (s *Tree) answered(o *Line, message []byte) {
	var model, usage, content []byte
	for n, v := range rawjson.Members(message) {
		switch string(n) {
		case "id":
			o.Response = Hash(v)
		case "model":
			model = v
		case "usage":
			usage = v
		case "content":
			content = v
		}
	}
	for raw := range rawjson.Elements(content) {
		if t, id := shape.TypeOf(raw); t != nil && t.Fate == shape.Call {
			s.Uses = append(s.Uses, Mention{Call: Hash(id), Line: int32(len(s.Lines))})
		}
	}
	if m := rawjson.Text(model); m != "" && m != "<synthetic>" {
		s.Model = m
	}
	if u, ok := usageOf(usage); ok && o.Response != 0 {
		if s.cost == nil {
			s.cost = map[uint64]session.Usage{}
		}
		s.cost[o.Response] = u
	}
}

// usageOf returns the usage of a response; false if it is missing or all zeros, as
// converters write it.
func usageOf(raw []byte) (u session.Usage, some bool) {
	u = session.UnknownUsage()
	for name, v := range rawjson.Members(raw) {
		n, err := strconv.ParseInt(string(v), 10, 64)
		if err != nil || n < 0 {
			continue
		}
		some = some || n > 0
		switch string(name) {
		case "input_tokens":
			u.Input = n
		case "output_tokens":
			u.Output = n
		case "cache_read_input_tokens":
			u.CacheRead = n
		case "cache_creation_input_tokens":
			u.CacheWrite = n
		}
	}
	return u, some
}

// charge adds the usage of the live responses to their turns.
func (s *Tree) charge() {
	if len(s.cost) == 0 {
		return
	}
	s.Spent = map[int32]session.Usage{}
	turn, paid := int32(-1), map[uint64]bool{}
	for i := range s.Lines {
		o := &s.Lines[i]
		if o.Branch != Live || o.thread > 0 {
			continue
		}
		if o.Prompt {
			turn = int32(i)
		}
		u, ok := s.cost[o.Response]
		if o.Kind != shape.Assistant || !ok || paid[o.Response] || turn < 0 {
			continue
		}
		paid[o.Response] = true
		sum, ok := s.Spent[turn]
		if !ok {
			sum = session.UnknownUsage()
		}
		for _, c := range [...]struct {
			to   *int64
			more int64
		}{{&sum.Input, u.Input}, {&sum.Output, u.Output}, {&sum.CacheRead, u.CacheRead}, {&sum.CacheWrite, u.CacheWrite}} {
			if c.more >= 0 {
				*c.to = max(*c.to, 0) + c.more
			}
		}
		s.Spent[turn] = sum
	}
}

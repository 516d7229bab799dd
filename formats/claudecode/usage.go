package claudecode

import (
	"strconv"

	"rehome/formats/internal/rawjson"
	"rehome/formats/session"
)

// answered looks into a line of the model's. All lines of a response say what it
// cost.
func (s *survey) answered(o *outline, message []byte) {
	var model, usage, content []byte
	for n, v := range rawjson.Members(message) {
		switch string(n) {
		case "id":
			o.response = name64(v)
		case "model":
			model = v
		case "usage":
			usage = v
		case "content":
			content = v
		}
	}
	for b := range rawjson.Elements(content) {
		if text(b, "type") == "tool_use" {
			s.uses = append(s.uses, mention{name64(rawjson.Last(b, "id")), int32(len(s.lines))})
		}
	}
	if m := rawjson.Text(model); m != "" && m != "<synthetic>" {
		s.model = m
	}
	if u, ok := usageOf(usage); ok && o.response != 0 {
		if s.cost == nil {
			s.cost = map[uint64]session.Usage{}
		}
		s.cost[o.response] = u
	}
}

// usageOf is what a response cost; false if it says nothing, or nothing but
// zeros, which is what converters write.
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

// charge puts what the live responses cost on the turns that they are of.
func (s *survey) charge() {
	if len(s.cost) == 0 {
		return
	}
	s.spent = map[int32]session.Usage{}
	turn, paid := int32(-1), map[uint64]bool{}
	for i := range s.lines {
		o := &s.lines[i]
		if o.branch != live || o.thread > 0 {
			continue
		}
		if o.prompt {
			turn = int32(i)
		}
		u, ok := s.cost[o.response]
		if o.kind != answers || !ok || paid[o.response] || turn < 0 {
			continue
		}
		paid[o.response] = true
		sum, ok := s.spent[turn]
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
		s.spent[turn] = sum
	}
}

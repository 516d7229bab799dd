package graphgen

import (
	"fmt"
	"slices"
	"strings"
)

// stranger puts into everything that is written one thing more that no reader
// can know, each with a mark of its own. The zero stranger leaves all as it is.
type stranger struct {
	on    bool
	marks int
}

func (s *stranger) mark() string {
	s.marks++
	return strangeMark(s.marks)
}

func strangeMark(n int) string { return fmt.Sprintf("tk9%05dx", n) }

// message adds an unknown field to a message and to all messages within.
func (s *stranger) message(m message) message {
	if !s.on {
		return m
	}
	out := make(message, 0, len(m)+1)
	for _, f := range m {
		out = append(out, field{f.num, f.name, s.inside(f.v)})
	}
	return append(out, field{4000, "#4000", s.mark()})
}

func (s *stranger) inside(v any) any {
	switch v := v.(type) {
	case message:
		return s.message(v)
	case list:
		out := slices.Clone(v)
		for i := range out {
			out[i] = s.inside(out[i])
		}
		return out
	case entries:
		out := slices.Clone(v)
		for i := range out {
			out[i].v = s.inside(out[i].v)
		}
		return out
	}
	return v
}

// json adds an unknown member to every object that has members.
func (s *stranger) json(text string) string {
	if !s.on {
		return text
	}
	var b strings.Builder
	quoted := false
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case quoted && c == '\\':
			b.WriteByte(c)
			i++
			c = text[i]
		case c == '"':
			quoted = !quoted
		case c == '}' && !quoted && text[i-1] != '{':
			b.WriteString(`,"odd":` + quote(s.mark()))
		}
		b.WriteByte(c)
	}
	return b.String()
}

// outer adds an unknown member to an object, not to those within.
func (s *stranger) outer(text string) string {
	if !s.on {
		return text
	}
	return text[:len(text)-1] + `,"odd":` + quote(s.mark()) + "}"
}

package idegen

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
)

// source makes text, ids and strangers.
type source struct {
	*rand.Rand
	marks int
}

func words() []string {
	return []string{"module", "über", "テスト", "мир", "𝒳", "👩‍👩‍👧‍👦", "<b>&amp;</b>", "%00 ' -- ;", `"quoted" \`, "tab\there", "two\nlines",
		"crlf\r\n", "```go\nx := 1\n```", "nul \x00 byte", "\x01\x1f\x7f", "\u2028\u2029\u0085", "\ufeff", `{"json":1}`, "<user_query>"}
}

func (s *source) chance(percent int) bool { return s.IntN(100) < percent }

func (s *source) mark() string {
	s.marks++
	return fmt.Sprintf("tk%dx", s.marks)
}

func (s *source) text() string {
	parts := []string{s.mark()}
	list := words()
	for range s.IntN(5) {
		parts = append(parts, list[s.IntN(len(list))])
	}
	return strings.Join(parts, " ")
}

// size of a text is mostly small, and sometimes beyond what readers like.
func (s *source) body() string {
	if s.chance(3) {
		return strings.Repeat(s.text()+"\n", 1+s.IntN(4000))
	}
	return s.text()
}

func (s *source) path() string { return "/work space/" + s.mark() + ".go" }

func (s *source) uuid() string {
	h := fmt.Sprintf("%016x%016x", s.Uint64(), s.Uint64())
	return strings.Join([]string{h[:8], h[8:12], h[12:16], h[16:20], h[20:]}, "-")
}

// object is JSON whose members keep their order.
type object []member

type member struct {
	name  string
	value any
}

// with adds a member.
func (o object) with(name string, value any) object { return append(o, member{name, value}) }

// MarshalJSON spells the members in their order.
func (o object) MarshalJSON() ([]byte, error) {
	out := []byte{'{'}
	for i, m := range o {
		if i > 0 {
			out = append(out, ',')
		}
		name, err := json.Marshal(m.name)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(m.value)
		if err != nil {
			return nil, err
		}
		out = append(append(append(out, name...), ':'), value...)
	}
	return append(out, '}'), nil
}

func spelled(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // only strings, numbers and lists of them are ever spelled here
	}
	return string(b)
}

// stranger adds members that no client ever wrote.
func (s *source) stranger(o object) object {
	if !s.chance(25) {
		return o
	}
	var v any = s.mark()
	switch s.IntN(3) {
	case 0:
		v = []any{s.mark(), 1.5e300, nil}
	case 1:
		v = object{}.with("inner", s.mark()).with("big", json.Number("123456789012345678901234567890"))
	}
	return o.with("new"+s.mark(), v)
}

package graphgen

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// source makes text. Each piece holds a mark of its own, tk<number>x: what was
// written and does not come out again can be told by its mark.
type source struct {
	*rand.Rand
	marks int
}

// plain words may stand anywhere.
func plain() []string {
	return []string{"module", "über", "テスト", "файл", "مرحبا", "𝒳", "👩‍👩‍👧‍👦", "<b>&amp;</b>", "%00 ' -- ;", `"quoted" \`, "tab\there", "two\nlines", "crlf\r\n", "```go\nx := 1\n```", "mentions </user_query> only"}
}

// odd ones may stand wherever protobuf text may: valid UTF-8.
func odd() []string {
	return append(plain(), "nul \x00 byte", "control \x01\x1f\x7f", "\u2028\u2029\u0085", "\ufeffmark", "{\"json\":1}")
}

// halves of surrogate pairs are what only JSON can hold.
func halves() []string {
	return append(odd(), "half \xed\xa0\xbd pair", "other half \xed\xb0\x80")
}

func (s *source) mark() string {
	s.marks++
	return fmt.Sprintf("tk%dx", s.marks)
}

func (s *source) chance(percent int) bool { return s.IntN(100) < percent }

func (s *source) of(words []string, n int) string {
	parts := []string{s.mark()}
	for range s.IntN(n + 1) {
		parts = append(parts, words[s.IntN(len(words))])
	}
	return strings.Join(parts, " ")
}

func (s *source) text() string { return s.of(odd(), 4) }

// long is a text beyond the size at which readers begin to think.
func (s *source) long() string {
	return strings.Repeat(s.text()+"\n", 1+s.IntN(8000))
}

func (s *source) path() string {
	return "/work space/" + s.mark() + []string{".go", ".md", "/ünï.txt"}[s.IntN(3)]
}

func (s *source) hex(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = "0123456789abcdef"[s.IntN(16)]
	}
	return string(b)
}

func (s *source) uuid() string {
	h := s.hex(32)
	return h[:8] + "-" + h[8:12] + "-4" + h[13:16] + "-8" + h[17:20] + "-" + h[20:]
}

package outline

import (
	"bytes"
	"cmp"

	"rehome/formats/internal/lines"
)

// MaxHead is how much of each end of a file the client reads to list it, and so do we.
const MaxHead = 64 << 10

// Part adds the lines of a part of a file. inside: its first line may be incomplete.
func (s *Tree) Part(b []byte, inside bool) {
	if inside {
		_, b, _ = bytes.Cut(b, []byte("\n"))
	}
	for line := range bytes.Lines(b) {
		s.add(&lines.Line{Bytes: bytes.TrimSuffix(line, []byte("\n"))})
	}
}

// DisplayTitle returns the title that the client displays.
func (s *Tree) DisplayTitle() string {
	return cmp.Or(s.titles["custom-title"], s.titles["ai-title"], s.titles["summary"], s.prompt)
}

package outline

import (
	"bytes"
	"strings"
	"unicode"

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

func (s *Tree) named(kind string, line []byte) {
	switch kind {
	case "custom-title":
		s.title = Text(line, "customTitle")
	case "ai-title":
		s.generated = Text(line, "aiTitle")
	default:
		s.legacy = Text(line, "summary")
	}
}

// DisplayTitle returns the title that the client displays.
func (s *Tree) DisplayTitle() string {
	for _, t := range []string{s.title, s.generated, s.legacy, s.prompt} {
		if t != "" {
			return t
		}
	}
	return ""
}

// FirstLine returns the first line of a text with a printable character, at most 200
// characters of it.
func FirstLine(s string) string {
	const limit = 200
	for line := range strings.Lines(s) {
		line = strings.TrimSpace(strings.ToValidUTF8(line, "\ufffd"))
		if strings.IndexFunc(line, unicode.IsPrint) < 0 {
			continue
		}
		if r := []rune(line); len(r) > limit {
			return string(r[:limit-1]) + "…"
		}
		return line
	}
	return ""
}

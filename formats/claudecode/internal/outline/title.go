package outline

import (
	"bytes"

	"rehome/formats/internal/lines"
	"rehome/internal/rawjson"
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
		s.title = rawjson.TextAt(line, "customTitle")
	case "ai-title":
		s.generated = rawjson.TextAt(line, "aiTitle")
	default:
		s.legacy = rawjson.TextAt(line, "summary")
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

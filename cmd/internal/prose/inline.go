package prose

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"rehome/cmd/internal/screen"
)

// Rendering of Markdown within a line: emphasis, code spans, links and escapes.
// The line has been made safe before. Rendering removes markers and adds styles;
// it never decodes anything, so no other character can appear.

// styledText is text with a style for each range of bytes.
type styledText struct {
	text  screen.Safe
	spans []span // in order; they cover text
}

type span struct {
	end   int // in bytes
	style screen.Style
}

// piece is a part of a line: text, or a run of markers. Markers that match are
// emptied; the others are text.
type piece struct {
	text  screen.Safe
	style screen.Style
}

// maxInline is the longest line that is rendered. Longer ones are data.
const maxInline = 16 << 10

// renderInline renders a line of Markdown. What is not closed is text.
func renderInline(line screen.Safe) styledText {
	if len(line) > maxInline || !strings.ContainsAny(string(line), "*_`~[\\") {
		return styledText{line, []span{{len(line), 0}}}
	}
	pieces := inlinePieces(line)
	out := styledText{spans: make([]span, 0, len(pieces))}
	parts := make([]screen.Safe, 0, len(pieces))
	end := 0
	for _, p := range pieces {
		if p.text != "" {
			parts, end = append(parts, p.text), end+len(p.text)
			out.spans = append(out.spans, span{end, p.style})
		}
	}
	out.text = screen.Join(parts, "")
	return out
}

// inlinePieces splits a line at its markers.
func inlinePieces(line screen.Safe) []piece {
	s := string(line)
	out := make([]piece, 0, 8)
	var open []int // indexes of the markers that can be closed
	lastRun := lastRuns(line)
	start := 0
	text := func(end int) {
		if end > start {
			out = append(out, piece{text: line[start:end]})
		}
	}
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case c == '\\' && i+1 < len(s) && isPunct(s[i+1]):
			text(i)
			start = i + 1
			i += 2
		case c == '`':
			n := backticks(line[i:])
			if lastRun[n] <= i {
				i += n
				continue
			}
			text(i)
			end := i + n + closingRun(line[i+n:], n)
			out = append(out, piece{text: codeText(line[i+n : end]), style: screen.Code})
			i = end + n
			start = i
		case c == '*' || c == '_' || c == '~':
			n := len(s[i:]) - len(strings.TrimLeft(s[i:], s[i:i+1]))
			text(i)
			out, open = addMarker(out, open, s, i, n, line[i:i+n])
			i += n
			start = i
		case c == '[':
			label, url, n := parseLink(line[i:])
			if n == 0 {
				i++
				continue
			}
			text(i)
			out = append(out, linkPieces(label, url)...)
			i += n
			start = i
		default:
			i++
		}
	}
	text(len(s))
	return out
}

// addMarker adds a run of n markers at s[i:]. If it closes an earlier one, both
// disappear, and the pieces between them get the style.
func addMarker(out []piece, open []int, s string, i, n int, run screen.Safe) ([]piece, []int) {
	style := markerStyle(s[i], n)
	opens, closes := flanking(s, i, n)
	if style != 0 && closes {
		for k, at := range slices.Backward(open) {
			if out[at].text != run {
				continue
			}
			for j := at + 1; j < len(out); j++ {
				out[j].style |= style
			}
			out[at].text = ""
			return out, open[:k]
		}
	}
	if style != 0 && opens {
		open = append(open[max(0, len(open)-maxOpen+1):], len(out))
	}
	return append(out, piece{text: run}), open
}

// maxOpen limits the markers that wait to be closed, and so the work that a line
// of nothing but markers causes.
const maxOpen = 16

func markerStyle(mark byte, n int) screen.Style {
	switch {
	case mark == '~' && n == 2:
		return screen.Struck
	case mark == '~':
		return 0
	case n == 1:
		return screen.Italic
	case n == 2:
		return screen.Bold
	case n == 3:
		return screen.Bold | screen.Italic
	}
	return 0
}

// flanking reports whether a run of markers can begin and end emphasis, by the
// characters around it. Underscores within words are part of the word.
func flanking(s string, i, n int) (opens, closes bool) {
	before, _ := utf8.DecodeLastRuneInString(s[:i])
	after, _ := utf8.DecodeRuneInString(s[i+n:])
	spaceBefore, spaceAfter := i == 0 || unicode.IsSpace(before), i+n == len(s) || unicode.IsSpace(after)
	punctBefore, punctAfter := i > 0 && isMark(before), i+n < len(s) && isMark(after)
	left := !spaceAfter && (!punctAfter || spaceBefore || punctBefore)
	right := !spaceBefore && (!punctBefore || spaceAfter || punctAfter)
	if s[i] == '_' {
		return left && (!right || punctBefore), right && (!left || punctAfter)
	}
	return left, right
}

func isMark(r rune) bool { return unicode.IsPunct(r) || unicode.IsSymbol(r) }

// isPunct reports whether a backslash escapes c.
func isPunct(c byte) bool {
	return c > ' ' && c < 0x7f && !(c >= '0' && c <= '9') && !(c >= 'A' && c <= 'Z') && !(c >= 'a' && c <= 'z')
}

// lastRuns returns where the last run of backticks of each length begins.
func lastRuns(s screen.Safe) map[int]int {
	var out map[int]int
	for i := 0; i < len(s); i++ {
		if s[i] == '`' {
			if out == nil {
				out = map[int]int{}
			}
			n := backticks(s[i:])
			out[n] = i
			i += n
		}
	}
	return out
}

// codeText returns the text of a code span. A space next to each of its fences
// separates backticks from them.
func codeText(s screen.Safe) screen.Safe {
	if len(s) > 2 && s[0] == ' ' && s[len(s)-1] == ' ' && strings.Trim(string(s), " ") != "" {
		return s[1 : len(s)-1]
	}
	return s
}

// maxLabel and maxURL limit the parts of a link.
const maxLabel, maxURL = 300, 2000

// parseLink returns the parts of the link that s begins with, and its length, or 0.
func parseLink(s screen.Safe) (label, url screen.Safe, n int) {
	end := strings.IndexAny(string(s[1:min(len(s), maxLabel)]), "[]") + 1
	if end < 2 || s[end] != ']' || !strings.HasPrefix(string(s[end:]), "](") {
		return "", "", 0
	}
	at := end + 2
	length := strings.IndexAny(string(s[at:min(len(s), at+maxURL)]), "() []<>")
	if length < 1 || s[at+length] != ')' {
		return "", "", 0
	}
	return s[1:end], s[at : at+length], at + length + 1
}

// linkPieces returns a link with its target, so that no label can hide it.
func linkPieces(label, url screen.Safe) []piece {
	if label == url {
		return []piece{{text: url, style: screen.Underlined}}
	}
	return []piece{{text: screen.ReplaceAll(label, "`", ""), style: screen.Underlined}, {text: " (" + url + ")"}}
}

// wrapped splits the text into lines as screen.Wrap does, and colors them.
func (t styledText) wrapped(p screen.Palette, width int, base screen.Style) []screen.Safe {
	lines := screen.Wrap(t.text, width)
	if len(t.spans) == 1 && t.spans[0].style|base == 0 {
		return lines
	}
	at, k := 0, 0 // the place in text, and the span that it is in
	var parts []screen.Safe
	for i, line := range lines {
		body := line
		if i > 0 {
			body = screen.TrimLeft(line, " ")
			for at < len(t.text) && t.text[at] == ' ' {
				at++
			}
		}
		parts = append(parts[:0], line[:len(line)-len(body)])
		for body != "" && at < len(t.text) {
			for k < len(t.spans)-1 && t.spans[k].end <= at {
				k++
			}
			n := min(len(body), t.spans[k].end-at)
			parts = append(parts, p.Styled(body[:n], t.spans[k].style|base))
			body, at = body[n:], at+n
		}
		lines[i] = screen.Join(parts, "")
	}
	return lines
}

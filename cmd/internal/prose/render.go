package prose

import (
	"strings"

	"rehome/cmd/internal/screen"
)

// margin is what lines begin with: the first one with first, the others with rest.
// Both take the same number of cells.
type margin struct {
	first, rest screen.Safe
	cells       int
}

// next returns what the next line begins with.
func (m *margin) next() screen.Safe {
	out := m.first
	m.first = m.rest
	return out
}

// rendered writes foreign Markdown as styled text. Without color it writes the
// source, since nothing could replace the markers.
func (t *textRenderer) rendered(words string, lead margin) {
	if !t.o.Palette {
		t.writeMarkdown(words, lead, screen.Plain)
		return
	}
	var f fence
	inList, afterBlank := false, true
	for line := range screen.Rows(screen.Trim(screen.Lines(words), "\n")) {
		line = screen.TrimRight(screen.ExpandTabs(line), " ")
		was := f
		opens, closes := f.step(line)
		indent := len(line) - len(screen.TrimLeft(line, " "))
		switch {
		case opens:
			if f.listMark != "" {
				t.line(lead.next() + bullet(f.listMark))
			}
		case closes:
		case was.inside():
			t.line(lead.next() + "  " + t.o.Palette.Styled(dedent(line, was.indent), screen.Code))
		case line == "" || isTableRow(line):
			t.line(lead.next() + line)
		case indent >= 4 && afterBlank && !inList:
			t.line(lead.next() + t.o.Palette.Styled(line, screen.Code))
			continue // so does the next line, unless it is indented less
		default:
			if indent == 0 {
				inList = afterMark(string(line)) != string(line)
			}
			t.proseLine(line, lead)
			lead.next()
		}
		afterBlank = line == ""
	}
}

// proseLine writes a line of Markdown outside of code: a heading, a rule, a
// quote, an item of a list or text.
func (t *textRenderer) proseLine(line screen.Safe, lead margin) {
	p := t.o.Palette
	style := screen.Style(0)
	switch body := screen.TrimLeft(line, " "); {
	case isRule(body):
		t.line(lead.next() + p.Faint("───"))
		return
	case strings.HasPrefix(string(body), ">"):
		bar := p.Faint("│ ")
		for strings.HasPrefix(string(body), ">") && lead.cells < t.o.Width/2 {
			body = screen.TrimLeft(body[1:], " ")
			lead = margin{lead.first + bar, lead.rest + bar, lead.cells + 2}
		}
		line = body
	case headingLevel(body) > 0:
		n := headingLevel(body)
		if line, style = screen.Trim(body[n:], " "), screen.Bold; n <= 2 {
			style |= screen.Underlined
		}
	default:
		line = bullet(line)
	}
	for _, l := range renderInline(line).wrapped(p, t.o.Width-lead.cells, style) {
		t.line(lead.next() + l)
	}
}

// bullet returns a line with the marker of its list item as a bullet.
func bullet(line screen.Safe) screen.Safe {
	body := screen.TrimLeft(line, " ")
	indent := line[:len(line)-len(body)]
	if len(body) > 0 && strings.IndexByte("-*+", body[0]) >= 0 && (len(body) == 1 || body[1] == ' ') {
		return indent + "•" + body[1:]
	}
	return line
}

// headingLevel returns the level of the heading that a line is, or 0.
func headingLevel(body screen.Safe) int {
	n := len(body) - len(screen.TrimLeft(body, "#"))
	if n > 6 || n == len(body) || body[n] != ' ' {
		return 0
	}
	return n
}

// isRule reports whether a line is a horizontal rule.
func isRule(body screen.Safe) bool {
	return len(body) >= 3 && strings.IndexByte("-*_", body[0]) >= 0 && screen.Trim(body, string(body[:1])) == ""
}

func isTableRow(line screen.Safe) bool {
	return strings.HasPrefix(string(screen.TrimLeft(line, " ")), "|")
}

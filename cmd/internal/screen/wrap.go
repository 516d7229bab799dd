package screen

import (
	"iter"
	"strings"
)

// Wrap splits a line between words into lines of at most width cells. A longer
// word is split after a slash, or at the width. The following lines are indented as far as the
// text of the first one, including a list marker, so that lists stay lists.
func Wrap(line Safe, width int) []Safe {
	width = max(width, 8)
	if !exceeds(line, width) {
		return []Safe{line}
	}
	lead, hang := listIndent(line)
	if hang > width/2 {
		lead, hang = 0, 0
	}
	return wrap(line, width, lead, hang)
}

// WrapHanging is Wrap, but indents the following lines by two cells, unless the
// line itself is indented.
func WrapHanging(line Safe, width int) []Safe {
	width = max(width, 8)
	if !exceeds(line, width) || strings.HasPrefix(string(line), " ") {
		return Wrap(line, width)
	}
	return wrap(line, width, 0, 2)
}

func wrap(line Safe, width, lead, hang int) []Safe {
	at := strings.Builder{}
	at.Grow(width)
	at.WriteString(string(line[:lead]))
	used, begun := Cells(line[:lead]), false
	var out []Safe
	newline := func() {
		out = append(out, TrimRight(Safe(at.String()), " "))
		at.Reset()
		at.Grow(width)
		at.WriteString(strings.Repeat(" ", hang))
		used, begun = hang, false
	}
	for word := range words(line[lead:]) {
		trimmed := TrimRight(word, " ")
		if begun && exceeds(trimmed, width-used) {
			newline()
		}
		for exceeds(trimmed, width-used) { // only at the start of a line
			head := prefix(trimmed, width-used)
			if slash := strings.LastIndexByte(string(head), '/'); slash > len(head)/2 { // of a path
				head = head[:slash+1]
			}
			at.WriteString(string(head))
			word, trimmed = word[len(head):], trimmed[len(head):]
			newline()
		}
		at.WriteString(string(word))
		used += Cells(word)
		begun = begun || word != ""
	}
	if rest := TrimRight(Safe(at.String()), " "); rest != "" {
		out = append(out, rest)
	}
	return out
}

// exceeds reports whether a text takes more than width cells. It stops counting there.
func exceeds(s Safe, width int) bool {
	for _, r := range s {
		if width -= CellsOf(r); width < 0 {
			return true
		}
	}
	return false
}

// words yields the words of a line, each with the spaces after it.
func words(line Safe) iter.Seq[Safe] {
	return func(yield func(Safe) bool) {
		for line != "" {
			end := strings.IndexByte(string(line), ' ')
			if end < 0 {
				yield(line)
				return
			}
			for end < len(line) && line[end] == ' ' {
				end++
			}
			if !yield(line[:end]) {
				return
			}
			line = line[end:]
		}
	}
}

// prefix returns the beginning of a word that fits in width cells: at least one
// character, with its combining marks.
func prefix(word Safe, width int) Safe {
	n := 0
	for i, r := range word {
		w := CellsOf(r)
		if n+w > width && i > 0 {
			return word[:i]
		}
		n += w
	}
	return word
}

// listIndent returns the length of the indent and list marker of a line, and
// the number of cells to indent the following lines by.
func listIndent(line Safe) (lead, hang int) {
	body := strings.TrimLeft(string(line), " ")
	indent := len(line) - len(body)
	mark := 0
	switch digits := len(body) - len(strings.TrimLeft(body, "0123456789")); {
	case strings.HasPrefix(body, "- "), strings.HasPrefix(body, "* "), strings.HasPrefix(body, "+ "), strings.HasPrefix(body, "> "):
		mark = 2
	case strings.HasPrefix(body, "• "):
		return indent + len("• "), indent + 2
	case digits > 0 && digits < 4 && len(body) > digits+1 && (body[digits] == '.' || body[digits] == ')') && body[digits+1] == ' ':
		mark = digits + 2
	}
	return indent + mark, indent + mark
}

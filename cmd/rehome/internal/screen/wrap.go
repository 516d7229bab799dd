package screen

import (
	"iter"
	"strings"
)

// Wrap breaks one line between words into lines of at most so many cells. A
// word that is longer is broken where the width ends. What follows the first
// line begins with the blanks and the list mark's room that the line began
// with, so that lists stay lists.
func Wrap(line Safe, width int) []Safe {
	width = max(width, 8)
	if !longer(line, width) {
		return []Safe{line}
	}
	lead, hang := margin(line)
	if hang > width/2 {
		lead, hang = 0, 0
	}
	return broken(line, width, lead, hang)
}

// Hang breaks one line as Wrap does, but that what follows the first line stands
// two cells further to the right, or where the line itself begins with blanks.
func Hang(line Safe, width int) []Safe {
	width = max(width, 8)
	if !longer(line, width) || strings.HasPrefix(string(line), " ") {
		return Wrap(line, width)
	}
	return broken(line, width, 0, 2)
}

func broken(line Safe, width, lead, hang int) []Safe {
	at := strings.Builder{}
	at.WriteString(string(line[:lead]))
	used, begun := Cells(line[:lead]), false
	var out []Safe
	turn := func() {
		out = append(out, TrimRight(Safe(at.String()), " "))
		at.Reset()
		at.WriteString(strings.Repeat(" ", hang))
		used, begun = hang, false
	}
	for word := range words(line[lead:]) {
		trimmed := TrimRight(word, " ")
		if begun && longer(trimmed, width-used) {
			turn()
		}
		for longer(trimmed, width-used) { // only at the beginning of a line
			head := fits(trimmed, width-used)
			at.WriteString(string(head))
			word, trimmed = word[len(head):], trimmed[len(head):]
			turn()
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

// longer reports whether a text takes more cells, without counting a very long
// one to its end.
func longer(s Safe, width int) bool {
	for _, r := range s {
		if width -= CellsOf(r); width < 0 {
			return true
		}
	}
	return false
}

// words are the pieces of a line, each with the blanks behind it.
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

// fits is the beginning of a word that has room in so many cells; a first
// character always has, and marks stay with what they stand on.
func fits(word Safe, width int) Safe {
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

// margin is the length of what a line begins with, blanks and a list's mark,
// and the cells that the lines after it begin with.
func margin(line Safe) (lead, hang int) {
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

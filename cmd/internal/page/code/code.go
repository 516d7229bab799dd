// Package code marks comments, strings, numbers and keywords in source code. It knows
// languages by the table languages.txt, and is wrong where only a parser would be right.
package code

import (
	"embed"
	"path"
	"slices"
	"strings"

	"rehome/cmd/internal/page/markup"
)

//go:embed languages.txt
var files embed.FS

// table returns the languages.
func table() string {
	b, _ := files.ReadFile("languages.txt") // it is part of the program
	return string(b)
}

// language is a paragraph of the table.
type language struct {
	line   []string // what a comment begins with
	block  []string // begin and end, in pairs
	quotes []string
	words  []string
}

// maxCode is how long code may be to be marked.
const maxCode = 64 << 10

// Mark returns code as HTML. name is that of its language, or of a file.
func Mark(name, text string) markup.HTML {
	l := find(name)
	if l == nil || len(text) > maxCode {
		return markup.Text(text)
	}
	var out markup.Builder
	plain := 0 // where the text begins that has no mark
	for i := 0; i < len(text); {
		class, n := l.token(text, i)
		if class == "" {
			i += n
			continue
		}
		out.Add(markup.Text(text[plain:i]), `<span class="`, class, `">`, markup.Text(text[i:i+n]), `</span>`)
		i += n
		plain = i
	}
	out.Add(markup.Text(text[plain:]))
	return out.HTML()
}

// find returns the language of a name, or nil.
func find(name string) *language {
	name = strings.ToLower(strings.TrimPrefix(path.Ext("."+path.Base(name)), "."))
	if name == "" {
		return nil
	}
	for paragraph := range strings.SplitSeq(table(), "\n\n") {
		names, rows, _ := strings.Cut(paragraph, "\n")
		if !slices.Contains(strings.Fields(names), name) {
			continue
		}
		l := &language{}
		for row := range strings.SplitSeq(rows, "\n") {
			f := strings.Fields(row)
			switch {
			case len(f) == 0:
			case f[0] == "line":
				l.line = f[1:]
			case f[0] == "block":
				l.block = f[1:]
			case f[0] == "quote":
				l.quotes = f[1:]
			default:
				l.words = append(l.words, f...)
			}
		}
		return l
	}
	return nil
}

// token returns the class and the length of what begins at i. Without a class, it is text.
func (l *language) token(text string, i int) (class markup.HTML, n int) {
	rest := text[i:]
	for b := 0; b+1 < len(l.block); b += 2 {
		if strings.HasPrefix(rest, l.block[b]) {
			return "c", len(l.block[b]) + until(rest[len(l.block[b]):], l.block[b+1])
		}
	}
	for _, c := range l.line {
		if strings.HasPrefix(rest, c) && (c != "#" || i == 0 || strings.IndexByte(" \t\n;", text[i-1]) >= 0) {
			return "c", len(rest) - len(strings.TrimLeftFunc(rest, func(r rune) bool { return r != '\n' }))
		}
	}
	for _, q := range l.quotes {
		if strings.HasPrefix(rest, q) {
			return "s", quoted(rest, q)
		}
	}
	if n = word(rest); n == 0 {
		return "", 1
	}
	switch {
	case rest[0] >= '0' && rest[0] <= '9':
		return "n", n
	case slices.Contains(l.words, rest[:n]):
		return "k", n
	}
	return "", n
}

// until returns the length of s up to the end of mark, or of all of it.
func until(s, mark string) int {
	if at := strings.Index(s, mark); at >= 0 {
		return at + len(mark)
	}
	return len(s)
}

// quoted returns the length of a string. One of a single quote ends with its line.
func quoted(s, quote string) int {
	long := len(quote) > 1 || quote == "`"
	for i := len(quote); i < len(s); i++ {
		switch {
		case strings.HasPrefix(s[i:], quote):
			return i + len(quote)
		case s[i] == '\n' && !long:
			return i
		case s[i] == '\\':
			if i++; i < len(s) && s[i] == '\n' && !long {
				return i
			}
		}
	}
	return len(s)
}

// word returns the length of the letters, digits and underscores that s begins with.
func word(s string) int {
	return len(s) - len(strings.TrimLeftFunc(s, func(r rune) bool {
		return r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= 0x80
	}))
}

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

// language holds what the rows of the table begin with: what comments to the end of a line and
// "block" comments begin and end with, in pairs, and quotes. Its "word"s are keywords.
type language map[string][]string

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
		class, n := l.token(text[i:], i == 0 || strings.IndexByte(" \t\n;", text[i-1]) >= 0)
		if class != "" {
			out.Add(markup.Text(text[plain:i]), `<span class="`, class, `">`, markup.Text(text[i:i+n]), `</span>`)
			plain = i + n
		}
		i += n
	}
	out.Add(markup.Text(text[plain:]))
	return out.HTML()
}

// find returns the language of a name, or nil.
func find(name string) language {
	name = strings.ToLower(strings.TrimPrefix(path.Ext("."+path.Base(name)), "."))
	for paragraph := range strings.SplitSeq(table(), "\n\n") {
		names, rows, _ := strings.Cut(paragraph, "\n")
		if name == "" || !slices.Contains(strings.Fields(names), name) {
			continue
		}
		l := language{}
		for row := range strings.Lines(rows) {
			kind, rest, _ := strings.Cut(row, " ")
			if !slices.Contains([]string{"line", "block", "quote"}, kind) {
				kind, rest = "word", row
			}
			l[kind] = append(l[kind], strings.Fields(rest)...)
		}
		return l
	}
	return nil
}

// token returns the class and the length of what s begins with. Without a class, it is text.
// apart: it is not part of a word, in which a # is no comment.
func (l language) token(s string, apart bool) (class markup.HTML, n int) {
	for i := 0; i+1 < len(l["block"]); i += 2 {
		if rest, ok := strings.CutPrefix(s, l["block"][i]); ok {
			_, after, _ := strings.Cut(rest, l["block"][i+1])
			return "c", len(s) - len(after)
		}
	}
	for _, mark := range l["line"] {
		if strings.HasPrefix(s, mark) && (mark != "#" || apart) {
			line, _, _ := strings.Cut(s, "\n")
			return "c", len(line)
		}
	}
	for _, q := range l["quote"] {
		if strings.HasPrefix(s, q) {
			return "s", quoted(s, q)
		}
	}
	n = len(s) - len(strings.TrimLeftFunc(s, func(r rune) bool {
		return r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= 0x80
	}))
	switch {
	case n == 0:
		return "", 1
	case s[0] >= '0' && s[0] <= '9':
		return "n", n
	case slices.Contains(l["word"], s[:n]):
		return "k", n
	}
	return "", n
}

// quoted returns the length of a string. One of a single quote ends with its line.
func quoted(s, quote string) int {
	line := len(quote) == 1 && quote != "`"
	for i := len(quote); i < len(s); i++ {
		switch {
		case strings.HasPrefix(s[i:], quote):
			return i + len(quote)
		case s[i] == '\n' && line:
			return i
		case s[i] == '\\' && !(line && strings.HasPrefix(s[i+1:], "\n")):
			i++
		}
	}
	return len(s)
}

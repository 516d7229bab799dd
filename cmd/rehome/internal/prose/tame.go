package prose

import (
	"strings"

	"rehome/cmd/rehome/internal/screen"
)

// What makes foreign text mean nothing but itself in Markdown.

// dedented takes up to so many blanks off a line.
func dedented(line string, n int) string {
	i := 0
	for i < len(line) && i < n && (line[i] == ' ' || line[i] == '\t') {
		i++
	}
	return line[i:]
}

// language is the first word behind a fence, if it is a plain one.
func language(info string) string {
	word, _, _ := strings.Cut(info, " ")
	if strings.Trim(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_+#.-") != "" {
		return ""
	}
	return word
}

// tamed is a paragraph in which nothing is HTML, an image or a fence. Code in a line is
// left alone where every line of the paragraph closes what it opens: anything
// else could pair up in a way that we do not see.
func tamed(paragraph []string) []string {
	plainSpans := true
	for _, l := range paragraph {
		plainSpans = plainSpans && balanced(l)
	}
	out := make([]string, len(paragraph))
	for i, l := range paragraph {
		if at := hiddenFence(l); at >= 0 {
			l = l[:at] + `\` + l[at:]
		} else if plainSpans {
			out[i] = outsideCode(l)
			continue
		}
		out[i] = inert(l)
	}
	return out
}

// inert is a piece of text in which no HTML begins, and no image: who looks at
// one fetches it, and tells a stranger so. A link is left of it.
func inert(s string) string {
	s = strings.ReplaceAll(s, "<", "&lt;")
	if !strings.Contains(s, "![") {
		return s
	}
	var b strings.Builder
	for {
		at := strings.Index(s, "![")
		if at < 0 {
			b.WriteString(s)
			return b.String()
		}
		b.WriteString(s[:at])
		if slashes := at - len(strings.TrimRight(s[:at], `\`)); slashes%2 == 0 { // else it is no image already
			b.WriteByte('\\')
		}
		b.WriteByte('!')
		s = s[at+1:]
	}
}

// hiddenFence finds a fence behind the marks of quotes, where blocks are not
// followed; -1 if there is none.
func hiddenFence(line string) int {
	at := len(line) - len(strings.TrimLeft(line, " \t>-*+0123456789.)"))
	rest := line[at:]
	if strings.HasPrefix(rest, "~~~") || strings.HasPrefix(rest, "```") && !strings.Contains(strings.TrimLeft(rest, "`"), "`") {
		return at
	}
	return -1
}

// ticks is the length of the run of backticks at the beginning.
func ticks(s string) int { return len(s) - len(strings.TrimLeft(s, "`")) }

// balanced reports whether the runs of backticks in a line pair up, and none
// stands behind a backslash.
func balanced(line string) bool {
	for {
		at := strings.IndexByte(line, '`')
		if at < 0 {
			return true
		}
		if at > 0 && line[at-1] == '\\' {
			return false
		}
		n := ticks(line[at:])
		end := closing(line[at+n:], n)
		if end < 0 {
			return false
		}
		line = line[at+n+end+n:]
	}
}

// closing finds a run of just n backticks.
func closing(s string, n int) int {
	for i := 0; i < len(s); {
		if s[i] != '`' {
			i++
			continue
		}
		run := ticks(s[i:])
		if run == n {
			return i
		}
		i += run
	}
	return -1
}

// outsideCode escapes a balanced line. In the row of a table bars end cells,
// also in the middle of code.
func outsideCode(line string) string {
	if strings.Contains(line, "|") {
		return inert(line)
	}
	var b strings.Builder
	for {
		at := strings.IndexByte(line, '`')
		if at < 0 {
			b.WriteString(inert(line))
			return b.String()
		}
		n := ticks(line[at:])
		end := at + n + closing(line[at+n:], n) + n
		b.WriteString(inert(line[:at]))
		b.WriteString(line[at:end])
		line = line[end:]
	}
}

// literal is foreign text in a line of Markdown, meaning nothing but itself.
func literal(s string) string {
	var b strings.Builder
	for _, r := range screen.Visible(s) {
		switch r {
		case '<':
			b.WriteString("&lt;")
			continue
		case '&':
			b.WriteString("&amp;")
			continue
		case '\\', '`', '*', '_', '[', ']', '>', '#', '~', '|', '!':
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// codeSpan is foreign text as code in a line.
func codeSpan(s string) string {
	s = screen.Visible(s)
	n := 1
	for strings.Contains(s, strings.Repeat("`", n)) {
		n++
	}
	mark := strings.Repeat("`", n)
	if n > 1 || strings.HasPrefix(s, " ") {
		return mark + " " + s + " " + mark
	}
	return mark + s + mark
}

// escaped is foreign text in a line of HTML.
func escaped(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;").Replace(screen.Visible(s))
}

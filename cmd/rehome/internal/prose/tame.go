package prose

import (
	"strings"

	"rehome/cmd/rehome/internal/screen"
)

// What makes foreign text mean nothing but itself in Markdown.

// dedented takes up to so many blanks off a line.
func dedented(line screen.Safe, n int) screen.Safe {
	i := 0
	for i < len(line) && i < n && (line[i] == ' ' || line[i] == '\t') {
		i++
	}
	return line[i:]
}

// language is the first word behind a fence, if it is a plain one.
func language(info screen.Safe) screen.Safe {
	word := info
	if at := strings.IndexByte(string(info), ' '); at >= 0 {
		word = info[:at]
	}
	if screen.Trim(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_+#.-") != "" {
		return ""
	}
	return word
}

// tamed is a paragraph in which nothing is HTML, an image or a fence. Code in a line is
// left alone where every line of the paragraph closes what it opens: anything
// else could pair up in a way that we do not see.
func tamed(paragraph []screen.Safe) []screen.Safe {
	plainSpans := true
	for _, l := range paragraph {
		plainSpans = plainSpans && balanced(l)
	}
	out := make([]screen.Safe, len(paragraph))
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
func inert(s screen.Safe) screen.Safe {
	s = screen.ReplaceAll(s, "<", "&lt;")
	if !strings.Contains(string(s), "![") {
		return s
	}
	var parts []screen.Safe
	for {
		at := strings.Index(string(s), "![")
		if at < 0 {
			return screen.Join(append(parts, s), "")
		}
		parts = append(parts, s[:at])
		if slashes := at - len(screen.TrimRight(s[:at], `\`)); slashes%2 == 0 { // else it is no image already
			parts = append(parts, `\`)
		}
		parts = append(parts, "!")
		s = s[at+1:]
	}
}

// hiddenFence finds a fence behind the marks of quotes, where blocks are not
// followed; -1 if there is none.
func hiddenFence(line screen.Safe) int {
	rest := strings.TrimLeft(string(line), " \t>-*+0123456789.)")
	at := len(line) - len(rest)
	if strings.HasPrefix(rest, "~~~") || strings.HasPrefix(rest, "```") && !strings.Contains(strings.TrimLeft(rest, "`"), "`") {
		return at
	}
	return -1
}

// ticks is the length of the run of backticks at the beginning.
func ticks(s screen.Safe) int { return len(s) - len(strings.TrimLeft(string(s), "`")) }

// balanced reports whether the runs of backticks in a line pair up, and none
// stands behind a backslash.
func balanced(line screen.Safe) bool {
	for {
		at := strings.IndexByte(string(line), '`')
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
func closing(s screen.Safe, n int) int {
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
func outsideCode(line screen.Safe) screen.Safe {
	if strings.Contains(string(line), "|") {
		return inert(line)
	}
	var parts []screen.Safe
	for {
		at := strings.IndexByte(string(line), '`')
		if at < 0 {
			return screen.Join(append(parts, inert(line)), "")
		}
		n := ticks(line[at:])
		end := at + n + closing(line[at+n:], n) + n
		parts = append(parts, inert(line[:at]), line[at:end])
		line = line[end:]
	}
}

// literal is text in a line of Markdown, meaning nothing but itself.
func literal(s screen.Safe) screen.Safe {
	return screen.Replace(s, strings.NewReplacer("<", "&lt;", "&", "&amp;", `\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`,
		"[", `\[`, "]", `\]`, ">", `\>`, "#", `\#`, "~", `\~`, "|", `\|`, "!", `\!`))
}

// codeSpan is text as code in a line.
func codeSpan(s screen.Safe) screen.Safe {
	n, run := 1, 0
	for i := range len(s) {
		if run++; s[i] != '`' {
			run = 0
		}
		n = max(n, run+1)
	}
	mark := screen.Repeat("`", n)
	if n > 1 || strings.HasPrefix(string(s), " ") {
		return mark + " " + s + " " + mark
	}
	return mark + s + mark
}

// escaped is text in a line of HTML.
func escaped(s screen.Safe) screen.Safe {
	return screen.Replace(s, strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;"))
}

package prose

import (
	"strings"

	"rehome/cmd/internal/screen"
)

// Escaping of foreign text in Markdown.

// dedent removes up to n leading spaces and tabs.
func dedent(line screen.Safe, n int) screen.Safe {
	i := 0
	for i < len(line) && i < n && (line[i] == ' ' || line[i] == '\t') {
		i++
	}
	return line[i:]
}

// language returns the first word of an info string if it has only plain
// characters, else "".
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

// escapeParagraph escapes a paragraph so that nothing in it is HTML, an image
// or a fence. It leaves code spans alone only if they are balanced in every
// line, because anything else could pair up in other ways than we see.
func escapeParagraph(paragraph []screen.Safe) []screen.Safe {
	plainSpans := true
	for _, l := range paragraph {
		plainSpans = plainSpans && balancedCode(l)
	}
	out := make([]screen.Safe, len(paragraph))
	for i, l := range paragraph {
		if at := quotedFence(l); at >= 0 {
			l = l[:at] + `\` + l[at:]
		} else if plainSpans {
			out[i] = escapeOutsideCode(l)
			continue
		}
		out[i] = escapeInline(l)
	}
	return out
}

// escapeInline escapes HTML and images. Rendering an image would fetch it, and
// so tell a stranger that the text was read. Images become links.
func escapeInline(s screen.Safe) screen.Safe {
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
		if slashes := at - len(screen.TrimRight(s[:at], `\`)); slashes%2 == 0 { // else it is escaped already
			parts = append(parts, `\`)
		}
		parts = append(parts, "!")
		s = s[at+1:]
	}
}

// quotedFence returns the index of a fence after the markers of quotes, where
// code blocks are not tracked, or -1.
func quotedFence(line screen.Safe) int {
	rest := strings.TrimLeft(string(line), " \t>-*+0123456789.)")
	at := len(line) - len(rest)
	if strings.HasPrefix(rest, "~~~") || strings.HasPrefix(rest, "```") && !strings.Contains(strings.TrimLeft(rest, "`"), "`") {
		return at
	}
	return -1
}

// backticks returns the length of the run of backticks at the beginning of s.
func backticks(s screen.Safe) int { return len(s) - len(strings.TrimLeft(string(s), "`")) }

// balancedCode reports whether the runs of backticks in a line pair up and none
// follows a backslash.
func balancedCode(line screen.Safe) bool {
	for {
		at := strings.IndexByte(string(line), '`')
		if at < 0 {
			return true
		}
		if at > 0 && line[at-1] == '\\' {
			return false
		}
		n := backticks(line[at:])
		end := closingRun(line[at+n:], n)
		if end < 0 {
			return false
		}
		line = line[at+n+end+n:]
	}
}

// closingRun returns the index of a run of exactly n backticks, or -1.
func closingRun(s screen.Safe, n int) int {
	for i := 0; i < len(s); {
		if s[i] != '`' {
			i++
			continue
		}
		run := backticks(s[i:])
		if run == n {
			return i
		}
		i += run
	}
	return -1
}

// escapeOutsideCode escapes a balanced line except for its code spans. In a line with
// bars it escapes these too, since the bars of a table end cells even inside code.
func escapeOutsideCode(line screen.Safe) screen.Safe {
	if strings.Contains(string(line), "|") {
		return escapeInline(line)
	}
	var parts []screen.Safe
	for {
		at := strings.IndexByte(string(line), '`')
		if at < 0 {
			return screen.Join(append(parts, escapeInline(line)), "")
		}
		n := backticks(line[at:])
		end := at + n + closingRun(line[at+n:], n) + n
		parts = append(parts, escapeInline(line[:at]), line[at:end])
		line = line[end:]
	}
}

// EscapeMarkdown escapes everything that has a meaning in a line of Markdown.
func EscapeMarkdown(s screen.Safe) screen.Safe {
	return screen.Replace(s, strings.NewReplacer("<", "&lt;", "&", "&amp;", `\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`,
		"[", `\[`, "]", `\]`, ">", `\>`, "#", `\#`, "~", `\~`, "|", `\|`, "!", `\!`))
}

// codeSpan returns s as a code span.
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

// escapeHTML escapes text in a line of HTML.
func escapeHTML(s screen.Safe) screen.Safe {
	return screen.Replace(s, strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;"))
}

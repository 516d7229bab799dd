package page

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"rehome/cmd/internal/page/code"
	"rehome/cmd/internal/page/markdown"
	"rehome/cmd/internal/page/markup"
	"rehome/cmd/internal/prose"
	"rehome/cmd/internal/screen"
)

// The limits of what is shown of one text, unless everything is.
const (
	maxText   = 256 << 10 // bytes of a prompt or an answer
	maxOutput = 400       // lines of a result, with full detail
	maxBrief  = 40        // lines of a result
	maxArg    = 20        // lines of an argument
	maxLine   = 2000      // bytes of a line of a result
	maxImage  = 8 << 20   // bytes of an image
)

// head returns the beginning of a text, which ends with a whole character.
func head(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// cutText returns the beginning of a long text, and how much is left out, with its digest.
func (p *writer) cutText(s string) (shown string, more screen.Safe) {
	if shown = s; !p.o.Full {
		shown = head(s, maxText)
	}
	if n := len(s) - len(shown); n > 0 {
		more = leftOut(screen.Size(int64(n)), s[len(shown):])
	}
	return shown, more
}

// cutLines returns the lines of a result: with an end, the first and the last ones. at is
// where some are left out; more ends with the digest of all lines.
func (p *writer) cutLines(lines []string, limit int, end bool) (shown []string, at int, more screen.Safe) {
	if p.o.Full {
		return lines, len(lines), ""
	}
	if p.o.Tools == prose.Full {
		limit = maxOutput
	}
	at = len(lines)
	all := lines
	if n := len(lines) - limit; n > 1 {
		if at = limit; end {
			at = limit / 2
		}
		more = screen.Plural(int64(n), "line")
		lines = append(append([]string{}, lines[:at]...), lines[at+n:]...)
	}
	long := 0
	for i, l := range lines {
		if len(l) <= maxLine {
			continue
		}
		if long++; long == 1 {
			lines = append([]string{}, lines...)
		}
		lines[i] = head(l, maxLine) + " …"
	}
	if long > 0 {
		if more != "" {
			more += " and "
		}
		more += "the ends of " + screen.Plural(int64(long), "long line")
	}
	if more != "" {
		more = leftOut(more, strings.Join(all, "\n"))
	}
	return lines, at, more
}

// fence matches a block of code in a prompt. The rest of a prompt is shown as it was typed,
// since it is as often a log as it is Markdown.
var fence = regexp.MustCompile("(?ms)^```([\\w+#.-]*)[ \\t]*\n(.*?)^```[ \\t]*$\n?")

func fenced(s string) markup.HTML {
	var out markup.Builder
	for m := fence.FindStringSubmatchIndex(s); m != nil; m = fence.FindStringSubmatchIndex(s) {
		out.Add(markup.Text(strings.TrimSuffix(s[:m[0]], "\n")))
		if m[2] < m[3] {
			out.Add(`<span class="lang">`, markup.Text(s[m[2]:m[3]]), `</span>`)
		}
		out.Add(`<code class="block">`, code.Mark(s[m[2]:m[3]], s[m[4]:m[5]]), `</code>`)
		s = s[m[1]:]
	}
	out.Add(markup.Text(s))
	return out.HTML()
}

// leftOut says how much of a text is left out, and names it with its digest.
func leftOut(what screen.Safe, text string) screen.Safe {
	return what + " left out of this page, " + prose.Digest([]byte(text))
}

// more says how much was left out.
func (p *output) more(what screen.Safe) markup.HTML {
	if what == "" {
		return ""
	}
	return p.Fill("more", "text", markup.Safe("… "+what+" (--full includes everything)"))
}

// beginning returns how a text begins, in one line.
func beginning(text string) screen.Safe {
	return screen.Cut(screen.Visible(strings.Join(strings.Fields(head(text, 8*maxEntry)), " ")), maxEntry)
}

func (p *writer) markdown(name, text string, slots ...markup.HTML) {
	p.begin()
	shown, more := p.cutText(text)
	level := 3
	if p.depth > 0 {
		level = 4
	}
	if p.plain {
		level--
	}
	p.fill(name, append(slots, "text", markdown.Render(strings.Trim(shown, "\n"), level))...)
	p.add(p.more(more))
}

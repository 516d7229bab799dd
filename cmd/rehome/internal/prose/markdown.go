package prose

import (
	"strconv"
	"strings"

	"rehome/cmd/rehome/internal/screen"
	"rehome/formats/session"
)

// markdown is the pen for Markdown.
type markdown struct {
	*paper
	o     Options
	model string // that the session says it last used
}

func (d *markdown) head(s *session.Session) {
	d.model = s.Model
	title := strings.Join(strings.Fields(s.Title), " ")
	if title == "" {
		title = "A session without a title"
	}
	d.line("# " + literal(screen.Cut(title, mostTitle)))
	d.gap()
	for _, f := range d.o.facts(s) {
		d.line("- " + f.name + ": " + literal(f.value))
	}
	for _, c := range s.Children {
		words := strings.TrimSpace(c.Kind + " " + c.Title)
		d.line("- subagent: " + literal(screen.Cut(words, mostTitle)) + " " + codeSpan(d.o.again(c.Session)))
	}
}

func (d *markdown) rule(words string) {
	d.gap()
	d.line("---")
	d.aside(words)
}

func (d *markdown) turn(n *session.Turn) {
	d.gap()
	d.line("## Turn " + strconv.Itoa(n.Number))
	if about := d.o.about(n, d.model); len(about) > 0 {
		d.aside(strings.Join(about, " · "))
	}
	if n.Error != "" {
		d.gap()
		d.fenced("", strings.Split(strings.Trim(n.Error, "\n"), "\n"))
	}
}

func (d *markdown) prompt(words string) {
	d.gap()
	d.flow(words, "> ")
}

func (d *markdown) said(words string) {
	d.gap()
	d.flow(words, "")
}

func (d *markdown) thought(words string) { d.folded("thinking", words) }
func (d *markdown) summary(words string) { d.folded("summary of what was compacted", words) }

func (d *markdown) folded(name, words string) {
	d.gap()
	d.line("<details><summary>" + name + "</summary>")
	d.gap()
	d.flow(words, "")
	d.gap()
	d.line("</details>")
}

func (d *markdown) aside(words string) {
	d.gap()
	d.line("*" + literal(words) + "*")
}

// mostLine is how many cells of a line are shown where a result is cut.
const mostLine = 400

func (d *markdown) step(s *step) {
	d.gap()
	about := ""
	for _, w := range append([]string{screen.Cut(s.subject, mostLine), s.outcome}, s.tail...) {
		if w != "" {
			about += " " + w
		}
	}
	if len(s.args) == 0 && len(s.body) == 0 && s.child == "" {
		d.line(codeSpan(s.name) + literal(about))
		return
	}
	d.line("<details><summary><code>" + escaped(s.name) + "</code>" + escaped(about) + "</summary>")
	if len(s.args) > 0 {
		d.gap()
		var lines []string
		for _, a := range s.args {
			if len(a.lines) == 1 {
				lines = append(lines, oneLine(a.name)+": "+a.lines[0])
				continue
			}
			lines = append(lines, oneLine(a.name)+":")
			for _, l := range a.lines {
				lines = append(lines, "  "+l)
			}
		}
		d.fenced("", lines)
	}
	if len(s.body) > 0 {
		d.gap()
		d.result(s)
	}
	if s.child != "" {
		d.gap()
		if s.away {
			d.line("subagent " + codeSpan(s.child) + ", not in this file")
		} else {
			d.line("subagent: " + codeSpan(d.o.again(s.child)))
		}
	}
	d.gap()
	d.line("</details>")
}

func (d *markdown) result(s *step) {
	lines := s.body
	if at, more := s.elided(); at >= 0 {
		lines = append(append(append([]string(nil), s.body[:at]...), more), s.body[at:]...)
	}
	if d.o.Tools != Full {
		for i, l := range lines {
			lines[i] = screen.Cut(l, mostLine)
		}
	}
	info := ""
	if s.diff {
		info = "diff"
	}
	d.fenced(info, lines)
}

func (d *markdown) file(f *session.File) {
	d.gap()
	d.line("- file " + codeSpan(f.Path) + ", " + size(f.Before) + " before, " + size(f.After) + " after")
}

func (d *markdown) end(s *session.Session) {
	if len(s.Todos) > 0 {
		d.gap()
		d.line("## Todos")
		d.gap()
		for _, t := range s.Todos {
			d.line("- " + strings.NewReplacer("[>]", "[ ] (in progress)", "[-]", "[ ] (cancelled)").Replace(check(t.Status)) + " " + literal(oneLine(t.Content)))
		}
	}
	if strings.TrimSpace(s.Plan) != "" {
		d.gap()
		d.line("## Plan")
		d.gap()
		d.flow(s.Plan, "")
	}
}

// fenced writes lines as they stand, in a fence longer than any of them begins
// with.
func (d *markdown) fenced(info string, lines []string) {
	shown := make([]string, len(lines))
	for i, l := range lines {
		shown[i] = screen.Lines(l)
	}
	mark := strings.Repeat("`", max(3, longest(shown, '`')+1))
	d.line(mark + info)
	for _, l := range shown {
		d.line(l)
	}
	d.line(mark)
}

// flow writes foreign Markdown. Its code blocks get fences of our own, at the
// beginning of the line, so that each ends where it should; outside of them and
// of code in a line nothing is left that HTML could begin with.
func (d *markdown) flow(words, lead string) {
	var f fence
	var code, prose []string
	settle := func() {
		for _, l := range tamed(prose) {
			d.line(lead + l)
		}
		prose = prose[:0]
	}
	closeBlock := func(b fence) {
		mark := strings.Repeat("`", max(3, longest(code, '`')+1))
		if b.lead != "" {
			d.line(lead + tamed([]string{b.lead})[0])
		}
		d.line(lead + mark + language(b.info))
		for _, l := range code {
			d.line(lead + l)
		}
		d.line(lead + mark)
		code = code[:0]
	}
	for line := range strings.Lines(strings.Trim(screen.Lines(words), "\n")) {
		line = strings.TrimRight(line, "\n")
		was := f
		opens, closes := f.step(line)
		switch {
		case opens:
			settle()
		case closes:
			closeBlock(was)
		case f.inside():
			code = append(code, dedented(line, f.indent))
		case strings.TrimSpace(line) == "":
			settle()
			d.line(strings.TrimRight(lead, " "))
		default:
			prose = append(prose, line)
		}
	}
	settle()
	if f.inside() {
		closeBlock(f)
	}
}

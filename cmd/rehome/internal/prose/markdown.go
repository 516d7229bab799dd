package prose

import (
	"slices"
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
	d.line("# " + literal(screen.Cut(screen.Visible(title), mostTitle)))
	d.gap()
	for _, f := range d.o.facts(s) {
		d.line("- " + f.name + ": " + literal(f.value))
	}
	for _, c := range s.Children {
		words := strings.TrimSpace(c.Kind + " " + c.Title)
		d.line("- subagent: " + literal(screen.Cut(screen.Visible(words), mostTitle)) + " " + codeSpan(d.o.again(c.Session)))
	}
}

func (d *markdown) rule(words screen.Safe) {
	d.gap()
	d.line("---")
	d.aside(words)
}

func (d *markdown) turn(n *session.Turn) {
	d.gap()
	d.line(screen.Sprintf("## Turn %d", n.Number))
	if about := d.o.about(n, d.model); len(about) > 0 {
		d.aside(screen.Join(about, " · "))
	}
	if n.Error != "" {
		d.gap()
		d.fenced("", slices.Collect(screen.Rows(screen.Lines(strings.Trim(n.Error, "\n")))))
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

func (d *markdown) folded(name screen.Safe, words string) {
	d.gap()
	d.line("<details><summary>" + name + "</summary>")
	d.gap()
	d.flow(words, "")
	d.gap()
	d.line("</details>")
}

func (d *markdown) aside(words screen.Safe) {
	d.gap()
	d.line("*" + literal(words) + "*")
}

// mostLine is how many cells of a line are shown where a result is cut.
const mostLine = 400

func (d *markdown) step(s *step) {
	d.gap()
	name, about := screen.Visible(s.name), screen.Safe("")
	for _, w := range append([]screen.Safe{screen.Cut(screen.Visible(s.subject), mostLine), screen.Visible(s.outcome)}, s.tail...) {
		if w != "" {
			about += " " + w
		}
	}
	if len(s.args) == 0 && len(s.body) == 0 && s.child == "" {
		d.line(codeSpan(name) + literal(about))
		return
	}
	d.line("<details><summary><code>" + escaped(name) + "</code>" + escaped(about) + "</summary>")
	if len(s.args) > 0 {
		d.gap()
		var lines []screen.Safe
		for _, a := range s.args {
			name := oneLine(a.name)
			if len(a.lines) == 1 {
				lines = append(lines, name+": "+screen.Lines(a.lines[0]))
				continue
			}
			lines = append(lines, name+":")
			for _, l := range a.lines {
				lines = append(lines, "  "+screen.Lines(l))
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
			d.line("subagent " + codeSpan(screen.Visible(s.child)) + ", not in this file")
		} else {
			d.line("subagent: " + codeSpan(d.o.again(s.child)))
		}
	}
	d.gap()
	d.line("</details>")
}

func (d *markdown) result(s *step) {
	var lines []screen.Safe
	at, more := s.elided()
	for i, l := range s.body {
		if i == at {
			lines = append(lines, more)
		}
		shown := screen.Lines(l)
		if d.o.Tools != Full {
			shown = screen.Cut(shown, mostLine)
		}
		lines = append(lines, shown)
	}
	if at == len(s.body) {
		lines = append(lines, more)
	}
	info := screen.Safe("")
	if s.diff {
		info = "diff"
	}
	d.fenced(info, lines)
}

func (d *markdown) file(f *session.File) {
	d.gap()
	d.line("- file " + codeSpan(screen.Visible(f.Path)) + ", " + size(f.Before) + " before, " + size(f.After) + " after")
}

func (d *markdown) end(s *session.Session) {
	if len(s.Todos) > 0 {
		d.gap()
		d.line("## Todos")
		d.gap()
		for _, t := range s.Todos {
			d.line("- " + screen.Replace(check(t.Status), strings.NewReplacer("[>]", "[ ] (in progress)", "[-]", "[ ] (cancelled)")) + " " + literal(oneLine(t.Content)))
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
func (d *markdown) fenced(info screen.Safe, lines []screen.Safe) {
	mark := screen.Repeat("`", max(3, longest(lines, '`')+1))
	d.line(mark + info)
	for _, l := range lines {
		d.line(l)
	}
	d.line(mark)
}

// flow writes foreign Markdown. Its code blocks get fences of our own, at the
// beginning of the line, so that each ends where it should; outside of them and
// of code in a line nothing is left that HTML could begin with.
func (d *markdown) flow(words string, lead screen.Safe) {
	var f fence
	var code, prose []screen.Safe
	settle := func() {
		for _, l := range tamed(prose) {
			d.line(lead + l)
		}
		prose = prose[:0]
	}
	closeBlock := func(b fence) {
		mark := screen.Repeat("`", max(3, longest(code, '`')+1))
		if b.lead != "" {
			d.line(lead + tamed([]screen.Safe{b.lead})[0])
		}
		d.line(lead + mark + language(b.info))
		for _, l := range code {
			d.line(lead + l)
		}
		d.line(lead + mark)
		code = code[:0]
	}
	for line := range screen.Rows(screen.Trim(screen.Lines(words), "\n")) {
		was := f
		opens, closes := f.step(line)
		switch {
		case opens:
			settle()
		case closes:
			closeBlock(was)
		case f.inside():
			code = append(code, dedented(line, f.indent))
		case screen.Trim(line, " \t") == "":
			settle()
			d.line(screen.TrimRight(lead, " "))
		default:
			prose = append(prose, line)
		}
	}
	settle()
	if f.inside() {
		closeBlock(f)
	}
}

package prose

import (
	"slices"
	"strings"

	"rehome/cmd/internal/screen"
	"rehome/formats/session"
)

// markdownRenderer renders a session for Markdown.
type markdownRenderer struct {
	*lineWriter
	o     Options
	model string // model of the session
}

func (d *markdownRenderer) Head(s *session.Session) {
	d.model = s.Model
	title := strings.Join(strings.Fields(s.Title), " ")
	if title == "" {
		title = "Untitled session"
	}
	d.line("# " + EscapeMarkdown(screen.Cut(screen.Visible(title), maxTitle)))
	d.blankLine()
	for _, f := range d.o.Facts(s) {
		d.line("- " + f.Name + ": " + EscapeMarkdown(f.Value))
	}
	for _, c := range s.Children {
		words := strings.TrimSpace(c.Kind + " " + c.Title)
		d.line("- subagent: " + EscapeMarkdown(screen.Cut(screen.Visible(words), maxTitle)) + " " + codeSpan(d.o.showCommand(c.Session)))
	}
}

func (d *markdownRenderer) Divider(words screen.Safe) {
	d.blankLine()
	d.line("---")
	d.Note(words)
}

func (d *markdownRenderer) Turn(n *session.Turn) {
	d.blankLine()
	d.line(screen.Sprintf("## Turn %d", n.Number))
	if about := d.o.TurnFacts(n, d.model); len(about) > 0 {
		d.Note(screen.Join(about, " · "))
	}
	if n.Error != "" {
		d.blankLine()
		d.fenced("", slices.Collect(screen.Rows(screen.Lines(strings.Trim(n.Error, "\n")))))
	}
}

func (d *markdownRenderer) Prompt(words string) {
	d.blankLine()
	d.writeMarkdown(words, "> ")
}

func (d *markdownRenderer) Answer(words string) {
	d.blankLine()
	d.writeMarkdown(words, "")
}

func (d *markdownRenderer) Thinking(words string) { d.details("thinking", words) }
func (d *markdownRenderer) Summary(words string)  { d.details("summary of compacted messages", words) }

func (d *markdownRenderer) details(name screen.Safe, words string) {
	d.blankLine()
	d.line("<details><summary>" + name + "</summary>")
	d.blankLine()
	d.writeMarkdown(words, "")
	d.blankLine()
	d.line("</details>")
}

func (d *markdownRenderer) Media(m *session.Media) { d.Note(MediaLabel(m)) }

func (d *markdownRenderer) Digest(words screen.Safe) { d.Note(words) }

func (d *markdownRenderer) Note(words screen.Safe) {
	d.blankLine()
	d.line("*" + EscapeMarkdown(words) + "*")
}

// maxLine is how many cells of a line are shown in shortened results.
const maxLine = 400

func (d *markdownRenderer) Step(s *Step) {
	d.blankLine()
	name, about := screen.Visible(s.Name), screen.Safe("")
	for _, w := range append([]screen.Safe{screen.Cut(screen.Visible(s.Subject), maxLine), screen.Visible(s.Outcome)}, s.Extras...) {
		if w != "" {
			about += " " + w
		}
	}
	if len(s.Args) == 0 && len(s.Body) == 0 && s.Child == "" {
		d.line(codeSpan(name) + EscapeMarkdown(about))
		return
	}
	d.line("<details><summary><code>" + escapeHTML(name) + "</code>" + escapeHTML(about) + "</summary>")
	if len(s.Args) > 0 {
		d.blankLine()
		var lines []screen.Safe
		for _, a := range s.Args {
			name := oneLine(a.Name)
			if len(a.Lines) == 1 {
				lines = append(lines, name+": "+screen.Lines(a.Lines[0]))
				continue
			}
			lines = append(lines, name+":")
			for _, l := range a.Lines {
				lines = append(lines, "  "+screen.Lines(l))
			}
		}
		d.fenced("", lines)
	}
	if len(s.Body) > 0 {
		d.blankLine()
		d.result(s)
	}
	if s.Child != "" {
		d.blankLine()
		if s.External {
			d.line("subagent " + codeSpan(screen.Visible(s.Child)) + ", not in this file")
		} else {
			d.line("subagent: " + codeSpan(d.o.showCommand(s.Child)))
		}
	}
	d.blankLine()
	d.line("</details>")
}

func (d *markdownRenderer) result(s *Step) {
	var lines []screen.Safe
	at, more := s.elided()
	for i, l := range s.Body {
		if i == at {
			lines = append(lines, more)
		}
		shown := screen.Lines(l)
		if d.o.Tools != Full {
			shown = screen.Cut(shown, maxLine)
		}
		lines = append(lines, shown)
	}
	if at == len(s.Body) {
		lines = append(lines, more)
	}
	info := screen.Safe("")
	if s.Diff {
		info = "diff"
	}
	d.fenced(info, lines)
}

func (d *markdownRenderer) File(f *session.File) {
	d.blankLine()
	d.line("- file " + codeSpan(screen.Visible(f.Path)) + ", " + size(f.Before) + " before, " + size(f.After) + " after")
}

func (d *markdownRenderer) End(s *session.Session) {
	if len(s.Todos) > 0 {
		d.blankLine()
		d.line("## Todos")
		d.blankLine()
		for _, t := range s.Todos {
			d.line("- " + screen.Replace(Checkbox(t.Status), strings.NewReplacer("[>]", "[ ] (in progress)", "[-]", "[ ] (cancelled)")) + " " + EscapeMarkdown(oneLine(t.Content)))
		}
	}
	if strings.TrimSpace(s.Plan) != "" {
		d.blankLine()
		d.line("## Plan")
		d.blankLine()
		d.writeMarkdown(s.Plan, "")
	}
}

// fenced writes lines verbatim in a fence that is longer than any of them begins with.
func (d *markdownRenderer) fenced(info screen.Safe, lines []screen.Safe) {
	mark := screen.Repeat("`", max(3, longestRun(lines, '`')+1))
	d.line(mark + info)
	for _, l := range lines {
		d.line(l)
	}
	d.line(mark)
}

// writeMarkdown writes foreign Markdown. It replaces the fences of code blocks
// by its own, at the beginning of the line, so that each block ends where it
// should. Outside of code, it escapes everything that could begin HTML.
func (d *markdownRenderer) writeMarkdown(words string, lead screen.Safe) {
	var f fence
	var code, prose []screen.Safe
	settle := func() {
		for _, l := range escapeParagraph(prose) {
			d.line(lead + l)
		}
		prose = prose[:0]
	}
	closeBlock := func(b fence) {
		mark := screen.Repeat("`", max(3, longestRun(code, '`')+1))
		if b.listMark != "" {
			d.line(lead + escapeParagraph([]screen.Safe{b.listMark})[0])
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
			code = append(code, dedent(line, f.indent))
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

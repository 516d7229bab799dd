package prose

import (
	"strings"

	"rehome/cmd/internal/screen"
	"rehome/formats/session"
)

// textRenderer renders a session for a terminal.
type textRenderer struct {
	*lineWriter
	o         Options
	afterNote bool   // the last line was a note
	model     string // model of the session
	client    string // client of the session
}

func (t *textRenderer) line(s screen.Safe) {
	t.afterNote = false
	t.lineWriter.line(screen.TrimRight(s, " "))
}

func (t *textRenderer) Head(s *session.Session) {
	p := t.o.Palette
	t.model, t.client = s.Model, s.Agent
	title := screen.Visible(strings.Join(strings.Fields(s.Title), " "))
	if title == "" {
		t.line(p.Faint("untitled session"))
	}
	for _, l := range screen.Wrap(screen.Cut(title, maxTitle), t.o.Width) {
		if l != "" {
			t.line(p.Strong(l))
		}
	}
	facts := t.o.Facts(s)
	room := 0
	for _, f := range facts {
		room = max(room, len(f.Name))
	}
	for _, f := range facts {
		lead := "  " + f.Name + screen.Repeat(" ", room-len(f.Name)+2)
		for i, l := range screen.Wrap(f.Value, t.o.Width-len(lead)) {
			if i == 0 {
				t.line(p.Faint(lead) + l)
			} else {
				t.line(screen.Repeat(" ", len(lead)) + l)
			}
		}
	}
	t.children(s.Children)
}

// maxTitle limits the length of titles, since some clients use the whole prompt.
const maxTitle = 400

// maxChildren is how many subagents are listed.
const maxChildren = 12

func (t *textRenderer) children(list []session.Link) {
	for i, c := range list {
		if i == maxChildren && len(list) > maxChildren+1 {
			t.line(t.o.Palette.Faint("  and " + screen.Plural(int64(len(list)-i), "more subagent")))
			return
		}
		words := screen.Visible(strings.TrimSpace(c.Kind + " " + c.Title))
		t.line(t.o.Palette.Faint("  subagent  ") + screen.Cut(words, max(8, t.o.Width/2)))
		t.line(t.o.Palette.Faint("    " + t.o.showCommand(c.Session)))
	}
}

// divider prints a line across the screen that contains words.
func (t *textRenderer) Divider(words screen.Safe) { t.banner(words, t.o.Palette.Yellow) }

func (t *textRenderer) banner(words screen.Safe, paint func(screen.Safe) screen.Safe) {
	t.blankLine()
	words = screen.Cut(words, max(8, t.o.Width-6))
	rest := t.o.Width - 4 - screen.Cells(words)
	t.line(t.o.Palette.Faint("── ") + paint(words) + t.o.Palette.Faint(" "+screen.Repeat("─", rest)))
}

func (t *textRenderer) Turn(n *session.Turn) {
	words := "turn " + screen.Grouped(int64(n.Number))
	for _, a := range t.o.TurnFacts(n, t.model) {
		words += " · " + a
	}
	t.banner(words, t.o.Palette.Strong)
	if n.Error != "" {
		t.block(n.Error, "  ", t.o.Palette.Red)
	}
}

func (t *textRenderer) Prompt(words string) {
	t.blankLine()
	mark := t.o.Palette.Green("> ")
	t.writeMarkdown(words, margin{mark, mark, 2}, screen.Plain)
}

func (t *textRenderer) Answer(words string) {
	t.blankLine()
	t.rendered(words, margin{t.o.Palette.Client(t.client, "●") + " ", "  ", 2})
}

func (t *textRenderer) Thinking(words string) {
	t.blankLine()
	t.writeMarkdown(words, margin{"  ", "  ", 2}, t.o.Palette.Faint)
}

func (t *textRenderer) Summary(words string) {
	t.blankLine()
	t.line(t.o.Palette.Yellow("summary"))
	t.rendered(words, margin{"  ", "  ", 2})
}

func (t *textRenderer) Media(m *session.Media) { t.Note(MediaLabel(m) + t.o.leftOut(m.Data)) }

func (t *textRenderer) Digest(words screen.Safe) { t.Note(words) }

func (t *textRenderer) Note(words screen.Safe) {
	if !t.afterNote {
		t.blankLine()
	}
	words = "[" + words + "]"
	if !t.o.Digests { // which are at the end
		words = screen.Cut(words, max(8, t.o.Width))
	}
	t.line(t.o.Palette.Faint(words))
	t.afterNote = true
}

// writeMarkdown writes foreign Markdown. It wraps prose, and leaves code and tables
// as they are. Every line begins with lead.
func (t *textRenderer) writeMarkdown(words string, lead margin, paint func(screen.Safe) screen.Safe) {
	var f fence
	for line := range screen.Rows(screen.Trim(screen.Lines(words), "\n")) {
		line = screen.TrimRight(screen.ExpandTabs(line), " ")
		was := f.inside()
		f.step(line)
		if was || f.inside() || isTableRow(line) {
			t.line(lead.next() + paint(line))
			continue
		}
		for _, l := range screen.Wrap(line, t.o.Width-lead.cells) {
			t.line(lead.next() + paint(l))
		}
	}
}

// block writes foreign text verbatim, wrapped.
func (t *textRenderer) block(words string, lead screen.Safe, paint func(screen.Safe) screen.Safe) {
	for line := range screen.Rows(screen.Trim(screen.Lines(words), "\n")) {
		for _, l := range screen.Wrap(screen.ExpandTabs(line), t.o.Width-len(lead)) {
			t.line(lead + paint(l))
		}
	}
}

func (t *textRenderer) Step(s *Step) {
	t.blankLine()
	p := t.o.Palette
	outcome := screen.Cut(screen.Visible(s.Outcome), max(4, t.o.Width/4))
	var tail []screen.Safe
	if outcome != "" {
		tail = append(tail, outcome)
	}
	tail = append(tail, s.Extras...)
	name := screen.Cut(screen.Visible(s.Name), max(4, t.o.Width/3))
	room := t.o.Width - 4 - screen.Cells(name) - screen.Cells(screen.Join(tail, "  ")) - 2
	line := "  " + p.Cyan(name)
	if subject := screen.Cut(screen.Visible(s.Subject), max(2, room)); subject != "" {
		line += "  " + subject
	}
	for i, w := range tail {
		switch {
		case i == 0 && outcome != "" && s.Failed:
			w = p.Red(w)
		case i == 0 && outcome != "":
			w = p.Yellow(w)
		default:
			w = p.Faint(w)
		}
		line += "  " + w
	}
	t.line(line)
	t.args(s.Args)
	t.body(s)
	switch {
	case s.Child != "" && s.External:
		t.line(p.Faint("    subagent " + screen.Visible(s.Child) + ", not in this file"))
	case s.Child != "":
		t.line(p.Faint("    subagent: " + t.o.showCommand(s.Child)))
	}
}

func (t *textRenderer) args(list []Arg) {
	for _, a := range list {
		lead := "    " + screen.Visible(a.Name) + ": "
		if len(a.Lines) == 1 {
			t.line(t.o.Palette.Faint(lead) + verbatim(a.Lines[0]))
			continue
		}
		t.line(t.o.Palette.Faint(lead))
		for _, l := range a.Lines {
			t.line("      " + verbatim(l))
		}
	}
}

// body writes a result: a diff in color, anything else faint. With less than
// Full detail, lines are cut at the width.
func (t *textRenderer) body(s *Step) {
	at, more := s.elided()
	for i, l := range s.Body {
		if i == at {
			t.line(t.o.Palette.Faint("    " + more))
		}
		shown := verbatim(l)
		if t.o.Tools != Full {
			shown = screen.Cut(shown, max(8, t.o.Width-4))
		}
		t.line("    " + t.colored(shown, s.Diff))
	}
	if at == len(s.Body) {
		t.line(t.o.Palette.Faint("    " + more))
	}
}

func (t *textRenderer) colored(l screen.Safe, diff bool) screen.Safe {
	p := t.o.Palette
	switch {
	case !diff:
		return p.Faint(l)
	case strings.HasPrefix(string(l), "+"):
		return p.Green(l)
	case strings.HasPrefix(string(l), "-"):
		return p.Red(l)
	case strings.HasPrefix(string(l), "@@"):
		return p.Cyan(l)
	}
	return l
}

// verbatim returns one line of foreign text, made safe.
func verbatim(l string) screen.Safe { return screen.ExpandTabs(screen.Lines(l)) }

func (t *textRenderer) File(f *session.File) {
	sizes := "  " + size(f.Before) + " before, " + size(f.After) + " after"
	if t.o.Digests {
		sizes += ", " + Digest(session.AppendFile(nil, f))
	}
	path := screen.CutLeft(screen.Visible(f.Path), max(8, t.o.Width-len("  file  ")-screen.Cells(sizes)))
	t.line("  " + t.o.Palette.Cyan("file") + "  " + path + t.o.Palette.Faint(sizes))
}

func size(b *session.Body) screen.Safe {
	if b == nil {
		return "?"
	}
	return screen.Size(int64(len(b.Bytes)))
}

func (t *textRenderer) End(s *session.Session) {
	if len(s.Todos) > 0 {
		t.Divider("todos")
		for _, todo := range s.Todos {
			for i, l := range screen.Wrap(screen.Visible(todo.Content), t.o.Width-6) {
				if i == 0 {
					t.line("  " + Checkbox(todo.Status) + " " + l)
				} else {
					t.line("      " + l)
				}
			}
		}
	}
	if strings.TrimSpace(s.Plan) != "" {
		t.Divider("plan")
		t.rendered(s.Plan, margin{})
	}
}

package prose

import (
	"strings"

	"rehome/cmd/rehome/internal/screen"
	"rehome/formats/session"
)

// text is the pen for a terminal.
type text struct {
	*paper
	o      Options
	beside bool   // the last line was an aside
	model  string // that the session says it last used
}

func (t *text) line(s screen.Safe) {
	t.beside = false
	t.paper.line(screen.TrimRight(s, " "))
}

func (t *text) head(s *session.Session) {
	p := t.o.Palette
	t.model = s.Model
	title := screen.Visible(strings.Join(strings.Fields(s.Title), " "))
	if title == "" {
		t.line(p.Faint("a session without a title"))
	}
	for _, l := range screen.Wrap(screen.Cut(title, mostTitle), t.o.Width) {
		if l != "" {
			t.line(p.Strong(l))
		}
	}
	facts := t.o.facts(s)
	room := 0
	for _, f := range facts {
		room = max(room, len(f.name))
	}
	for _, f := range facts {
		lead := "  " + f.name + screen.Repeat(" ", room-len(f.name)+2)
		for i, l := range screen.Wrap(f.value, t.o.Width-len(lead)) {
			if i == 0 {
				t.line(p.Faint(lead) + l)
			} else {
				t.line(screen.Repeat(" ", len(lead)) + l)
			}
		}
	}
	t.children(s.Children)
}

// mostTitle is how much of a title is shown: some clients take the whole
// prompt.
const mostTitle = 400

// mostChildren is how many subagents are worth a line each.
const mostChildren = 12

func (t *text) children(list []session.Link) {
	for i, c := range list {
		if i == mostChildren && len(list) > mostChildren+1 {
			t.line(t.o.Palette.Faint("  and " + screen.Many(int64(len(list)-i), "more subagent")))
			return
		}
		words := screen.Visible(strings.TrimSpace(c.Kind + " " + c.Title))
		t.line(t.o.Palette.Faint("  subagent  ") + screen.Cut(words, max(8, t.o.Width/2)))
		t.line(t.o.Palette.Faint("    " + t.o.again(c.Session)))
	}
}

// rule is a line across the screen with words in it.
func (t *text) rule(words screen.Safe) { t.across(words, t.o.Palette.Yellow) }

func (t *text) across(words screen.Safe, paint func(screen.Safe) screen.Safe) {
	t.gap()
	words = screen.Cut(words, max(8, t.o.Width-6))
	rest := t.o.Width - 4 - screen.Cells(words)
	t.line(t.o.Palette.Faint("── ") + paint(words) + t.o.Palette.Faint(" "+screen.Repeat("─", rest)))
}

func (t *text) turn(n *session.Turn) {
	words := "turn " + screen.Grouped(int64(n.Number))
	for _, a := range t.o.about(n, t.model) {
		words += " · " + a
	}
	t.across(words, t.o.Palette.Strong)
	if n.Error != "" {
		t.block(n.Error, "  ", t.o.Palette.Red)
	}
}

func (t *text) prompt(words string) {
	t.gap()
	t.flow(words, t.o.Palette.Green("> "), 2, screen.Plain)
}

func (t *text) said(words string) {
	t.gap()
	t.flow(words, "", 0, screen.Plain)
}

func (t *text) thought(words string) {
	t.gap()
	t.flow(words, t.o.Palette.Faint("  "), 2, t.o.Palette.Faint)
}

func (t *text) summary(words string) {
	t.gap()
	t.line(t.o.Palette.Yellow("summary"))
	t.flow(words, "  ", 2, screen.Plain)
}

func (t *text) aside(words screen.Safe) {
	if !t.beside {
		t.gap()
	}
	t.line(t.o.Palette.Faint(screen.Cut("["+words+"]", max(8, t.o.Width))))
	t.beside = true
}

// flow writes foreign Markdown: wrapped where it is prose, as it stands where
// it is code or a table. Every line begins with lead, which takes so many
// cells.
func (t *text) flow(words string, lead screen.Safe, cells int, paint func(screen.Safe) screen.Safe) {
	var f fence
	for line := range screen.Rows(screen.Trim(screen.Lines(words), "\n")) {
		line = screen.TrimRight(screen.Untab(line), " ")
		was := f.inside()
		f.step(line)
		switch {
		case was || f.inside():
			t.line(lead + paint(line))
		case strings.HasPrefix(strings.TrimLeft(string(line), " "), "|"):
			t.line(lead + paint(line))
		default:
			for _, l := range screen.Wrap(line, t.o.Width-cells) {
				if strings.HasPrefix(string(line), "#") {
					l = t.o.Palette.Strong(l)
				} else {
					l = paint(l)
				}
				t.line(lead + l)
			}
		}
	}
}

// block writes foreign text as it stands, wrapped.
func (t *text) block(words string, lead screen.Safe, paint func(screen.Safe) screen.Safe) {
	for line := range screen.Rows(screen.Trim(screen.Lines(words), "\n")) {
		for _, l := range screen.Wrap(screen.Untab(line), t.o.Width-len(lead)) {
			t.line(lead + paint(l))
		}
	}
}

func (t *text) step(s *step) {
	t.gap()
	p := t.o.Palette
	outcome := screen.Cut(screen.Visible(s.outcome), max(4, t.o.Width/4))
	var tail []screen.Safe
	if outcome != "" {
		tail = append(tail, outcome)
	}
	tail = append(tail, s.tail...)
	name := screen.Cut(screen.Visible(s.name), max(4, t.o.Width/3))
	room := t.o.Width - 4 - screen.Cells(name) - screen.Cells(screen.Join(tail, "  ")) - 2
	line := "  " + p.Cyan(name)
	if subject := screen.Cut(screen.Visible(s.subject), max(2, room)); subject != "" {
		line += "  " + subject
	}
	for i, w := range tail {
		switch {
		case i == 0 && outcome != "" && s.bad:
			w = p.Red(w)
		case i == 0 && outcome != "":
			w = p.Yellow(w)
		default:
			w = p.Faint(w)
		}
		line += "  " + w
	}
	t.line(line)
	t.args(s.args)
	t.body(s)
	switch {
	case s.child != "" && s.away:
		t.line(p.Faint("    subagent " + screen.Visible(s.child) + ", not in this file"))
	case s.child != "":
		t.line(p.Faint("    subagent: " + t.o.again(s.child)))
	}
}

func (t *text) args(list []arg) {
	for _, a := range list {
		lead := "    " + screen.Visible(a.name) + ": "
		if len(a.lines) == 1 {
			t.line(t.o.Palette.Faint(lead) + verbatim(a.lines[0]))
			continue
		}
		t.line(t.o.Palette.Faint(lead))
		for _, l := range a.lines {
			t.line("      " + verbatim(l))
		}
	}
}

// body writes a result: a diff in its colors, everything else faint. What was
// cut in length is cut in width, too.
func (t *text) body(s *step) {
	at, more := s.elided()
	for i, l := range s.body {
		if i == at {
			t.line(t.o.Palette.Faint("    " + more))
		}
		shown := verbatim(l)
		if t.o.Tools != Full {
			shown = screen.Cut(shown, max(8, t.o.Width-4))
		}
		t.line("    " + t.painted(shown, s.diff))
	}
	if at == len(s.body) {
		t.line(t.o.Palette.Faint("    " + more))
	}
}

func (t *text) painted(l screen.Safe, diff bool) screen.Safe {
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

// verbatim is one line of foreign text as it stands.
func verbatim(l string) screen.Safe { return screen.Untab(screen.Lines(l)) }

func (t *text) file(f *session.File) {
	sizes := "  " + size(f.Before) + " before, " + size(f.After) + " after"
	path := screen.CutLeft(screen.Visible(f.Path), max(8, t.o.Width-len("  file  ")-screen.Cells(sizes)))
	t.line("  " + t.o.Palette.Cyan("file") + "  " + path + t.o.Palette.Faint(sizes))
}

func size(b *session.Body) screen.Safe {
	if b == nil {
		return "?"
	}
	return screen.Size(int64(len(b.Bytes)))
}

func (t *text) end(s *session.Session) {
	if len(s.Todos) > 0 {
		t.rule("todos")
		for _, todo := range s.Todos {
			for i, l := range screen.Wrap(screen.Visible(todo.Content), t.o.Width-6) {
				if i == 0 {
					t.line("  " + check(todo.Status) + " " + l)
				} else {
					t.line("      " + l)
				}
			}
		}
	}
	if strings.TrimSpace(s.Plan) != "" {
		t.rule("plan")
		t.flow(s.Plan, "", 0, screen.Plain)
	}
}

package prose

import (
	"strings"

	"rehome/cmd/rehome/internal/screen"
	"rehome/formats/session"
)

// walker goes through the messages of a session.
type walker struct {
	o       Options
	pen     pen
	s       *session.Session
	pending queue               // calls without a result yet
	held    int                 // bytes of these
	gone    []*session.ToolCall // the last calls shown without their results, which may yet come
	results bool                // a result was seen: the source holds them
	hidden  int64               // calls that are not shown
	branch  string
	from    map[string]string // the messages that branches grow from, by name
	old     bool              // the last message was an archived one
}

func walk(s *session.Session, o Options, p pen) error {
	w := &walker{o: o, pen: p, s: s, from: map[string]string{}}
	for _, b := range s.Branches {
		w.from[b.Name] = b.From
	}
	p.head(s)
	for m, err := range s.Messages {
		if err != nil {
			w.settle()
			p.flush() // what was read is worth showing
			return err
		}
		w.message(m)
		if o.Live {
			if err := p.flush(); err != nil {
				return err
			}
		}
	}
	w.settle()
	w.count()
	if o.Part {
		return p.flush()
	}
	if err := w.files(); err != nil {
		p.flush()
		return err
	}
	p.end(s)
	return p.flush()
}

func (w *walker) files() error {
	if w.s.Files == nil {
		return nil
	}
	begun := false
	for f, err := range w.s.Files {
		if err != nil {
			return err
		}
		if !begun {
			w.pen.rule("files, as the client kept them")
			begun = true
		}
		w.pen.file(f)
	}
	return nil
}

func (w *walker) message(m *session.Message) {
	aside := m.Turn == nil && (m.Role == session.System || m.Simulated) // it may stand between a call and its result
	if m.Role == session.User && !aside || m.Turn != nil || w.held > mostHeld {
		w.settle()
	}
	w.place(m)
	if m.Turn != nil {
		w.count()
		w.pen.turn(m.Turn)
	}
	var context []screen.Safe
	for _, part := range m.Parts {
		if in, ok := part.(*session.Injected); ok {
			context = append(context, contextOf(in))
			continue
		}
		w.context(context, aside)
		context = nil
		w.part(m, part, aside)
	}
	w.context(context, aside)
}

// place says where a message stands that is not the plain next one.
func (w *walker) place(m *session.Message) {
	if m.Branch != w.branch {
		w.branch = m.Branch
		words := screen.Safe("back on the live branch")
		if m.Branch != "" {
			words = "branch " + screen.Visible(m.Branch) + ", which the client went back on"
		}
		if from := w.from[m.Branch]; from != "" {
			words += ", from message " + screen.Visible(from)
		}
		w.count()
		w.pen.rule(words)
	}
	if m.Archived && !w.old {
		w.count()
		w.pen.rule("archived: the model sees a summary of what follows")
	}
	w.old = m.Archived
}

// contextOf names a piece of context and says how long it is, or what it says if
// it is a command of the user's.
func contextOf(in *session.Injected) screen.Safe {
	name := in.Tag
	switch {
	case name == "":
		name = "context"
	case strings.Contains(name, "command-"):
		return screen.Visible(name) + " " + screen.Cut(screen.Visible(in.Text), mostAside)
	}
	return screen.Visible(name) + " " + screen.Size(int64(len(in.Text)+len(in.Data)))
}

func (w *walker) context(list []screen.Safe, aside bool) {
	if len(list) > 0 {
		if !aside {
			w.settle()
		}
		w.count()
		w.pen.aside("context: " + screen.Join(list, ", "))
	}
}

func (w *walker) part(m *session.Message, part session.Part, aside bool) {
	switch t := part.(type) {
	case *session.ToolCall:
		c := kept(t)
		w.pending.put(c)
		w.held += len(c.Args) + len(c.Input) + callSize
		return
	case *session.ToolResult:
		w.result(t)
		return
	}
	switch part.(type) {
	case *session.Text, *session.Opaque:
		if !aside {
			w.settle()
		}
	default:
		w.settle()
	}
	if t, ok := part.(*session.Thinking); ok {
		w.thinking(t)
		return
	}
	w.count()
	switch t := part.(type) {
	case *session.Text:
		w.text(m, t.Text)
	case *session.Media:
		w.pen.aside(mediaOf(t))
	case *session.Summary:
		w.pen.summary(t.Text)
	case *session.Boundary:
		words := screen.Safe("compacted here")
		if t.Archived > 0 {
			words = "compacted here: the model sees a summary of " + screen.Many(int64(t.Archived), "message") + " above"
		}
		w.pen.rule(words)
	case *session.Opaque:
		if !w.ending(t) {
			w.pen.aside(opaqueOf(t))
		}
	}
}

func (w *walker) text(m *session.Message, words string) {
	switch {
	case m.Role == session.System:
		w.pen.aside("system prompt: " + screen.Size(int64(len(words))))
	case strings.TrimSpace(words) == "":
	case m.Role == session.User && m.Simulated:
		w.pen.aside("written by the client: " + screen.Cut(screen.Visible(words), mostAside))
	case m.Role == session.User:
		w.pen.prompt(words)
	default:
		w.pen.said(words)
	}
}

// mostAside is how many cells of a text that nobody wrote are shown.
const mostAside = 60

func (w *walker) thinking(t *session.Thinking) {
	switch {
	case !w.o.Thinking:
	case t.Text == "" && t.Redacted:
		w.count()
		w.pen.aside("thinking, withheld by its provider")
	case strings.TrimSpace(t.Text) != "":
		w.count()
		w.pen.thought(t.Text)
	}
}

func mediaOf(m *session.Media) screen.Safe {
	words := screen.Safe("file")
	if strings.HasPrefix(m.Mime, "image/") {
		words = "image"
	}
	for _, s := range []string{m.Name, m.Mime} {
		if s != "" {
			words += " " + screen.Visible(s)
		}
	}
	switch {
	case m.Data != nil:
		words += " " + screen.Size(int64(len(m.Data)))
	case m.URI != "":
		words += " at " + screen.Cut(screen.Visible(m.URI), mostAside)
	}
	return words
}

func opaqueOf(p *session.Opaque) screen.Safe {
	kind := p.Kind
	if kind == "" {
		kind = "something the client keeps for itself"
	}
	return screen.Cut(screen.Visible(kind), mostAside) + " " + screen.Size(int64(len(p.Raw)))
}

package prose

import (
	"crypto/sha256"
	"hash"
	"strings"

	"rehome/cmd/internal/screen"
	"rehome/formats/session"
)

// walker passes the messages of a session to a Renderer.
type walker struct {
	o          Options
	out        Renderer
	s          *session.Session
	pending    callQueue           // calls that wait for their results
	heldBytes  int                 // estimated size of pending
	unanswered []*session.ToolCall // the last calls printed without their results, which may still arrive
	sawResult  bool                // a result was seen, so the source records them
	hidden     int64               // hidden calls since the last visible part
	internal   int64               // hidden internal records of this turn
	hinted     bool                // it was said how to print them
	branch     string
	branchFrom map[string]string // the message that each branch starts from
	archived   bool              // the last message was archived
	sum        hash.Hash         // of the messages of this turn, with Digests
	messages   int64             // how many of them were said,
	records    int64             // and how many are only the client's
	line       []byte
}

// Walk passes the messages of a session to a Renderer, in order.
func Walk(s *session.Session, o Options, p Renderer) error {
	w := &walker{o: o, out: p, s: s, hinted: o.NoHints, branchFrom: map[string]string{}, sum: sha256.New()}
	for _, b := range s.Branches {
		w.branchFrom[b.Name] = b.From
	}
	begun := false
	for m, err := range s.Messages {
		if err != nil {
			if begun { // print what was read
				w.flushCalls()
				w.endTurn()
				p.Flush()
			}
			return err
		}
		if !begun {
			begun = true
			p.Head(s)
		}
		w.message(m)
		if o.Streaming {
			if err := p.Flush(); err != nil {
				return err
			}
		}
	}
	if !begun {
		p.Head(s)
	}
	w.flushCalls()
	w.endTurn()
	if o.Partial {
		return p.Flush()
	}
	if err := w.files(); err != nil {
		p.Flush()
		return err
	}
	p.End(s)
	return p.Flush()
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
			w.out.Divider("files saved by the client")
			begun = true
		}
		w.out.File(f)
	}
	return nil
}

func (w *walker) message(m *session.Message) {
	if w.o.Linear && m.Branch != "" {
		w.digest(m)
		return
	}
	outOfBand := m.Turn == nil && (m.Role == session.System || m.Simulated) // can be between a call and its result
	if m.Role == session.User && !outOfBand || m.Turn != nil || w.heldBytes > maxHeld {
		w.flushCalls()
	}
	if m.Turn != nil {
		w.endTurn()
	}
	w.digest(m)
	w.position(m)
	if m.Turn != nil {
		w.out.Turn(m.Turn)
	}
	var context []screen.Safe
	for _, part := range m.Parts {
		if in, ok := part.(*session.Injected); ok {
			if w.o.All && w.o.Digests && in.Text != "" {
				w.context(context, outOfBand)
				context = nil
				w.inFull("context: "+contextLabel(in), in.Text)
			} else if w.o.All || isCommand(in) {
				context = append(context, contextLabel(in))
			} else {
				w.internal++
			}
			continue
		}
		if w.isInternal(m, part) {
			w.internal++
			continue
		}
		w.context(context, outOfBand)
		context = nil
		w.part(m, part, outOfBand)
	}
	w.context(context, outOfBand)
}

// isInternal reports whether a part is only of interest to the client. Such parts
// are counted, unless all are to be printed.
func (w *walker) isInternal(m *session.Message, part session.Part) bool {
	if w.o.All {
		return false
	}
	switch p := part.(type) {
	case *session.Text:
		return m.Role == session.System
	case *session.Opaque:
		return !isRunEnd(p)
	}
	return false
}

// endTurn prints how many internal records the turn has, and its digest.
func (w *walker) endTurn() {
	w.flushHidden()
	w.endDigest()
	if w.internal > 0 && !w.o.Uncounted {
		words := screen.Plural(w.internal, "internal record")
		if !w.hinted {
			words += ", --all shows them"
		}
		w.out.Note(words)
		w.internal, w.hinted = 0, true
	}
}

// position prints a divider if a message is not on the same branch as the
// previous one, or begins an archived part.
func (w *walker) position(m *session.Message) {
	if m.Branch != w.branch {
		w.branch = m.Branch
		words := screen.Safe("back on the active branch")
		if m.Branch != "" {
			words = "not sent: branch " + screen.Visible(m.Branch)
		}
		if from := w.branchFrom[m.Branch]; from != "" {
			words += ", from message " + screen.Visible(from)
		}
		w.flushHidden()
		w.out.Divider(words)
	}
	if m.Archived && !w.archived {
		w.flushHidden()
		w.out.Divider("archived: the model sees a summary of what follows")
	}
	w.archived = m.Archived
}

// contextLabel describes a piece of context: its name and size, or its text if
// it is a command of the user.
func contextLabel(in *session.Injected) screen.Safe {
	name := in.Tag
	switch {
	case name == "":
		name = "context"
	case isCommand(in):
		return screen.Visible(name) + " " + screen.Cut(screen.Visible(in.Text), maxNote)
	}
	return screen.Visible(name) + " " + screen.Size(int64(len(in.Text)+len(in.Data)))
}

// isCommand reports whether a piece of context is a command of the user.
func isCommand(in *session.Injected) bool { return strings.Contains(in.Tag, "command-") }

func (w *walker) context(list []screen.Safe, outOfBand bool) {
	if len(list) > 0 {
		if !outOfBand {
			w.flushCalls()
		}
		w.flushHidden()
		w.out.Note("context: " + screen.Join(list, ", "))
	}
}

func (w *walker) part(m *session.Message, part session.Part, outOfBand bool) {
	switch t := part.(type) {
	case *session.ToolCall:
		c := cloneCall(t)
		w.pending.put(c)
		w.heldBytes += len(c.Input) + callSize
		return
	case *session.ToolResult:
		w.result(t)
		return
	}
	switch part.(type) {
	case *session.Text, *session.Opaque:
		if !outOfBand {
			w.flushCalls()
		}
	default:
		w.flushCalls()
	}
	if t, ok := part.(*session.Thinking); ok {
		w.thinking(t)
		return
	}
	w.flushHidden()
	switch t := part.(type) {
	case *session.Text:
		w.text(m, t.Text)
	case *session.Media:
		w.out.Media(t)
	case *session.Summary:
		w.out.Summary(t.Text)
	case *session.Boundary:
		words := screen.Safe("compacted here")
		if t.Archived > 0 {
			words = "compacted here: the model sees a summary of " + screen.Plural(int64(t.Archived), "message") + " above"
		}
		w.out.Divider(words)
	case *session.Opaque:
		if !w.runEnd(t) {
			w.out.Note(opaqueLabel(t) + w.o.leftOut(t.Raw))
		}
	}
}

func (w *walker) text(m *session.Message, words string) {
	switch {
	case w.o.All && w.o.Digests && m.Role == session.System:
		w.inFull("system prompt: "+screen.Size(int64(len(words))), words)
	case w.o.Digests && m.Role == session.User && m.Simulated:
		w.inFull("written by the client", words)
	case m.Role == session.System:
		w.out.Note("system prompt: " + screen.Size(int64(len(words))))
	case strings.TrimSpace(words) == "":
	case m.Role == session.User && m.Simulated:
		w.out.Note("written by the client: " + screen.Cut(screen.Visible(words), maxNote))
	case m.Role == session.User:
		w.out.Prompt(words)
	default:
		w.out.Answer(words)
	}
}

// maxNote is how many cells of a generated text are shown.
const maxNote = 60

func (w *walker) thinking(t *session.Thinking) {
	switch {
	case !w.o.Thinking:
	case t.Text == "" && t.Redacted:
		w.flushHidden()
		w.out.Note("thinking, redacted by the provider")
	case strings.TrimSpace(t.Text) != "":
		w.flushHidden()
		w.out.Thinking(t.Text)
	}
}

// MediaLabel describes an image or a file in one line.
func MediaLabel(m *session.Media) screen.Safe {
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
		words += " at " + screen.Cut(screen.Visible(m.URI), maxNote)
	}
	return words
}

func opaqueLabel(p *session.Opaque) screen.Safe {
	kind := p.Kind
	if kind == "" {
		kind = "client data"
	}
	return screen.Cut(screen.Visible(kind), maxNote) + " " + screen.Size(int64(len(p.Raw)))
}

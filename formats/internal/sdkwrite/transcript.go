package sdkwrite

import (
	"rehome/formats/internal/cursortools"
	"rehome/formats/internal/envelope"
	"rehome/formats/session"
)

// transcriptWriter writes the readable copy: prompts, answers and calls, no results.
type transcriptWriter struct {
	out      *out
	role     session.Role
	wrap     bool // the text is the user's own
	said     []byte
	thoughts []byte
	calls    []byte
	buf      []byte
}

// begin begins the line of a message. Its calls follow, and end writes it.
func (w *transcriptWriter) begin(m *session.Message, dropThinking bool) {
	w.role, w.wrap = m.Role, m.Role == session.User && !m.Simulated
	w.said, w.thoughts, w.calls = w.said[:0], w.thoughts[:0], w.calls[:0]
	for _, p := range m.Parts {
		switch p := p.(type) {
		case *session.Text:
			w.said = paragraph(w.said, p.Text)
		case *session.Thinking: // after the text, without a mark
			if !p.Redacted && !dropThinking {
				w.thoughts = paragraph(w.thoughts, p.Text)
			}
		}
	}
}

// paragraph appends a text after a blank line.
func paragraph(dst []byte, text string) []byte {
	if len(dst) > 0 && text != "" {
		dst = append(dst, "\n\n"...)
	}
	return append(dst, text...)
}

func (w *transcriptWriter) call(c *cursortools.Call) {
	w.calls = append(w.calls, `,{"type":"tool_use","name":`...)
	w.calls = append(quote(w.calls, c.Name), `,"input":`...)
	if len(c.Input) == 0 {
		w.calls = append(w.calls, "{}"...)
	}
	w.calls = append(append(w.calls, c.Input...), '}')
}

// end writes the line of the message, if it has anything to say.
func (w *transcriptWriter) end() {
	if w.role != session.User && w.role != session.Assistant || len(w.said)+len(w.thoughts)+len(w.calls) == 0 {
		return
	}
	b := append(w.buf[:0], `{"role":"`...)
	b = append(append(b, w.role...), `","message":{"content":[`...)
	calls := w.calls
	if len(w.said)+len(w.thoughts) > 0 {
		b = w.block(append(b, `{"type":"text","text":`...))
	} else {
		calls = calls[1:]
	}
	b = append(append(b, calls...), `]}}`...)
	w.out.line(b)
	if w.buf = b[:0]; cap(b) > bufferMax {
		*w = transcriptWriter{out: w.out}
	}
}

// block appends the text and the thoughts of the message.
func (w *transcriptWriter) block(dst []byte) []byte {
	w.said = paragraph(w.said, string(w.thoughts))
	text := string(w.said)
	if w.wrap {
		text = "<" + envelope.Query + ">\n" + text + "\n</" + envelope.Query + ">"
	}
	return append(quote(dst, text), '}')
}

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

func (w *transcriptWriter) begin(m *session.Message) {
	w.role, w.wrap = m.Role, m.Role == session.User && !m.Simulated
	w.said, w.thoughts, w.calls = w.said[:0], w.thoughts[:0], w.calls[:0]
}

func (w *transcriptWriter) text(text string) {
	if len(w.said) > 0 {
		w.said = append(w.said, "\n\n"...)
	}
	w.said = append(w.said, text...)
}

// thinking is put after the text, without a mark.
func (w *transcriptWriter) thinking(text string) {
	if len(w.thoughts) > 0 {
		w.thoughts = append(w.thoughts, "\n\n"...)
	}
	w.thoughts = append(w.thoughts, text...)
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
	if len(w.thoughts) > 0 {
		if len(w.said) > 0 {
			w.said = append(w.said, "\n\n"...)
		}
		w.said = append(w.said, w.thoughts...)
	}
	text := string(w.said)
	if w.wrap {
		text = "<" + envelope.Query + ">\n" + text + "\n</" + envelope.Query + ">"
	}
	return append(quote(dst, text), '}')
}

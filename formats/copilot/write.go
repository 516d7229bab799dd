package copilot

import (
	"cmp"
	"encoding/base64"

	"rehome/formats/internal/filename"
	"rehome/formats/internal/lineclient"
	"rehome/formats/internal/object"
	"rehome/formats/session"
)

// spelling is how sessions are written: with the events that version 1.0.12 knows, which
// refuses a session with any other.
func spelling() *lineclient.Spelling {
	return &lineclient.Spelling{
		Path: func(_ *session.Head, id string) string { return "session-state/" + id + "/events.jsonl" },
		Head: start,
		Line: line,
		Mark: func(w *lineclient.Lines, data []byte) {
			event(w, "hook.end", func(p *object.Writer) {
				p.Text("hookInvocationId", w.UUID("hook"))
				p.Text("hookType", mark)
				p.Raw("output", data)
				p.Flag("success", true)
			})
		},
		Models: true,
		Texts:  true,
		UUIDs:  true,
	}
}

// start writes the first event, after its type.
func start(p *object.Writer, h *session.Head, id string) {
	at := h.Created.Time().Format("2006-01-02T15:04:05.000Z")
	p.Text("id", filename.NamedUUID("rehome/copilot/start\x00", id))
	p.Raw("parentId", []byte("null"))
	p.Text("timestamp", at)
	p.Name("data")
	in := object.New(p.B)
	in.Text("sessionId", id)
	in.Num("version", 1)
	in.Text("producer", mark)
	in.Text("copilotVersion", "1.0.12")
	in.Text("startTime", at)
	in.Name("context")
	context := object.New(in.B)
	context.Text("cwd", h.Workspace)
	in.B = context.Done()
	p.B = in.Done()
}

// event writes an event.
func event(w *lineclient.Lines, kind string, data func(p *object.Writer)) {
	p := w.New(kind)
	p.Name("data")
	in := object.New(p.B)
	data(&in)
	p.B = in.Done()
	w.Put(p)
}

func line(w *lineclient.Lines, s *lineclient.Said) {
	switch s.What {
	case lineclient.Compaction:
		event(w, "session.compaction_complete", func(p *object.Writer) {
			p.Flag("success", true)
			p.Text("summaryContent", lineclient.Words(s.Parts))
		})
	case lineclient.Answer:
		answers(w, s)
		for _, part := range s.Parts {
			if c, ok := part.(*session.ToolCall); ok {
				event(w, "tool.execution_start", func(p *object.Writer) {
					p.Text("toolCallId", c.ID)
					p.Text("toolName", c.Name)
					p.Raw("arguments", c.Input)
				})
			}
		}
	case lineclient.Result:
		event(w, "tool.execution_complete", func(p *object.Writer) { ended(p, s) })
	case lineclient.Command:
		for _, part := range s.Parts {
			one := *s
			one.What, one.Parts = lineclient.Context, []session.Part{part}
			event(w, "user.message", func(p *object.Writer) { asked(p, &one) })
		}
	default:
		event(w, "user.message", func(p *object.Writer) { asked(p, s) })
	}
}

// answers writes each text of an answer, and its calls with the last one.
func answers(w *lineclient.Lines, s *lineclient.Said) {
	var texts []string
	var calls []*session.ToolCall
	for _, part := range s.Parts {
		switch part := part.(type) {
		case *session.Text:
			texts = append(texts, part.Text)
		case *session.ToolCall:
			calls = append(calls, part)
		}
	}
	for i := range max(1, len(texts)) {
		event(w, "assistant.message", func(p *object.Writer) {
			text := ""
			if len(texts) > 0 {
				text = texts[i]
			}
			p.Text("messageId", w.UUID("message"))
			p.Text("content", text)
			p.NonEmpty("model", s.Model)
			last := calls
			if i < len(texts)-1 {
				last = nil
			}
			object.List(p, "toolRequests", last, request)
		})
	}
}

// request writes a call of an answer.
func request(p *object.Writer, c *session.ToolCall) {
	p.Text("toolCallId", c.ID)
	p.Text("name", c.Name)
	p.Raw("arguments", c.Input)
	p.Text("type", "function")
}

// ended writes the result of a call.
func ended(p *object.Writer, s *lineclient.Said) {
	p.Text("toolCallId", s.Result.Call)
	p.Flag("success", !s.Result.Error)
	name, text := "result", "content"
	if s.Result.Error {
		name, text = "error", "message"
	}
	p.Name(name)
	in := object.New(p.B)
	in.Text(text, lineclient.Words(s.Parts))
	images(&in, "contents", "image", s.Parts)
	p.B = in.Done()
}

// asked writes what the user says, or a client for the user, with images.
func asked(p *object.Writer, s *lineclient.Said) {
	p.Text("content", lineclient.Words(s.Parts))
	if s.What == lineclient.Context {
		p.Text("source", mark)
	}
	images(p, "attachments", "blob", s.Parts)
}

// images writes a list of images, if there are some.
func images(p *object.Writer, list, kind string, parts []session.Part) {
	var all []*session.Media
	for _, part := range parts {
		if m, ok := part.(*session.Media); ok {
			all = append(all, m)
		}
	}
	if all == nil {
		return
	}
	object.List(p, list, all, func(in *object.Writer, m *session.Media) {
		in.Text("type", kind)
		in.Text("data", base64.StdEncoding.EncodeToString(m.Data))
		in.Text("mimeType", m.Mime)
		if kind == "blob" {
			in.Text("displayName", cmp.Or(m.Name, "image"))
		}
	})
}

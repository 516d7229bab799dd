package write

import (
	"rehome/formats/claudecode/internal/outline"
	"rehome/formats/internal/object"
	"rehome/formats/session"
	"rehome/internal/rawjson"
)

// attached writes an attachment of Claude Code as the line that it was, so that the
// client makes of it what it made before; false if the parts are something else. A
// branch has none: the client would add it to the live one.
func (e *encoder) attached(m *session.Message, parts []session.Part) bool {
	t, ok := parts[0].(*session.Injected)
	if !ok || len(parts) > 1 || !e.own || e.branch != "" || len(t.Extras) > 0 || t.Tag == "" || rawjson.TextAt(t.Data, "type") != t.Tag {
		return false
	}
	if !outline.Attached(t.Tag, t.Data, t.Text != "") {
		return false
	}
	head := session.Message{ID: m.ID, At: m.At}
	extras := m.Extras
	e.later(len(t.Data)+len(t.Text), func() {
		e.send(len(t.Text))
		e.chained("attachment", head.At, func(p *object.Writer) {
			p.Raw("attachment", t.Data)
			if t.Text != "" {
				p.Name("rendered")
				p.B = append(session.AppendString(append(p.B, `[{"content":`...), t.Text), "}]"...)
			}
			for _, x := range extras {
				if x.Name == "renderedRole" || x.Name == "renderedBesideToolResult" {
					p.Raw(x.Name, x.Raw)
				}
			}
			e.mark(p, &head, nil)
		})
	})
	return true
}

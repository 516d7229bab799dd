package read

import (
	"slices"
	"strings"

	"rehome/formats/claudecode/internal/outline"
	"rehome/formats/claudecode/internal/shape"
	"rehome/formats/internal/members"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/internal/rawjson"
)

// attachment converts context that the client added. What the client does not send to
// the model is a record of its own, and nobody's words: it is carried raw.
func (w *walker) attachment(i int, f *members.Object, m *session.Message) bool {
	record := f.Raw(shape.Attached)
	kind := rawjson.TextAt(record, "type")
	raw := members.Bare("attachment", record)
	text, rendered := rendered(f.Raw(shape.Rendered))
	if outline.Attached(kind, record, rendered) {
		m.Role = session.User
		m.Parts = []session.Part{&session.Injected{Tag: kind, Text: text, Data: raw}}
	} else {
		rendered = false
		if !outline.KnownAttachment(kind) {
			w.note(loss.AttachmentUnknown, i)
		}
		w.account.Converted--
		w.account.CarriedRaw++
		m.Role = session.System
		m.Parts = []session.Part{&session.Opaque{Kind: "attachment/" + kind, Raw: raw}}
	}
	if !rendered || !plain(f.Raw(shape.Rendered)) {
		f.Keep(shape.Rendered)
	}
	m.Simulated = m.Role == session.User
	w.settle(f, &m.Extras)
	return w.put(m)
}

// rendered returns the text that the client made of an attachment, and sends again;
// false if the client does not accept it.
func rendered(raw []byte) (text string, ok bool) {
	var texts []string
	for r := range rawjson.Elements(raw) {
		content := rawjson.Last(r, "content")
		blocks := 0
		for b := range rawjson.Elements(content) {
			blocks++
			texts = append(texts, rawjson.TextAt(b, "text"))
		}
		if blocks == 0 {
			texts = append(texts, rawjson.Text(content))
		}
	}
	return strings.Join(texts, "\n"), len(texts) > 0 && !slices.Contains(texts, "")
}

// plain reports whether the text is all that the client made of an attachment.
func plain(raw []byte) bool {
	for r := range rawjson.Elements(raw) {
		if !outline.Only(r, "content") {
			return false
		}
		for b := range rawjson.Elements(rawjson.Last(r, "content")) {
			if !outline.Only(b, "type", "text") || rawjson.TextAt(b, "type") != "text" {
				return false
			}
		}
	}
	return true
}

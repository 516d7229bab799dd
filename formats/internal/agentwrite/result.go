package agentwrite

import (
	"bytes"
	"strings"

	"rehome/formats/internal/cursortools"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/internal/rawjson"
)

// content writes what the model saw of a result.
func (c *Conversation) content(p *prompt, k *call, r *session.ToolResult) {
	parts := c.visible(k, r)
	if len(parts) == 1 {
		if t, ok := parts[0].(*session.Text); ok {
			c.extras(t.Extras)
			p.text("result", t.Text)
			return
		}
	}
	p.name("result")
	if c.texts(p, parts) {
		p.name("experimental_content")
		c.media(p, parts)
	}
}

// visible returns what the model saw of a result. Where the source does not say so, that
// follows from the client's record.
func (c *Conversation) visible(k *call, r *session.ToolResult) []session.Part {
	parts := r.Content
	if len(parts) == 0 {
		if text := cursortools.Shown(k.spelled.Kind, r.Value); strings.TrimSpace(text) != "" {
			parts = append(parts, &session.Text{Text: text})
		}
		for _, data := range cursortools.Images(r.Value) {
			parts = append(parts, &session.Media{Mime: imageType(data), Data: data})
		}
		if len(parts) > 0 {
			c.note(loss.ResultFromRecord)
		}
	}
	return parts
}

// texts writes the texts of a result as a list, and reports whether it has images or files,
// too.
func (c *Conversation) texts(p *prompt, parts []session.Part) (media bool) {
	p.b = append(p.b, '[')
	for _, part := range parts {
		switch part := part.(type) {
		case *session.Text:
			c.extras(part.Extras)
			p.element(part.Text)
		case *session.Media:
			media = media || part.Data != nil
			if part.Data == nil {
				c.note(loss.ResultMediaNamed)
				p.element(named(part))
			}
		case *session.Opaque:
			if !keeps(part) {
				c.note(loss.PartOpaque)
				continue
			}
			p.comma()
			p.b = append(p.b, part.Raw...)
		default:
			c.note(loss.PartOpaque)
		}
	}
	p.b = append(p.b, ']')
	return media
}

// media writes a result with images or files as models' APIs take it.
func (c *Conversation) media(p *prompt, parts []session.Part) {
	p.b = append(p.b, '[')
	for _, part := range parts {
		switch part := part.(type) {
		case *session.Text:
			p.element(part.Text)
		case *session.Media:
			c.extras(part.Extras)
			if part.Data == nil {
				p.element(named(part))
				continue
			}
			if part.Name != "" || part.URI != "" {
				c.note(loss.PartMetadata)
			}
			p.comma()
			p.shown(part)
		}
	}
	p.b = append(p.b, ']')
}

// imageType returns the type of an image, which results do not always state.
func imageType(data []byte) string {
	for prefix, kind := range map[string]string{"\xff\xd8": "image/jpeg", "GIF8": "image/gif", "RIFF": "image/webp"} {
		if bytes.HasPrefix(data, []byte(prefix)) {
			return kind
		}
	}
	return "image/png"
}

// keeps reports whether reading gives an element of a result back as it is.
func keeps(o *session.Opaque) bool {
	kind := rawjson.TextAt(o.Raw, "type")
	return len(o.Raw) > 0 && o.Raw[0] == '{' && kind == o.Kind && kind != "" && kind != "text" && kind != "image" && kind != "file"
}

// element writes a text as an element of a result.
func (p *prompt) element(text string) {
	p.comma()
	p.b = append(p.b, `{"type":"text"`...)
	p.text("text", text)
	p.end()
}

func (p *prompt) comma() {
	if p.b[len(p.b)-1] != '[' {
		p.b = append(p.b, ',')
	}
}

// named describes an image or a file whose content is not known.
func named(m *session.Media) string {
	words := "[" + m.Mime
	for _, more := range []string{m.Name, m.URI} {
		if more != "" {
			words += " " + more
		}
	}
	return words + "]"
}

package agentwrite

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"strings"
	"unicode/utf8"

	"rehome/formats/internal/agentstate"
	"rehome/formats/loss"
	"rehome/formats/session"
)

// prompt is a prompt message that is being written.
type prompt struct {
	b     []byte
	parts int
}

func (c *Conversation) newPrompt(role session.Role) *prompt {
	p := &prompt{b: append(c.buf[:0], `{"role":"`...)}
	p.b = append(append(p.b, role...), '"')
	return p
}

func (p *prompt) name(name string) {
	if last := p.b[len(p.b)-1]; last != '{' && last != '[' {
		p.b = append(p.b, ',')
	}
	p.b = append(append(append(p.b, '"'), name...), `":`...)
}

func (p *prompt) text(name, text string) {
	p.name(name)
	p.b = session.AppendString(p.b, text)
}

// raw writes a member that is JSON already.
func (p *prompt) raw(name string, value []byte) {
	p.name(name)
	p.b = append(p.b, value...)
}

// part begins a part of the content.
func (p *prompt) part(kind string) {
	if p.parts++; p.parts == 1 {
		p.name("content")
		p.b = append(p.b, '[')
	} else {
		p.b = append(p.b, ',')
	}
	p.b = append(append(append(p.b, `{"type":"`...), kind...), '"')
}

// end ends a part.
func (p *prompt) end() { p.b = append(p.b, '}') }

// textPart writes a text with its mark.
func (p *prompt) textPart(text string, given provided, mark []byte) {
	p.part("text")
	p.text("text", text)
	p.options(given, mark)
	p.end()
}

// options writes providerOptions: members of Cursor's own, of the mark, other providers.
func (p *prompt) options(given provided, mark []byte) {
	if len(given.cursor)+len(given.others)+len(mark) == 0 {
		return
	}
	p.name("providerOptions")
	p.b = append(p.b, '{')
	for _, o := range [...]struct {
		name    string
		members []byte
	}{{"cursor", given.cursor}, {agentstate.MarkName, mark}} {
		if len(o.members) > 0 {
			p.name(o.name)
			p.b = append(append(append(p.b, '{'), o.members...), '}')
		}
	}
	if len(given.others) > 0 {
		if p.b[len(p.b)-1] != '{' {
			p.b = append(p.b, ',')
		}
		p.b = append(p.b, given.others...)
	}
	p.end()
}

// media writes an image or a file.
func (p *prompt) media(m *session.Media, user bool) {
	kind, member := "file", "data"
	if user && strings.HasPrefix(m.Mime, "image/") {
		kind, member = "image", "image"
	}
	p.part(kind)
	if m.Data != nil {
		p.name(member)
		p.b = append(p.b, `{"__type":"Uint8Array","hex":"`...)
		p.b = append(hex.AppendEncode(p.b, m.Data), `"}`...)
	} else {
		p.text(member, m.URI)
	}
	if m.Name != "" {
		p.text("filename", m.Name)
	}
	if m.Mime != "" {
		p.text("mimeType", m.Mime)
	}
	p.end()
}

// shown writes an image or a file of a tool's result, in base64 as models' APIs take it.
func (p *prompt) shown(m *session.Media) {
	kind := "file"
	if strings.HasPrefix(m.Mime, "image/") {
		kind = "image"
	}
	p.b = append(append(append(p.b, `{"type":"`...), kind...), `","data":"`...)
	p.b = append(base64.StdEncoding.AppendEncode(p.b, m.Data), '"')
	if m.Mime != "" {
		p.text("mimeType", m.Mime)
	}
	p.end()
}

// put ends a prompt message, and stores it as the next one.
func (c *Conversation) put(ctx context.Context, p *prompt, cursor, mark []byte) error {
	id, err := c.seal(ctx, p, cursor, mark)
	c.prompts = append(c.prompts, id)
	return err
}

// seal ends a prompt message and stores it.
func (c *Conversation) seal(ctx context.Context, p *prompt, cursor, mark []byte) (agentstate.ID, error) {
	p.close(c.given.with(cursor), mark)
	c.given = provided{}
	if c.buf = p.b; cap(p.b) > maxBuffer {
		c.buf = nil
	}
	return c.b.Blob(ctx, p.b)
}

// close ends the JSON of a prompt message.
func (p *prompt) close(o provided, mark []byte) {
	switch {
	case p.parts > 0:
		p.b = append(p.b, ']')
	case p.parts == 0:
		p.raw("content", []byte("[]"))
	}
	p.options(o, mark)
	p.end()
}

// maxBuffer is the size of the largest buffer that is used again.
const maxBuffer = 1 << 20

// clean returns a text as valid UTF-8, which protobuf requires.
func (c *Conversation) clean(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	c.note(loss.TextRepaired)
	return valid(text)
}

func valid(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }

// member appends a member of an option.
func member(dst []byte, name, text string) []byte {
	if len(dst) > 0 {
		dst = append(dst, ',')
	}
	return session.AppendString(append(session.AppendString(dst, name), ':'), text)
}

// times appends the times of a message to its mark, if they are not those that reading
// would find.
func times(mark []byte, m *session.Message, at, end session.Stamp) []byte {
	if m.At != at {
		mark = moment(mark, "at", m.At)
	}
	if m.End != end {
		mark = moment(mark, "end", m.End)
	}
	return mark
}

func moment(mark []byte, name string, at session.Stamp) []byte {
	if !at.Known() {
		return member(mark, name, "")
	}
	if len(mark) > 0 {
		mark = append(mark, ',')
	}
	return session.AppendStamp(append(session.AppendString(mark, name), ':'), at)
}

// flag appends a member that is true.
func flag(mark []byte, name string) []byte {
	if len(mark) > 0 {
		mark = append(mark, ',')
	}
	return append(session.AppendString(mark, name), ":true"...)
}

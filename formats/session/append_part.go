package session

import "unicode/utf8"

// The kinds of part, as the lines name them.
const (
	textPart     = "text"
	injectedPart = "context"
	thinkingPart = "thinking"
	callPart     = "tool_call"
	resultPart   = "tool_result"
	mediaPart    = "media"
	summaryPart  = "summary"
	boundaryPart = "boundary"
	opaquePart   = "opaque"
)

func (p *pen) parts(name string, list []Part) {
	if len(list) == 0 {
		return
	}
	p.name(name)
	p.open('[')
	for _, part := range list {
		p.next()
		p.open('{')
		p.part(part)
		p.close('}')
	}
	p.close(']')
}

func (p *pen) part(part Part) {
	switch t := part.(type) {
	case *Text:
		p.mustText("type", textPart)
		p.mustText("text", t.Text)
		p.text("from", t.From)
		p.extras(t.Extras)
	case *Injected:
		p.mustText("type", injectedPart)
		p.text("tag", t.Tag)
		p.text("text", t.Text)
		p.raw("data", t.Data)
		p.text("from", t.From)
		p.extras(t.Extras)
	case *Thinking:
		p.mustText("type", thinkingPart)
		p.text("text", t.Text)
		p.text("signature", t.Signature)
		p.flag("redacted", t.Redacted)
		p.text("data", t.Data)
		p.num("millis", t.Millis)
		p.stamp("start", t.Start)
		p.stamp("end", t.End)
		p.text("from", t.From)
		p.extras(t.Extras)
	case *ToolCall:
		p.call(t)
	case *ToolResult:
		p.mustText("type", resultPart)
		p.mustText("call", t.Call)
		p.text("status", t.Status)
		p.flag("error", t.Error)
		p.parts("content", t.Content)
		p.raw("value", t.Value)
		p.text("from", t.From)
		p.extras(t.Extras)
	case *Media:
		p.media(t)
	case *Summary:
		p.mustText("type", summaryPart)
		p.mustText("text", t.Text)
		p.text("from", t.From)
		p.extras(t.Extras)
	case *Boundary:
		p.mustText("type", boundaryPart)
		p.num("archived", int64(t.Archived))
		p.extras(t.Extras)
	case *Opaque:
		p.mustText("type", opaquePart)
		p.text("kind", t.Kind)
		p.raw("raw", t.Raw)
		p.text("from", t.From)
	}
}

func (p *pen) call(t *ToolCall) {
	p.mustText("type", callPart)
	p.mustText("id", t.ID)
	p.mustText("name", t.Name)
	p.text("kind", t.Kind)
	p.raw("input", t.Input)
	p.raw("args", t.Args)
	p.stamp("start", t.Start)
	p.stamp("end", t.End)
	p.text("child", t.Child)
	p.text("from", t.From)
	p.extras(t.Extras)
}

func (p *pen) media(t *Media) {
	p.mustText("type", mediaPart)
	p.text("mime", t.Mime)
	p.text("name", t.Name)
	if t.Data != nil {
		p.bytes("base64", t.Data)
	}
	p.text("uri", t.URI)
	p.text("from", t.From)
	p.extras(t.Extras)
}

// body spells a file's content as text where it is text, so that it can be
// read and compared.
func (p *pen) body(name string, b *Body) {
	if b == nil {
		return
	}
	p.name(name)
	p.open('{')
	if utf8.Valid(b.Bytes) {
		p.mustText("text", string(b.Bytes))
	} else {
		p.bytes("base64", b.Bytes)
	}
	p.close('}')
}

package session

import "unicode/utf8"

// The types of parts in a line.
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

func (w *jsonWriter) parts(name string, list []Part) {
	writeObjects(w, name, list, func(p *Part) { w.part(*p) })
}

func (w *jsonWriter) part(part Part) {
	switch t := part.(type) {
	case *Text:
		w.mustText("type", textPart)
		w.mustText("text", t.Text)
		w.text("from", t.From)
		w.extras(t.Extras)
	case *Injected:
		w.mustText("type", injectedPart)
		w.text("tag", t.Tag)
		w.text("text", t.Text)
		w.raw("data", t.Data)
		w.text("from", t.From)
		w.extras(t.Extras)
	case *Thinking:
		w.mustText("type", thinkingPart)
		w.text("text", t.Text)
		w.text("signature", t.Signature)
		w.flag("redacted", t.Redacted)
		w.text("data", t.Data)
		w.num("millis", t.Millis)
		w.stamp("start", t.Start)
		w.stamp("end", t.End)
		w.text("from", t.From)
		w.extras(t.Extras)
	case *ToolCall:
		w.call(t)
	case *ToolResult:
		w.mustText("type", resultPart)
		w.mustText("call", t.Call)
		w.text("status", t.Status)
		w.flag("error", t.Error)
		w.parts("content", t.Content)
		w.raw("value", t.Value)
		w.text("from", t.From)
		w.extras(t.Extras)
	case *Media:
		w.media(t)
	case *Summary:
		w.mustText("type", summaryPart)
		w.mustText("text", t.Text)
		w.text("from", t.From)
		w.extras(t.Extras)
	case *Boundary:
		w.mustText("type", boundaryPart)
		w.num("archived", int64(t.Archived))
		w.extras(t.Extras)
	case *Opaque:
		w.mustText("type", opaquePart)
		w.text("kind", t.Kind)
		w.raw("raw", t.Raw)
		w.text("from", t.From)
	}
}

func (w *jsonWriter) call(t *ToolCall) {
	w.mustText("type", callPart)
	w.mustText("id", t.ID)
	w.mustText("name", t.Name)
	w.text("kind", t.Kind)
	w.raw("input", t.Input)
	w.raw("args", t.Args)
	w.stamp("start", t.Start)
	w.stamp("end", t.End)
	w.text("child", t.Child)
	w.text("from", t.From)
	w.extras(t.Extras)
}

func (w *jsonWriter) media(t *Media) {
	w.mustText("type", mediaPart)
	w.text("mime", t.Mime)
	w.text("name", t.Name)
	if t.Data != nil {
		w.bytes("base64", t.Data)
	}
	w.text("uri", t.URI)
	w.text("from", t.From)
	w.extras(t.Extras)
}

// body writes the content of a file as text if it is text, so that people can read
// and compare it, and otherwise in base64.
func (w *jsonWriter) body(name string, b *Body) {
	if b == nil {
		return
	}
	w.name(name)
	w.open('{')
	if utf8.Valid(b.Bytes) {
		w.mustText("text", string(b.Bytes))
	} else {
		w.bytes("base64", b.Bytes)
	}
	w.close('}')
}

package read

import (
	"bytes"
	"encoding/base64"

	"rehome/formats/claudecode/internal/outline"
	"rehome/formats/claudecode/internal/tools"
	"rehome/formats/internal/members"
	"rehome/formats/internal/rawjson"
	"rehome/formats/session"
)

// parts converts the blocks of a message or a result.
func (w *walker) parts(content []byte, extras *[]session.Extra) (out []session.Part) {
	switch {
	case len(content) == 0:
	case content[0] == '"':
		return []session.Part{&session.Text{Text: rawjson.Text(content)}}
	case content[0] != '[':
		return []session.Part{&session.Opaque{Kind: "content", Raw: bytes.Clone(content)}}
	}
	for b := range rawjson.Elements(content) {
		out = append(out, w.part(b, extras))
	}
	return out
}

func (w *walker) part(b []byte, extras *[]session.Extra) session.Part {
	f := &members.Object{}
	kind := outline.Text(b, "type")
	split := func(names ...string) { f.Split(b, kind+".", append([]string{"type"}, names...)) }
	switch kind {
	case "text":
		split("text")
		t := &session.Text{Text: f.Text(1)}
		w.settle(f, &t.Extras)
		return t
	case "thinking":
		split("thinking", "signature")
		t := &session.Thinking{Text: f.Text(1), Signature: f.Text(2)}
		w.settle(f, &t.Extras)
		return t
	case "redacted_thinking":
		split("data")
		t := &session.Thinking{Redacted: true, Data: f.Text(1)}
		w.settle(f, &t.Extras)
		return t
	case "tool_use":
		split("id", "name", "input")
		c := &session.ToolCall{ID: f.Text(1), Name: f.Text(2), Input: bytes.Clone(f.Raw(3))}
		c.Kind, c.Child = tools.FromClaude(c.Name), w.calls[c.ID]
		w.settle(f, &c.Extras)
		return c
	case "tool_result":
		split("tool_use_id", "content", "is_error")
		r := &session.ToolResult{Call: f.Text(1), Error: f.Flag(3), Status: "success"}
		if r.Error {
			r.Status = "error"
		}
		r.Content = w.parts(f.Raw(2), extras)
		w.settle(f, &r.Extras)
		return r
	case "image", "document":
		if m := media(b); m != nil {
			return m
		}
	}
	return &session.Opaque{Kind: kind, Raw: bytes.Clone(b)}
}

// media returns an image or a document, nil if it is not valid base64.
func media(b []byte) *session.Media {
	source := rawjson.Last(b, "source")
	if outline.Text(source, "type") != "base64" || !outline.Only(b, "type", "source") || !outline.Only(source, "type", "media_type", "data") {
		return nil
	}
	data, err := base64.StdEncoding.Strict().DecodeString(outline.Text(source, "data"))
	if err != nil {
		return nil
	}
	return &session.Media{Mime: outline.Text(source, "media_type"), Data: data}
}

package read

import (
	"bytes"
	"encoding/base64"

	"rehome/formats/claudecode/internal/outline"
	"rehome/formats/claudecode/internal/tools"
	"rehome/formats/session"
	"rehome/internal/rawjson"
)

// blocks lists the members of each type of block, and the prefix of its others.
var blocks = map[string]struct {
	path  string
	names []string
}{
	"text":              {"text.", []string{"type", "text"}},
	"thinking":          {"thinking.", []string{"type", "thinking", "signature"}},
	"redacted_thinking": {"redacted_thinking.", []string{"type", "data"}},
	"tool_use":          {"tool_use.", []string{"type", "id", "name", "input"}},
	"tool_result":       {"tool_result.", []string{"type", "tool_use_id", "content", "is_error"}},
}

// parts converts the blocks of a message or a result.
func (w *walker) parts(content []byte) (out []session.Part) {
	switch {
	case len(content) == 0:
	case content[0] == '"':
		return []session.Part{&session.Text{Text: rawjson.Text(content)}}
	case content[0] != '[':
		return []session.Part{&session.Opaque{Kind: "content", Raw: bytes.Clone(content)}}
	}
	for b := range rawjson.Elements(content) {
		out = append(out, w.part(b))
	}
	return out
}

// split splits a block into w.block, and returns its type. Types that are not in
// the table are not split.
func (w *walker) split(b []byte) (kind string) {
	for name, v := range rawjson.Members(b) {
		if string(name) == "type" {
			kind = rawjson.Text(v)
			break
		}
	}
	if known, ok := blocks[kind]; ok && w.block.Split(b, known.path, known.names) && rawjson.Text(w.block.Raw(0)) == kind {
		return kind
	}
	kind = outline.Text(b, "type") // of several, the last one
	if known, ok := blocks[kind]; ok {
		w.block.Split(b, known.path, known.names)
	}
	return kind
}

func (w *walker) part(b []byte) session.Part {
	f := &w.block
	kind := w.split(b)
	switch kind {
	case "text":
		t := &session.Text{Text: f.Text(1)}
		w.settle(f, &t.Extras)
		return t
	case "thinking":
		t := &session.Thinking{Text: f.Text(1), Signature: f.Text(2)}
		w.settle(f, &t.Extras)
		return t
	case "redacted_thinking":
		t := &session.Thinking{Redacted: true, Data: f.Text(1)}
		w.settle(f, &t.Extras)
		return t
	case "tool_use":
		c := &session.ToolCall{ID: f.Text(1), Name: f.Text(2), Input: bytes.Clone(f.Raw(3))}
		c.Kind, c.Child = tools.FromClaude(c.Name), w.calls[c.ID]
		w.settle(f, &c.Extras)
		return c
	case "tool_result":
		r := &session.ToolResult{Call: f.Text(1), Error: f.Flag(3), Status: "success"}
		if r.Error {
			r.Status = "error"
		}
		content := f.Raw(2)
		w.settle(f, &r.Extras)
		r.Content = w.parts(content)
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

package read

import (
	"bytes"
	"encoding/base64"

	"rehome/formats/claudecode/internal/tools"
	"rehome/formats/internal/members"
	"rehome/formats/session"
	"rehome/internal/rawjson"
)

// blockMembers returns the members of a type of block, and the prefix of its others.
func blockMembers(kind string) (path string, names []string, known bool) {
	switch kind {
	case "text":
		names = []string{"type", "text"}
	case "thinking":
		names = []string{"type", "thinking", "signature"}
	case "redacted_thinking":
		names = []string{"type", "data"}
	case "tool_use":
		names = []string{"type", "id", "name", "input"}
	case "tool_result":
		names = []string{"type", "tool_use_id", "content", "is_error"}
	default:
		return "", nil, false
	}
	return kind + ".", names, true
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
	if path, names, ok := blockMembers(kind); ok && w.block.Split(b, path, names) && rawjson.Text(w.block.Raw(0)) == kind {
		return kind
	}
	kind = rawjson.TextAt(b, "type") // of several, the last one
	if path, names, ok := blockMembers(kind); ok {
		w.block.Split(b, path, names)
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
		if m := w.media(kind, b); m != nil {
			return m
		}
	}
	return &session.Opaque{Kind: kind, Raw: bytes.Clone(b)}
}

// media returns an image or a document, nil if it is not valid base64.
func (w *walker) media(kind string, b []byte) *session.Media {
	var block, source members.Object
	block.Split(b, kind+".", []string{"type", "source"})
	if !source.Split(block.Raw(1), kind+".source.", []string{"type", "media_type", "data"}) || source.Text(0) != "base64" {
		return nil
	}
	data, err := base64.StdEncoding.Strict().DecodeString(source.Text(2))
	if err != nil {
		return nil
	}
	m := &session.Media{Mime: source.Text(1), Data: data}
	w.settle(&block, &m.Extras)
	w.settle(&source, &m.Extras)
	return m
}

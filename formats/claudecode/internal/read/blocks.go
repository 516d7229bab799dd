package read

import (
	"bytes"
	"encoding/base64"

	"rehome/formats/claudecode/internal/shape"
	"rehome/formats/claudecode/internal/tools"
	"rehome/formats/internal/members"
	"rehome/formats/session"
	"rehome/internal/rawjson"
)

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

// split splits a block into w.block, and returns its type. Types of which no part is made
// are not split.
func (w *walker) split(b []byte) (kind string, fate shape.Fate) {
	for name, v := range rawjson.Members(b) {
		if string(name) == "type" {
			kind = rawjson.Text(v)
			break
		}
	}
	for range 2 {
		t := shape.Blocks[kind]
		if t != nil && t.Members != nil && w.block.Split(b, kind+".", t.Members) && rawjson.Text(w.block.Raw(0)) == kind {
			return kind, t.Fate
		}
		kind = rawjson.TextAt(b, "type") // of several, the last one
	}
	return kind, shape.Opaque
}

func (w *walker) part(b []byte) session.Part {
	f := &w.block
	kind, fate := w.split(b)
	switch fate {
	case shape.Text:
		t := &session.Text{Text: f.Text(1)}
		w.settle(f, &t.Extras)
		return t
	case shape.Thinking:
		t := &session.Thinking{Text: f.Text(1), Signature: f.Text(2)}
		w.settle(f, &t.Extras)
		return t
	case shape.Redacted:
		t := &session.Thinking{Redacted: true, Data: f.Text(1)}
		w.settle(f, &t.Extras)
		return t
	case shape.Call:
		c := &session.ToolCall{ID: f.Text(1), Name: f.Text(2), Input: bytes.Clone(f.Raw(3))}
		c.Kind, c.Child = tools.FromClaude(c.Name), w.calls[c.ID]
		w.settle(f, &c.Extras)
		return c
	case shape.Answer:
		r := &session.ToolResult{Call: f.Text(1), Error: f.Flag(3), Status: "success"}
		if r.Error {
			r.Status = "error"
		}
		content := f.Raw(2)
		w.settle(f, &r.Extras)
		r.Content = w.parts(content)
		return r
	case shape.Media:
		if m := w.media(kind); m != nil {
			return m
		}
	}
	return &session.Opaque{Kind: kind, Raw: bytes.Clone(b)}
}

// media returns the image or document in w.block, nil if it is not valid base64.
func (w *walker) media(kind string) *session.Media {
	var source members.Object
	if !source.Split(w.block.Raw(1), kind+".source.", []string{"type", "media_type", "data"}) || source.Text(0) != "base64" {
		return nil
	}
	data, err := base64.StdEncoding.Strict().DecodeString(source.Text(2))
	if err != nil {
		return nil
	}
	m := &session.Media{Mime: source.Text(1), Data: data}
	w.settle(&w.block, &m.Extras)
	w.settle(&source, &m.Extras)
	return m
}

package canonical

import (
	"strconv"

	"rehome/formats/internal/rawjson"
	"rehome/formats/session"
)

// part reads one part of any type. The members that every type may have are
// told apart by where they go.
func (p *parser) part(v []byte, rest *[]session.Extra, path string, i int) session.Part {
	kind := rawjson.Text(first(v, "type"))
	switch kind {
	case "text":
		t := &session.Text{}
		p.walk(v, &t.Extras, &t.From, func(name string, v []byte) bool { return name == "text" && text(&t.Text, v) })
		return t
	case "summary":
		t := &session.Summary{}
		p.walk(v, &t.Extras, &t.From, func(name string, v []byte) bool { return name == "text" && text(&t.Text, v) })
		return t
	case "boundary":
		t := &session.Boundary{}
		p.walk(v, &t.Extras, nil, func(name string, v []byte) bool { return name == "archived" && count(&t.Archived, v) })
		return t
	case "context":
		return p.injected(v)
	case "thinking":
		return p.thinking(v)
	case "tool_call":
		return p.call(v)
	case "tool_result":
		return p.result(v)
	case "media":
		return p.media(v)
	case "opaque":
		return p.opaque(v, rest, path+strconv.Itoa(i)+"/")
	}
	p.members++
	p.extras++
	return &session.Opaque{Kind: kind, Raw: whole(v)}
}

// first is the value of the first member of that name.
func first(v []byte, want string) []byte {
	for name, v := range rawjson.Members(v) {
		if string(name) == want {
			return v
		}
	}
	return nil
}

// walk goes over the members of a part: its type and the members that all have
// are taken here, the rest by own.
func (p *parser) walk(v []byte, extras *[]session.Extra, from *string, own func(name string, v []byte) bool) {
	typed := false
	for name, v := range rawjson.Members(v) {
		took := false
		switch string(name) {
		case "type":
			took, typed = !typed, true
		case "from":
			took = from != nil && text(from, v)
		case "extras":
			took = p.list(extras, v)
		default:
			took = own(string(name), v)
		}
		p.saw(took, extras, "", name, v)
	}
}

func (p *parser) injected(v []byte) *session.Injected {
	t := &session.Injected{}
	p.walk(v, &t.Extras, &t.From, func(name string, v []byte) bool {
		switch name {
		case "tag":
			return text(&t.Tag, v)
		case "text":
			return text(&t.Text, v)
		case "data":
			return raw(&t.Data, v)
		}
		return false
	})
	return t
}

func (p *parser) thinking(v []byte) *session.Thinking {
	t := &session.Thinking{}
	p.walk(v, &t.Extras, &t.From, func(name string, v []byte) bool {
		switch name {
		case "text":
			return text(&t.Text, v)
		case "signature":
			return text(&t.Signature, v)
		case "redacted":
			return flag(&t.Redacted, v)
		case "data":
			return text(&t.Data, v)
		case "millis":
			return number(&t.Millis, v, 0)
		case "start":
			return stamp(&t.Start, v)
		case "end":
			return stamp(&t.End, v)
		}
		return false
	})
	return t
}

func (p *parser) call(v []byte) *session.ToolCall {
	t := &session.ToolCall{}
	p.walk(v, &t.Extras, &t.From, func(name string, v []byte) bool {
		switch name {
		case "id":
			return text(&t.ID, v)
		case "name":
			return text(&t.Name, v)
		case "kind":
			return text(&t.Kind, v)
		case "input":
			return raw(&t.Input, v)
		case "args":
			return raw(&t.Args, v)
		case "start":
			return stamp(&t.Start, v)
		case "end":
			return stamp(&t.End, v)
		case "child":
			return text(&t.Child, v)
		}
		return false
	})
	return t
}

func (p *parser) result(v []byte) *session.ToolResult {
	t := &session.ToolResult{}
	p.walk(v, &t.Extras, &t.From, func(name string, v []byte) bool {
		switch name {
		case "call":
			return text(&t.Call, v)
		case "status":
			return text(&t.Status, v)
		case "error":
			return flag(&t.Error, v)
		case "content":
			return p.parts(&t.Content, &t.Extras, "content/", v)
		case "value":
			return raw(&t.Value, v)
		}
		return false
	})
	return t
}

func (p *parser) media(v []byte) *session.Media {
	t := &session.Media{}
	p.walk(v, &t.Extras, &t.From, func(name string, v []byte) bool {
		switch name {
		case "mime":
			return text(&t.Mime, v)
		case "name":
			return text(&t.Name, v)
		case "base64":
			return blob(&t.Data, v)
		case "uri":
			return text(&t.URI, v)
		}
		return false
	})
	return t
}

// opaque has no Extras of its own.
func (p *parser) opaque(v []byte, rest *[]session.Extra, path string) *session.Opaque {
	t := &session.Opaque{}
	typed := false
	for name, v := range rawjson.Members(v) {
		took := false
		switch string(name) {
		case "type":
			took, typed = !typed, true
		case "kind":
			took = text(&t.Kind, v)
		case "raw":
			took = raw(&t.Raw, v)
		case "from":
			took = text(&t.From, v)
		}
		p.saw(took, rest, path, name, v)
	}
	return t
}

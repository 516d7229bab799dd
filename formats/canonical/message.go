package canonical

import (
	"errors"

	"rehome/formats/internal/rawjson"
	"rehome/formats/session"
)

func (p *parser) message(line []byte) (*session.Message, error) {
	m := &session.Message{}
	var kind, role string
	named := false
	for name, v := range rawjson.Members(line) {
		took := false
		switch string(name) {
		case "type":
			took = text(&kind, v)
		case "id":
			took = !named && text(&m.ID, v)
			named = named || took
		case "parent":
			took = text(&m.Parent, v)
		case "branch":
			took = text(&m.Branch, v)
		case "role":
			took = text(&role, v)
		case "turn":
			if took = m.Turn == nil && isObject(v); took {
				m.Turn = &session.Turn{}
				p.turn(m.Turn, v)
			}
		case "at":
			took = stamp(&m.At, v)
		case "end":
			took = stamp(&m.End, v)
		case "model":
			took = text(&m.Model, v)
		case "simulated":
			took = flag(&m.Simulated, v)
		case "archived":
			took = flag(&m.Archived, v)
		case "parts":
			took = p.parts(&m.Parts, &m.Extras, "parts/", v)
		case "origin":
			took = texts(&m.Origin, v)
		case "extras":
			took = p.list(&m.Extras, v)
		}
		p.saw(took, &m.Extras, "", name, v)
	}
	m.Role = session.Role(role)
	if !named || role == "" {
		return nil, errors.New("message without an id or a role")
	}
	return m, nil
}

func (p *parser) turn(t *session.Turn, v []byte) {
	for name, v := range rawjson.Members(v) {
		took := false
		switch string(name) {
		case "number":
			took = count(&t.Number, v)
		case "id":
			took = text(&t.ID, v)
		case "requestId":
			took = text(&t.RequestID, v)
		case "kind":
			took = text(&t.Kind, v)
		case "model":
			took = text(&t.Model, v)
		case "mode":
			took = text(&t.Mode, v)
		case "status":
			took = text(&t.Status, v)
		case "error":
			took = text(&t.Error, v)
		case "usage":
			if took = t.Usage == nil && isObject(v); took {
				none := session.UnknownUsage()
				t.Usage = &none
				p.usage(t.Usage, &t.Extras, v)
			}
		case "start":
			took = stamp(&t.Start, v)
		case "end":
			took = stamp(&t.End, v)
		case "extras":
			took = p.list(&t.Extras, v)
		}
		p.saw(took, &t.Extras, "", name, v)
	}
}

func (p *parser) usage(u *session.Usage, rest *[]session.Extra, v []byte) {
	for name, v := range rawjson.Members(v) {
		var n *int64
		switch string(name) {
		case "input":
			n = &u.Input
		case "output":
			n = &u.Output
		case "cacheRead":
			n = &u.CacheRead
		case "cacheWrite":
			n = &u.CacheWrite
		case "reasoning":
			n = &u.Reasoning
		case "total":
			n = &u.Total
		}
		p.saw(n != nil && v[0] != '-' && number(n, v, -1), rest, "usage/", name, v)
	}
}

// parts reads the parts of a message or of a result. What a part has no place
// for goes to rest.
func (p *parser) parts(dst *[]session.Part, rest *[]session.Extra, path string, v []byte) bool {
	if *dst != nil || len(v) == 0 || v[0] != '[' {
		return false
	}
	was, kept, i := *p, len(*rest), 0
	for e := range rawjson.Elements(v) {
		if !isObject(e) { // rare enough to read the others for nothing
			*p, *rest, *dst = was, (*rest)[:kept], nil
			return false
		}
		*dst = append(*dst, p.part(e, rest, path, i))
		i++
	}
	return true
}

func (p *parser) file(line []byte) (*session.File, error) {
	f := &session.File{}
	var kind string
	named := false
	for name, v := range rawjson.Members(line) {
		took := false
		switch string(name) {
		case "type":
			took = text(&kind, v)
		case "path":
			took = !named && text(&f.Path, v)
			named = named || took
		case "before":
			took = p.body(&f.Before, &f.Extras, "before/", v)
		case "after":
			took = p.body(&f.After, &f.Extras, "after/", v)
		case "origin":
			took = texts(&f.Origin, v)
		case "extras":
			took = p.list(&f.Extras, v)
		}
		p.saw(took, &f.Extras, "", name, v)
	}
	if !named {
		return nil, errors.New("file without a path")
	}
	return f, nil
}

func (p *parser) body(dst **session.Body, rest *[]session.Extra, path string, v []byte) bool {
	if *dst != nil || !isObject(v) {
		return false
	}
	b := &session.Body{}
	for name, v := range rawjson.Members(v) {
		took := false
		switch string(name) {
		case "text":
			var s string
			if took = b.Bytes == nil && text(&s, v); took {
				b.Bytes = []byte(s)
			}
		case "base64":
			took = blob(&b.Bytes, v)
		}
		p.saw(took, rest, path, name, v)
	}
	*dst = b
	return true
}

package canonical

import (
	"errors"
	"strconv"

	"rehome/formats/internal/rawjson"
	"rehome/formats/session"
)

// head reads the line that a session begins with. The session is never nil, so
// that a bad head still has what could be read of its names.
func (p *parser) head(line []byte) (*session.Session, error) {
	s := &session.Session{Head: session.Head{Turns: -1, Bytes: -1}}
	var kind string
	var made int64
	var ids [2]bool
	for name, v := range rawjson.Members(line) {
		took := false
		switch string(name) {
		case "type":
			took = text(&kind, v)
		case "version":
			took = number(&made, v, 0)
		case "id":
			took = !ids[0] && text(&s.ID, v)
			ids[0] = ids[0] || took
		case "agent":
			took = !ids[1] && text(&s.Agent, v)
			ids[1] = ids[1] || took
		case "created":
			took = stamp(&s.Created, v)
		case "updated":
			took = stamp(&s.Updated, v)
		case "parent":
			if took = s.Parent == nil && isObject(v); took {
				s.Parent = &session.Link{}
				p.link(s.Parent, &s.Extras, "parent/", v)
			}
		case "context":
			if took = s.Context == nil && isObject(v); took {
				s.Context = &session.Context{}
				p.context(s.Context, &s.Extras, v)
			}
		case "extras":
			took = p.list(&s.Extras, v)
		default:
			took = p.words(s, string(name), v) || p.lists(s, string(name), v)
		}
		p.saw(took, &s.Extras, "", name, v)
	}
	switch {
	case made != version:
		return s, errors.New("head has an unsupported version")
	case !ids[0] || !ids[1]:
		return s, errors.New("head without an id or an agent")
	}
	return s, nil
}

// words are the members of a head that are plain text.
func (p *parser) words(s *session.Session, name string, v []byte) bool {
	switch name {
	case "title":
		return text(&s.Title, v)
	case "workspace":
		return text(&s.Workspace, v)
	case "folders":
		return texts(&s.Folders, v)
	case "status":
		return text(&s.Status, v)
	case "mode":
		return text(&s.Mode, v)
	case "model":
		return text(&s.Model, v)
	case "branch":
		return text(&s.Branch, v)
	case "plan":
		return text(&s.Plan, v)
	case "missing":
		return texts(&s.Missing, v)
	}
	return false
}

// lists are the members of a head that are lists of objects.
func (p *parser) lists(s *session.Session, name string, v []byte) bool {
	switch name {
	case "repos":
		return each(&s.Repos, name, v, func(r *session.Repo, path string, v []byte) { p.repo(r, &s.Extras, path, v) })
	case "todos":
		return each(&s.Todos, name, v, func(t *session.Todo, _ string, v []byte) { p.todo(t, v) })
	case "children":
		return each(&s.Children, name, v, func(l *session.Link, path string, v []byte) { p.link(l, &s.Extras, path, v) })
	case "branches":
		return each(&s.Branches, name, v, func(b *session.Branch, path string, v []byte) { p.branch(b, &s.Extras, path, v) })
	}
	return false
}

// each reads an array of objects.
func each[T any](dst *[]T, name string, v []byte, read func(one *T, path string, v []byte)) bool {
	if *dst != nil || !all(v, isObject) {
		return false
	}
	i := 0
	for e := range rawjson.Elements(v) {
		var one T
		read(&one, name+"/"+strconv.Itoa(i)+"/", e)
		*dst = append(*dst, one)
		i++
	}
	return true
}

func (p *parser) link(l *session.Link, rest *[]session.Extra, path string, v []byte) {
	for name, v := range rawjson.Members(v) {
		took := false
		switch string(name) {
		case "session":
			took = text(&l.Session, v)
		case "call":
			took = text(&l.Call, v)
		case "title":
			took = text(&l.Title, v)
		case "kind":
			took = text(&l.Kind, v)
		case "status":
			took = text(&l.Status, v)
		}
		p.saw(took, rest, path, name, v)
	}
}

func (p *parser) context(c *session.Context, rest *[]session.Extra, v []byte) {
	for name, v := range rawjson.Members(v) {
		took := false
		switch string(name) {
		case "used":
			took = number(&c.Used, v, 0)
		case "max":
			took = number(&c.Max, v, 0)
		}
		p.saw(took, rest, "context/", name, v)
	}
}

func (p *parser) repo(r *session.Repo, rest *[]session.Extra, path string, v []byte) {
	for name, v := range rawjson.Members(v) {
		took := false
		switch string(name) {
		case "path":
			took = text(&r.Path, v)
		case "branch":
			took = text(&r.Branch, v)
		}
		p.saw(took, rest, path, name, v)
	}
}

func (p *parser) branch(b *session.Branch, rest *[]session.Extra, path string, v []byte) {
	for name, v := range rawjson.Members(v) {
		took := false
		switch string(name) {
		case "name":
			took = text(&b.Name, v)
		case "from":
			took = text(&b.From, v)
		}
		p.saw(took, rest, path, name, v)
	}
}

func (p *parser) todo(t *session.Todo, v []byte) {
	for name, v := range rawjson.Members(v) {
		took := false
		switch string(name) {
		case "id":
			took = text(&t.ID, v)
		case "content":
			took = text(&t.Content, v)
		case "status":
			took = text(&t.Status, v)
		case "created":
			took = stamp(&t.Created, v)
		case "updated":
			took = stamp(&t.Updated, v)
		case "needs":
			took = texts(&t.DependsOn, v)
		case "extras":
			took = p.list(&t.Extras, v)
		}
		p.saw(took, &t.Extras, "", name, v)
	}
}

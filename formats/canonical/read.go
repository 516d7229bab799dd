package canonical

import (
	"encoding/base64"
	"errors"
	"strconv"

	"rehome/formats/session"
	"rehome/internal/rawjson"
)

// parser reads lines that are valid JSON into records. It is a Visitor that lists the
// members of a record. Each member of a line is read or becomes an Extra, and counted.
type parser struct {
	counts
	list []member // those of the current record, after those of the records it is in
	turn int      // the number of the last turn
}

// counts are numbers of members.
type counts struct{ members, taken, extras int64 }

// member is a member that a record can have.
type member struct {
	name     string
	value    any
	required bool
	taken    bool
}

// Required implements session.Visitor.
func (p *parser) Required(name string, value any) {
	p.list = append(p.list, member{name: name, value: value, required: true})
}

// Optional implements session.Visitor.
func (p *parser) Optional(name string, value any) {
	if count, ok := value.(*session.Count); ok {
		*count = -1
	}
	p.list = append(p.list, member{name: name, value: value})
}

// head reads the first line of a session. It returns the session also with an error, with
// what could be read.
func (p *parser) head(line []byte) (*session.Session, error) {
	s := &session.Session{Head: session.Head{Turns: -1, Bytes: -1}}
	p.turn = 0
	switch p.record(s, line, rest{}) {
	case "":
		return s, nil
	case "version":
		return s, errors.New("head has an unsupported version")
	}
	return s, errors.New("head without an id or an agent")
}

func (p *parser) message(line []byte) (*session.Message, error) {
	m := &session.Message{}
	if missing := p.record(m, line, rest{}); missing != "" || m.Role == "" {
		return nil, errors.New("message without an id or a role")
	}
	if m.Turn != nil {
		if m.Turn.Number < 1 { // missing, or not as it is written
			m.Turn.Number = p.turn + 1
		}
		p.turn = m.Turn.Number
	}
	return m, nil
}

func (p *parser) file(line []byte) (*session.File, error) {
	f := &session.File{}
	if missing := p.record(f, line, rest{}); missing != "" {
		return nil, errors.New("file without a path")
	}
	return f, nil
}

// rest is where a record's Extras go. If the record has none, they go to those of the
// record that contains it, named by their path.
type rest struct {
	extras *[]session.Extra
	member string // of the containing record; "" for the record's own Extras
	index  int    // in the array that the member is; -1 if it is an object
}

// keep makes an Extra of a member that was not read.
func (to rest) keep(name, v []byte) {
	path := string(name)
	if to.member != "" {
		if to.index >= 0 {
			path = strconv.Itoa(to.index) + "/" + path
		}
		path = to.member + "/" + path
	}
	*to.extras = append(*to.extras, session.Extra{Name: path, Raw: whole(v)})
}

// record reads an object and returns the name of the first required member that is
// missing, "" if none is.
func (p *parser) record(into session.Record, object []byte, to rest) (missing string) {
	from := len(p.list)
	session.Visit(into, p)
	list := p.list[from:]
	if own, ok := list[len(list)-1].value.(*[]session.Extra); ok {
		to = rest{extras: own}
	}
	next := 0
	for name, v := range rawjson.Members(object) {
		i := find(list, name, next)
		p.members++
		if i < 0 || list[i].taken || !p.take(&list[i], v, to.extras) {
			p.extras++
			to.keep(name, v)
			continue
		}
		list[i].taken = true
		next = i + 1
		p.taken++
	}
	p.list = p.list[:from]
	for i := range list {
		if list[i].required && !list[i].taken {
			return list[i].name
		}
	}
	return ""
}

// find returns the index of a member, or -1. It starts at next, because members usually
// are in the order in which they are written.
func find(list []member, name []byte, next int) int {
	for i := next; i < len(list); i++ {
		if list[i].name == string(name) {
			return i
		}
	}
	for i := range next {
		if list[i].name == string(name) {
			return i
		}
	}
	return -1
}

// take reads the value of a member and reports whether it has the form in which it is
// written. extras are the Extras of the record.
func (p *parser) take(m *member, v []byte, extras *[]session.Extra) bool {
	if len(v) == 0 {
		return false
	}
	switch dst := m.value.(type) {
	case session.Constant:
		return string(v) == string(dst) || dst[0] == '"' && rawjson.Text(v) == string(dst[1:len(dst)-1])
	case *string:
		*dst = rawjson.Text(v)
		return v[0] == '"'
	case *session.Stamp:
		return stamp(dst, v)
	case *session.Raw:
		*dst = whole(v)
		return true
	case *bool: // false is not written
		*dst = string(v) == "true"
		return *dst
	case *int:
		return number(dst, v)
	case *int64:
		return number(dst, v)
	case *session.Count:
		return v[0] != '-' && number(dst, v)
	case *session.UTF8:
		if *dst != nil || v[0] != '"' {
			return false
		}
		*dst = []byte(rawjson.Text(v))
		return true
	case *session.Binary:
		return *dst == nil && blob((*[]byte)(dst), v)
	case *[]byte:
		return blob(dst, v)
	case session.Object:
		if v[0] == '{' {
			p.record(dst.New(), v, rest{extras, m.name, -1})
			return true
		}
		return false
	}
	return v[0] == '[' && p.array(m, v, extras)
}

// array reads a member that is an array, if all elements have the right form.
func (p *parser) array(m *member, v []byte, extras *[]session.Extra) bool {
	was, kept, i := p.counts, len(*extras), 0
	for e := range rawjson.Elements(v) {
		if !p.element(m, e, extras, i) {
			p.counts, *extras = was, (*extras)[:kept]
			switch dst := m.value.(type) {
			case *[]string:
				*dst = nil
			case *[]session.Part:
				*dst = nil
			case session.Objects:
				dst.Clear()
			}
			return false
		}
		i++
	}
	return true
}

func (p *parser) element(m *member, v []byte, extras *[]session.Extra, i int) bool {
	if list, ok := m.value.(*[]string); ok {
		*list = append(*list, rawjson.Text(v))
		return v[0] == '"'
	}
	if !isObject(v) {
		return false
	}
	switch list := m.value.(type) {
	case *[]session.Part:
		*list = append(*list, p.part(v, rest{extras, m.name, i}))
	case session.Objects:
		p.record(list.Add(), v, rest{extras, m.name, i})
	case *[]session.Extra:
		var x session.Extra
		var more []session.Extra
		if p.record(&x, v, rest{&more, m.name, i}) != "" {
			return false
		}
		*list = append(append(*list, x), more...)
	}
	return true
}

// part reads a part. One of an unknown type is carried raw.
func (p *parser) part(v []byte, to rest) session.Part {
	kind := rawjson.Text(first(v, "type"))
	if part := session.NewPart(kind); part != nil {
		p.record(part, v, to)
		return part
	}
	p.members++
	p.extras++
	return &session.Opaque{Kind: kind, Raw: whole(v)}
}

// first returns the value of the first member with a name.
func first(v []byte, want string) []byte {
	for name, v := range rawjson.Members(v) {
		if string(name) == want {
			return v
		}
	}
	return nil
}

// whole returns a value without spare capacity, so that an append copies it.
func whole(v []byte) session.Raw { return session.Raw(v[:len(v):len(v)]) }

func isObject(v []byte) bool { return len(v) > 0 && v[0] == '{' }

// number reads an integer in the form in which it is written.
func number[T int | int64 | session.Count](dst *T, v []byte) bool {
	n, err := strconv.ParseInt(string(v), 10, 64)
	if err != nil || int64(T(n)) != n || strconv.FormatInt(n, 10) != string(v) {
		return false
	}
	*dst = T(n)
	return true
}

func stamp(dst *session.Stamp, v []byte) bool {
	if len(v) < 2 || v[0] != '"' {
		return false
	}
	s, ok := session.ParseStamp(string(v[1 : len(v)-1]))
	if ok {
		*dst = s
	}
	return ok
}

// blob reads standard base64 with padding.
func blob(dst *[]byte, v []byte) bool {
	if len(v) < 2 || v[0] != '"' {
		return false
	}
	v = v[1 : len(v)-1]
	out, err := base64.StdEncoding.Strict().AppendDecode(make([]byte, 0, base64.StdEncoding.DecodedLen(len(v))), v)
	if err != nil || base64.StdEncoding.EncodedLen(len(out)) != len(v) {
		return false // the decoder ignores line breaks
	}
	*dst = out
	return true
}

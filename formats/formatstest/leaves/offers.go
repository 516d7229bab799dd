package leaves

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"rehome/formats/session"
)

// place is where something of a session stands.
type place int

const (
	field  place = iota // a member of a head, a turn, a message or a part
	extra               // an extra or an opaque part, by its path
	user                // a part of the user's
	client              // what the client put into the conversation, or the system prompt
	model               // a part of the model's
	thought
	tool
	summed // a summary
)

// speakers returns the places where somebody speaks, by the word for who does. Several are
// joined by "|".
func speakers(who string) (out []place) {
	for w := range strings.SplitSeq(who, "|") {
		switch w {
		case "user":
			out = append(out, user)
		case "client":
			out = append(out, client)
		case "model":
			out = append(out, model)
		case "thinking":
			out = append(out, thought)
		case "tool":
			out = append(out, tool)
		case "summary":
			out = append(out, summed)
		default:
			return nil
		}
	}
	return out
}

func (p place) String() string {
	return [...]string{"a field", "extra data", "the user", "the client", "the model", "thinking", "a tool", "a summary"}[p]
}

// offer is one value of a session that was decoded.
type offer struct {
	place place
	also  []place // who else may say it, in what a writer wrote
	path  string  // of extra data, see plainPath
	in    string  // the record and the member of a field, such as turn.model
	of    string  // the first word of the kind of its record, in what a writer wrote
	used  bool
	index int    // in what a writer wrote
	text  string // what is left of a text that is found in pieces
	whole string // the text, before anything was found
}

// pool is what a message, a file or the rest of a session has to offer.
type pool struct {
	by    map[string][]*offer
	texts []*offer // where somebody speaks, in their order
	in    string   // the member that is visited
}

// fresh forgets what was found.
func (p *pool) fresh() {
	for _, list := range p.by {
		for _, o := range list {
			o.used, o.text = false, o.whole
		}
	}
}

func newPool() *pool { return &pool{by: map[string][]*offer{}} }

// The first byte of a key says what its value is.
const (
	asText  = "t"
	asBytes = "b"
	asTime  = "m" // milliseconds
	asName  = "n" // the name of a member
)

func (p *pool) add(key, value string, at place, path string) {
	if value == "" {
		return
	}
	o := &offer{place: at, path: plainPath(path), in: p.in}
	if key == asText {
		value = scrubbed(value)
		o.whole = value
		if o.text = value; at > extra {
			p.texts = append(p.texts, o)
		}
	}
	p.by[key+value] = append(p.by[key+value], o)
}

// plainPath leaves out what tells elements apart: the [] of a path, and the numbers of a pointer.
func plainPath(path string) string {
	path = strings.ReplaceAll(path, "[]", "")
	if !strings.Contains(path, "/") {
		return path
	}
	return strings.Join(slices.DeleteFunc(strings.Split(path, "/"), func(s string) bool { return strings.Trim(s, "0123456789") == "" }), ".")
}

// scrubbed is what a decoder of JSON makes of a text: what is not UTF-8 is U+FFFD.
func scrubbed(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	var out strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if n == 1 && len(s)-i > 2 && s[i] == 0xed { // a surrogate
			n = 3
		}
		out.WriteRune(r)
		i += n
	}
	return out.String()
}

// raw adds the leaves of a raw value.
func (p *pool) raw(b []byte, at place, path string) {
	if len(b) == 0 {
		return
	}
	n, err := Parse(b)
	if err != nil {
		p.add(asText, string(b), at, path)
		return
	}
	for _, l := range n.Leaves(nil, path) {
		p.add(asText, l.Value, at, l.Path)
	}
	n.each(func(n *Node) {
		for _, name := range n.Names {
			p.add(asName, name, at, path)
		}
		if strings.Join(n.Names, " ") == "field wire base64" {
			b, _ := base64.StdEncoding.DecodeString(n.text("base64"))
			p.unknown(b, at, path)
		}
	})
}

// unknown adds what is in a field of a message that nobody knows, whose bytes are carried.
func (p *pool) unknown(b []byte, at place, path string) {
	m := protobuf{has: func(string) bool { return false }, add: func(l Leaf) {
		if l.Bytes {
			p.add(asBytes, l.Value, at, path)
		} else {
			p.add(asText, l.Value, at, path)
		}
	}}
	m.bytes("", b, 0)
}

func (p *pool) extras(list []session.Extra) {
	for _, e := range list {
		if p.raw(e.Raw, extra, e.Name); len(e.Raw) == 0 {
			p.add(asText, e.Name, field, "")
		}
	}
}

// message adds a message, and its turn to the rest of the session.
func (p *pool) message(m *session.Message, rest *pool) {
	if m.Turn != nil {
		rest.record(m.Turn)
	}
	p.record(m)
	who := map[session.Role]place{session.User: user, session.Assistant: model, session.Tool: tool, session.System: client}[m.Role]
	if m.Simulated {
		who = client
	}
	p.parts(m.Parts, who)
}

func (p *pool) parts(list []session.Part, who place) {
	for _, part := range list {
		switch v := part.(type) {
		case *session.Text:
			p.add(asText, v.Text, who, "")
		case *session.Injected:
			p.add(asText, v.Text, client, "")
			p.raw(v.Data, client, "")
		case *session.Thinking:
			p.add(asText, v.Text, thought, "")
		case *session.ToolCall:
			p.raw(v.Input, model, "")
			p.raw(v.Args, model, "")
		case *session.ToolResult:
			p.raw(v.Value, tool, "")
			p.parts(v.Content, tool)
		case *session.Media:
			p.add(asBytes, string(v.Data), who, "")
			p.add(asText, v.URI, who, "")
		case *session.Summary:
			p.add(asText, v.Text, summed, "")
		case *session.Opaque:
			p.raw(v.Raw, extra, "")
		}
		p.record(part)
	}
}

// record adds the members of a record that are nothing that somebody says.
func (p *pool) record(r session.Record) { session.Visit(r, members{p, r}) }

// members visits the members of a record.
type members struct {
	pool *pool
	of   session.Record
}

func (m members) Required(name string, value any) { m.Optional(name, value) }

func (m members) Optional(name string, value any) {
	p := m.pool
	p.in = strings.ToLower(strings.TrimPrefix(fmt.Sprintf("%T", m.of), "*session.")) + "." + name
	defer func() { p.in = "" }()
	switch v := value.(type) {
	case *string:
		if !m.spoken(name) {
			p.add(asText, *v, field, "")
		}
	case *[]string:
		for _, s := range *v {
			p.add(asText, s, field, "")
		}
	case *bool:
		if _, ok := m.of.(*session.Message); ok && *v {
			p.add(asText, "true", extra, name) // the codec's own, unless the store has it under this name
		} else if *v {
			p.add(asText, "true", field, "")
		}
	case *int:
		p.number(int64(*v))
	case *int64:
		p.number(*v)
	case *session.Count:
		p.number(int64(*v))
	case *session.Stamp:
		if v.Known() {
			p.add(asTime, strconv.FormatInt(v.Millis(), 10), field, "")
		}
	case *session.UTF8:
		p.add(asText, string(*v), field, "")
		p.add(asBytes, string(*v), field, "")
	case *[]session.Extra:
		p.extras(*v)
	case session.Object:
		if r := v.Get(); r != nil {
			if _, turn := r.(*session.Turn); !turn {
				p.record(r)
			}
		}
	case session.Objects:
		for i := range v.Len() {
			p.record(v.At(i))
		}
	}
}

func (p *pool) number(n int64) {
	if n >= 0 {
		p.add(asText, strconv.FormatInt(n, 10), field, "")
	}
}

// spoken reports whether a member is what parts adds.
func (m members) spoken(name string) bool {
	switch m.of.(type) {
	case *session.Text, *session.Injected, *session.Thinking, *session.Summary:
		return name == "text"
	case *session.Media:
		return name == "uri"
	}
	return false
}

// find returns the first offer of a value that is not used and that ok accepts.
func find(pools []*pool, key string, ok func(*offer) bool) *offer {
	for _, p := range pools {
		if i := slices.IndexFunc(p.by[key], func(o *offer) bool { return !o.used && ok(o) }); i >= 0 {
			return p.by[key][i]
		}
	}
	return nil
}

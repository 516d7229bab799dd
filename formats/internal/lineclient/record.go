package lineclient

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"fmt"
	"iter"
	"slices"
	"strings"

	"rehome/formats/internal/jsonl"
	"rehome/formats/internal/members"
	"rehome/formats/rule"
	"rehome/formats/session"
	"rehome/internal/rawjson"
)

// Fields is an object whose members are taken by name.
type Fields = members.Fields

// prepare indexes the kinds.
func (c *Client) prepare() {
	c.Agent = cmp.Or(c.Agent, c.Name)
	c.names = []string{""}
	for name := range c.Kinds {
		c.names = append(c.names, name)
	}
	slices.Sort(c.names)
	c.index = map[string]uint16{}
	for i, name := range c.names {
		c.index[name] = uint16(i)
		if c.Kinds[name].Title != "" {
			c.titles = append(c.titles, []byte(name[strings.LastIndexByte(name, ' ')+1:]))
		}
	}
}

// parse reads a line. The record is valid as long as the line.
func (c *Client) parse(l jsonl.Line) *Record {
	r := &Record{Line: l, line: members.Split(l.Object, "")}
	if r.Fields = r.line; l.Object == nil {
		return r
	}
	if c.Replay != nil && l.Bytes != nil {
		r.Object = l.Bytes // what Replay added is for this package
	}
	r.Kind, r.in = c.of(r.line)
	r.ID, r.Time = r.line.Text(c.Line.ID), r.line.Time(c.Line.Time)
	for _, p := range c.Line.Kind {
		if name, _, nested := strings.Cut(p, "/"); !nested {
			r.line.Drop(name)
		}
	}
	r.line.Drop(c.Line.Parent)
	if in := r.in; in != "" {
		r.Fields = members.Split(r.line.Raw(in), "")
		for _, p := range c.Line.Kind {
			if name, inner, nested := strings.Cut(p, "/"); nested && name == in {
				r.Drop(inner)
			}
		}
	}
	if c.Subagent != nil {
		r.agent, r.by = c.Subagent(r)
	}
	return r
}

// of returns the kind of a line, and the member with its content.
func (c *Client) of(line *Fields) (kind, in string) {
	if c.Of != nil {
		return c.Of(line)
	}
	kind = c.kindOf(line)
	return kind, c.Kinds[kind].In
}

// parent returns the id of the line before; "" if it is the first one.
func (c *Client) parent(r *Record) string { return rawjson.Text(r.line.Peek(c.Line.Parent)) }

// rest returns what nobody asked a record for.
func (r *Record) rest() []session.Extra {
	out := r.Fields.Rest()
	if r.line != r.Fields {
		out = append(out, r.line.Rest()...)
	}
	return out
}

// Around takes a text of the members around the content.
func (r *Record) Around(name string) string { return r.line.Text(name) }

// Rest returns what nobody asked a line for, by names with a prefix.
func (r *Record) Rest(prefix string) (out []session.Extra) {
	for _, x := range r.rest() {
		out = append(out, session.Extra{Name: prefix + x.Name, Raw: x.Raw})
	}
	return out
}

// Find returns the line that others know by a name; nil if there is none.
func (r *Record) Find(name string) *Record {
	if r.find == nil || name == "" {
		return nil
	}
	return r.find(name)
}

// messageID returns the id of the message that a record becomes: its own, if no other record
// of the file has that.
func (r *Record) messageID(twice bool) string {
	if r.ID != "" && !twice {
		return r.ID
	}
	return fmt.Sprintf("line-%d", r.Number)
}

// Block makes a part of one object of a content list.
type Block func(b *Fields, r *Record) session.Part

// Content takes the member with what is said: a text, or a list of blocks, which are made
// into parts by their type. What no block asks for is an extra of its part.
func (r *Record) Content(name string, blocks map[string]Block) (out []session.Part) {
	switch v := r.Peek(name); {
	case v == nil:
		r.Drop(name)
	case v[0] == '"':
		out = append(out, &session.Text{Text: r.Text(name)})
	case v[0] == '[':
		for b := range rawjson.Elements(r.Raw(name)) {
			out = append(out, r.block(b, blocks))
		}
	}
	return out
}

func (r *Record) block(b []byte, blocks map[string]Block) session.Part {
	f := members.Split(b, "")
	kind := f.Text("type")
	if make := blocks[kind]; make != nil {
		if p := make(f, r); p != nil {
			AddExtras(p, f.Rest())
			return p
		}
	}
	return &session.Opaque{Kind: kind, Raw: members.Bare(kind, b)}
}

// AddExtras adds extras to a part that can have some.
func AddExtras(p session.Part, more []session.Extra) {
	switch p := p.(type) {
	case *session.Text:
		p.Extras = append(p.Extras, more...)
	case *session.Thinking:
		p.Extras = append(p.Extras, more...)
	case *session.ToolCall:
		p.Extras = append(p.Extras, more...)
	case *session.Media:
		p.Extras = append(p.Extras, more...)
	case *session.Injected:
		p.Extras = append(p.Extras, more...)
	case *session.ToolResult:
		p.Extras = append(p.Extras, more...)
	}
}

// TextBlock makes text of a member.
func TextBlock(name string) Block {
	return func(b *Fields, _ *Record) session.Part {
		if b.Peek(name) == nil {
			return nil
		}
		return &session.Text{Text: b.Text(name)}
	}
}

// ImageBlock makes an image of a member with base64, and one with its type.
func ImageBlock(data, mime string) Block {
	return func(b *Fields, _ *Record) session.Part {
		if raw := Base64(b, data); raw != nil {
			return &session.Media{Mime: b.Text(mime), Data: raw}
		}
		return nil
	}
}

// Base64 takes a member with base64; nil if it has none.
func Base64(b *Fields, name string) []byte {
	raw, err := base64.StdEncoding.DecodeString(rawjson.Text(b.Peek(name)))
	if err != nil || len(raw) == 0 {
		return nil
	}
	b.Drop(name)
	return raw
}

// Media returns what is at an address, which can hold all of it.
func Media(url string) *session.Media {
	kind, text, _ := strings.Cut(url, ";base64,")
	kind, held := strings.CutPrefix(kind, "data:")
	if data, err := base64.StdEncoding.DecodeString(text); held && err == nil && len(data) > 0 {
		return &session.Media{Mime: kind, Data: data}
	}
	return &session.Media{URI: url}
}

// FirstLine returns the first line of a text that is not blank, cut.
func FirstLine(text string) string {
	words, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return rule.Clip(strings.TrimSpace(words))
}

// Spend adds counts of tokens, by the names of the members that have them, to a turn.
func Spend(t *session.Turn, usage []byte, input, output, cacheRead, cacheWrite, reasoning, total string) {
	if usage == nil {
		return
	}
	if t.Usage == nil {
		u := session.UnknownUsage()
		t.Usage = &u
	}
	u := t.Usage
	for _, m := range []struct {
		name string
		n    *int64
	}{{input, &u.Input}, {output, &u.Output}, {cacheRead, &u.CacheRead}, {cacheWrite, &u.CacheWrite}, {reasoning, &u.Reasoning}, {total, &u.Total}} {
		if v, ok := members.Whole(rawjson.Last(usage, m.name)); m.name != "" && ok && v >= 0 && v < 1<<53 {
			*m.n = max(0, *m.n) + v
		}
	}
}

// Outcome sets how a turn ended, by the word of the client: table has its status.
func Outcome(t *session.Turn, word string, table map[string]string, why string) {
	t.Status = cmp.Or(table[word], t.Status)
	if t.Error = ""; t.Status == "error" {
		t.Error = why
	}
}

// Copy copies a value of a record, which is valid only until the next one.
func Copy(raw []byte) session.Raw { return bytes.Clone(raw) }

// Each takes a member that is an object, and returns its members.
func (r *Record) Each(name string) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		for n, v := range rawjson.Members(r.Members(name)) {
			if !yield(string(n), v) {
				return
			}
		}
	}
}

package opencode

import (
	"bytes"
	"slices"

	"rehome/formats/internal/lineclient"
	"rehome/formats/internal/object"
	"rehome/formats/session"
	"rehome/internal/rawjson"
)

// message is a message as every container has it: its own object, and those of its parts.
type message struct {
	id    string
	at    int64
	info  []byte
	parts []part
	rest  []session.Extra // what stands beside both
}

type part struct {
	id   string
	data []byte
}

// conversation is what has to be known of a session to make records of its messages.
type conversation struct {
	reverted string            // the first message that the user took back; "": none
	within   bool              // only parts of that one were
	tails    map[string]string // of messages that ask for a compaction: the first message that stays
	buf      []byte
}

// converse begins the records of a session.
func converse(info []byte) *conversation {
	revert := rawjson.Last(info, "revert")
	return &conversation{reverted: rawjson.TextAt(revert, "messageID"), within: rawjson.TextAt(revert, "partID") != "", tails: map[string]string{}}
}

// first is the number of the first message that the user took back; n if there is none.
func (c *conversation) first(n int, id func(int) string) int {
	for i := range n {
		if c.reverted != "" && id(i) == c.reverted {
			if c.within {
				i++
			}
			return i
		}
	}
	return n
}

// record makes the record of a message, which is valid until the next one: the members of its
// own object, its parts, and what becomes of it.
func (c *conversation) record(m *message, gone bool) []byte {
	kind := c.kindOf(m)
	p := object.New(c.buf[:0])
	if !copied(&p, m.info) {
		return m.info // whoever reads it says what is wrong
	}
	lineclient.Rest(&p, m.rest)
	object.List(&p, "parts", m.parts, func(in *object.Writer, one part) {
		in.Text("id", one.id)
		if !copied(in, one.data) {
			in.Text("type", "unreadable")
			in.Text("data", string(bytes.ToValidUTF8(one.data, []byte("\uFFFD"))))
		}
	})
	p.Text("kind", kind)
	p.Text("id", m.id)
	p.Num("at", int(m.at))
	if kind == "summary" {
		p.Text("keeps", c.tails[rawjson.TextAt(m.info, "parentID")])
	}
	if gone || kind == "failed" {
		p.Flag("unsent", true)
	}
	c.buf = p.Done()
	return c.buf
}

// copied writes the members of an object, but for the ids of what it belongs to.
func copied(p *object.Writer, raw []byte) bool {
	line, _, err := rawjson.Line(bytes.TrimSpace(raw))
	if err != nil || line[0] != '{' {
		return false
	}
	for name, v := range rawjson.Members(line) {
		if n := string(name); n != "id" && n != "sessionID" && n != "messageID" {
			lineclient.Rest(p, []session.Extra{{Name: n, Raw: v}})
		}
	}
	return true
}

// kindOf says what a message is.
func (c *conversation) kindOf(m *message) string {
	is := func(types ...string) func(part) bool {
		return func(p part) bool { return slices.Contains(types, rawjson.TextAt(p.data, "type")) }
	}
	switch role := rawjson.TextAt(m.info, "role"); {
	case role == "user":
		if i := slices.IndexFunc(m.parts, is("compaction")); i >= 0 {
			c.tails[m.id] = rawjson.TextAt(m.parts[i].data, "tail_start_id")
			return "compaction"
		}
		if len(m.parts) > 0 && !slices.ContainsFunc(m.parts, typed) {
			return "synthetic"
		}
		return role
	case role != "assistant":
		return role
	case rawjson.Last(m.info, "error") != nil:
		aborted := rawjson.TextAt(m.info, "error", "name") == "MessageAbortedError"
		silent := is("step-start", "reasoning")
		if speaks := slices.ContainsFunc(m.parts, func(p part) bool { return !silent(p) }); len(m.parts) > 0 && !(aborted && speaks) {
			return "failed"
		}
		return role
	case string(rawjson.Last(m.info, "summary")) == "true" && rawjson.TextAt(m.info, "finish") != "":
		if _, asked := c.tails[rawjson.TextAt(m.info, "parentID")]; asked {
			return "summary"
		}
	}
	return "assistant"
}

// typed reports whether a part of a message of the user is one that the user gave.
func typed(p part) bool {
	switch rawjson.TextAt(p.data, "type") {
	case "text":
		return string(rawjson.Last(p.data, "synthetic")) != "true" && string(rawjson.Last(p.data, "ignored")) != "true"
	case "file", "agent", "subtask":
		return true
	}
	return false
}

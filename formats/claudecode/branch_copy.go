package claudecode

import (
	"bytes"
	"errors"
	"io"

	"rehome/formats/internal/rawjson"
	"rehome/formats/loss"
)

// again begins a branch with a copy of the last thing that was said: nothing may
// hang on the end of the live branch. The copy has names of its own, or it would
// be taken for a part of the response that it is a copy of.
func (e *encoder) again(to int64) {
	from := e.grafts.unit.at
	e.note(loss.BranchCopied)
	b := make([]byte, to-from)
	err := e.w.Flush()
	if err == nil {
		_, err = io.ReadFull(io.NewSectionReader(e.grafts.draft, from, to-from), b)
	}
	if err != nil {
		e.grafts.err = errors.Join(e.grafts.err, err)
		return
	}
	c := copier{encoder: e, uuids: map[string]string{}, calls: map[string]string{}}
	for line := range bytes.Lines(b) {
		if k := text(line, "type"); k == "user" || k == "assistant" {
			c.line(line)
		}
	}
}

// copier writes lines again under other names.
type copier struct {
	*encoder
	uuids, calls map[string]string // the new names by the old ones
	response     string
}

func (c *copier) line(line []byte) {
	old := text(line, "uuid")
	id := uuid("line", c.id, c.agent, itoa(c.lines))
	c.uuids[old] = id
	p := object(c.buf)
	for n, v := range rawjson.Members(line) {
		switch name := string(n); name {
		case "parentUuid":
			if c.parent == "" {
				p.raw(name, []byte("null"))
			} else {
				p.text(name, c.parent)
			}
		case "uuid":
			p.text(name, id)
		case "sourceToolAssistantUUID":
			p.text(name, c.uuids[text(line, name)])
		case "message":
			p.raw(name, c.renamed(v))
		case "rehome": // with the branch in front
		default:
			if name == "timestamp" {
				c.known(&p, rawjson.Last(line, "rehome"))
			}
			p.raw(name, v)
		}
	}
	c.put(p.done())
	c.parent = id
}

// known is what we know of a line, and that it is of a branch.
func (c *copier) known(p *pen, was []byte) {
	p.name("rehome")
	in := object(p.b)
	in.text("branch", c.branch)
	in.flag("copy", true)
	for n, v := range rawjson.Members(was) {
		in.raw(string(n), v)
	}
	p.b = in.done()
}

func (c *copier) renamed(m []byte) []byte {
	p := object(nil)
	for n, v := range rawjson.Members(m) {
		switch name := string(n); {
		case name == "id":
			if c.response == "" {
				c.response = "msg_" + digits(24, "message", c.id, c.agent, itoa(c.lines))
			}
			p.text(name, c.response)
		case name == "content" && v[0] == '[':
			p.name(name)
			p.b = append(p.b, '[')
			some := false
			for b := range rawjson.Elements(v) {
				if some {
					p.b = append(p.b, ',')
				}
				some = true
				p.b = append(p.b, c.block(b)...)
			}
			p.b = append(p.b, ']')
		default:
			p.raw(name, v)
		}
	}
	return p.done()
}

// block renames a call, or the call that a result is of.
func (c *copier) block(b []byte) []byte {
	member := map[string]string{"tool_use": "id", "tool_result": "tool_use_id"}[text(b, "type")]
	if member == "" {
		return b
	}
	old := text(b, member)
	if c.calls[old] == "" {
		c.calls[old] = c.fresh(old)
	}
	p := object(nil)
	for n, v := range rawjson.Members(b) {
		if string(n) == member {
			p.text(member, c.calls[old])
		} else {
			p.raw(string(n), v)
		}
	}
	return p.done()
}

package write

import (
	"bytes"
	"errors"
	"io"

	"rehome/formats/internal/object"
	"rehome/formats/loss"
	"rehome/internal/rawjson"
)

// again begins a branch with a copy of the last message, because the end of the live
// branch must not have children. The copy has ids of its own; otherwise the client
// would read it as part of the original response.
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
		if k := rawjson.TextAt(line, "type"); k == "user" || k == "assistant" {
			c.line(line)
		}
	}
}

// copier writes lines again with other ids.
type copier struct {
	*encoder
	uuids, calls map[string]string // new ids by old ones
	response     string
}

func (c *copier) line(line []byte) {
	old := rawjson.TextAt(line, "uuid")
	id := uuid("line", c.id, c.agent, itoa(c.lines))
	c.uuids[old] = id
	p := object.New(c.buf)
	for n, v := range rawjson.Members(line) {
		switch name := string(n); name {
		case "parentUuid":
			if c.parent == "" {
				p.Raw(name, []byte("null"))
			} else {
				p.Text(name, c.parent)
			}
		case "uuid":
			p.Text(name, id)
		case "sourceToolAssistantUUID":
			p.Text(name, c.uuids[rawjson.TextAt(line, name)])
		case "message":
			p.Raw(name, c.renamed(v))
		case "rehome": // written before the timestamp, with the branch
		default:
			if name == "timestamp" {
				c.known(&p, rawjson.Last(line, "rehome"))
			}
			p.Raw(name, v)
		}
	}
	c.put(p.Done())
	c.parent = id
}

// known writes the member "rehome" of the original with the branch added.
func (c *copier) known(p *object.Writer, was []byte) {
	p.Name("rehome")
	in := object.New(p.B)
	in.Text("branch", c.branch)
	in.Flag("copy", true)
	for n, v := range rawjson.Members(was) {
		in.Raw(string(n), v)
	}
	p.B = in.Done()
}

func (c *copier) renamed(m []byte) []byte {
	p := object.New(nil)
	for n, v := range rawjson.Members(m) {
		switch name := string(n); {
		case name == "id":
			if c.response == "" {
				c.response = "msg_" + digits(24, "message", c.id, c.agent, itoa(c.lines))
			}
			p.Text(name, c.response)
		case name == "content" && v[0] == '[':
			p.Name(name)
			p.B = append(p.B, '[')
			some := false
			for b := range rawjson.Elements(v) {
				if some {
					p.B = append(p.B, ',')
				}
				some = true
				p.B = append(p.B, c.block(b)...)
			}
			p.B = append(p.B, ']')
		default:
			p.Raw(name, v)
		}
	}
	return p.Done()
}

// block replaces the id of a call in a call or a result.
func (c *copier) block(b []byte) []byte {
	member := map[string]string{"tool_use": "id", "tool_result": "tool_use_id"}[rawjson.TextAt(b, "type")]
	if member == "" {
		return b
	}
	old := rawjson.TextAt(b, member)
	if c.calls[old] == "" {
		c.calls[old] = c.fresh(old)
	}
	p := object.New(nil)
	for n, v := range rawjson.Members(b) {
		if string(n) == member {
			p.Text(member, c.calls[old])
		} else {
			p.Raw(string(n), v)
		}
	}
	return p.Done()
}

package write

import (
	"bytes"
	"errors"
	"io"

	"rehome/formats/claudecode/internal/shape"
	"rehome/formats/internal/linerepair"
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
		case shape.Names[shape.Parent]:
			shape.SetParent(&p, c.parent)
		case shape.Names[shape.UUID]:
			p.Text(name, id)
		case shape.Names[shape.Source]:
			p.Text(name, c.uuids[rawjson.Text(v)])
		case shape.Names[shape.Message]:
			p.Raw(name, c.renamed(v))
		case shape.Names[shape.Own]: // written before the time, with the branch
		case shape.Names[shape.Time]:
			c.known(&p, rawjson.Last(line, shape.Names[shape.Own]))
			fallthrough
		default:
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

// renamed gives a message and the calls in it other ids.
func (c *copier) renamed(m []byte) []byte {
	if rawjson.Last(m, "id") != nil {
		if c.response == "" {
			c.response = "msg_" + digits(24, "message", c.id, c.agent, itoa(c.lines))
		}
		m = linerepair.SetText(m, "id", c.response)
	}
	var content [][]byte
	for b := range rawjson.Elements(rawjson.Last(m, "content")) {
		content = append(content, c.block(b))
	}
	if content == nil {
		return m
	}
	return linerepair.Set(m, "content", linerepair.Array(content))
}

// block replaces the id of a call in a call or a result.
func (c *copier) block(b []byte) []byte {
	t, id := shape.TypeOf(b)
	if t == nil || t.Fate != shape.Call && t.Fate != shape.Answer {
		return b
	}
	old := rawjson.Text(id)
	if c.calls[old] == "" {
		c.calls[old] = c.fresh(old)
	}
	return linerepair.SetText(b, t.Members[1], c.calls[old])
}

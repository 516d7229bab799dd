package opencode

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"rehome/formats/internal/lineclient"
	"rehome/formats/internal/object"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/formats/store"
	"rehome/internal/rawjson"
)

// at are the members that OpenCode itself wrote below a path, without the id.
func at(list []session.Extra, path string) (out []session.Extra) {
	for _, x := range list {
		if below, ok := strings.CutPrefix(x.Name, path); ok && below != "id" && !strings.Contains(below, ".") {
			out = append(out, session.Extra{Name: below, Raw: x.Raw})
		}
	}
	return out
}

// rest writes members that are needed, unless others have their names, and these.
func rest(p *object.Writer, list []session.Extra, needed ...session.Extra) {
	said := lineclient.Said{Extras: list}
	said.Rest(p, needed...)
}

func number(n int64) []byte { return fmt.Append(nil, n) }

// part begins a part of the message at hand.
func (w *written) part(kind string, list []session.Extra) object.Writer {
	was := ""
	for _, x := range list {
		if x.Name == "id" {
			was = rawjson.Text(x.Raw)
		}
	}
	p := object.New(nil)
	p.Text("id", w.fresh("prt", was))
	p.Text("sessionID", w.id)
	p.Text("messageID", w.held.id)
	p.NonEmpty("type", kind)
	return p
}

// add adds a part, with the members that OpenCode itself wrote.
func (w *written) add(p object.Writer, list []session.Extra) {
	rest(&p, at(list, ""))
	w.held.parts = append(w.held.parts, p.Done())
}

// say adds a part. tag is that of context.
func (w *written) say(one session.Part, tag string) {
	switch one := one.(type) {
	case *session.Text:
		if w.own && tag == "subtask" {
			w.add(w.part("subtask", one.Extras), one.Extras)
			return
		}
		p := w.part("text", one.Extras)
		w.text(&p, one.Text, tag)
		w.add(p, one.Extras)
	case *session.Media:
		p := w.part("file", one.Extras)
		address(&p, one)
		w.add(p, one.Extras)
	case *session.Thinking:
		p := w.part("reasoning", one.Extras)
		p.Text("text", one.Text)
		p.Raw("time", w.times(one.Start, one.End, at(one.Extras, "time.")))
		w.add(p, one.Extras)
	case *session.ToolCall:
		c := *one
		c.Input, c.Extras = bytes.Clone(one.Input), nil // it outlives its message
		for _, x := range one.Extras {
			c.Extras = append(c.Extras, session.Extra{Name: x.Name, Raw: bytes.Clone(x.Raw)})
		}
		w.held.calls = append(w.held.calls, &called{len(w.held.parts), w.part("tool", c.Extras), &c})
		w.held.parts = append(w.held.parts, nil)
	case *session.Opaque:
		list := fields(one.Raw).Rest()
		w.add(w.part("", list), list)
	}
}

// address writes where a picture or another file is: in its own address, if it is known.
func address(p *object.Writer, m *session.Media) {
	p.Text("mime", m.Mime)
	p.NonEmpty("filename", m.Name)
	url := m.URI
	if len(m.Data) > 0 {
		url = "data:" + m.Mime + ";base64," + base64.StdEncoding.EncodeToString(m.Data)
	}
	p.Text("url", url)
}

// times is when something began and ended.
func (w *written) times(start, end session.Stamp, more []session.Extra) []byte {
	from := w.at
	if start.Known() {
		from = start.Millis()
	}
	p := object.New(nil)
	p.Raw("start", number(from))
	if end.Known() || !w.own {
		p.Raw("end", number(max(from, end.Millis())))
	}
	rest(&p, more)
	return p.Done()
}

// result adds what came of a call.
func (w *written) result(s *lineclient.Said) {
	if w.held == nil {
		return
	}
	calls := w.held.calls
	i := slices.IndexFunc(calls, func(c *called) bool { return c.call.ID == s.Result.Call })
	if i < 0 {
		return // it comes twice
	}
	if i > 0 { // OpenCode keeps a result with its call
		w.b.OnLoss.Add(loss.Loss{Code: loss.ResultMoved, At: store.Addr{File: s.From()}})
	}
	w.held.parts[calls[i].at] = w.tool(calls[i], s)
	w.held.calls = slices.Delete(calls, i, i+1)
}

// tool writes a call, with what came of it, if that is known.
func (w *written) tool(of *called, s *lineclient.Said) []byte {
	p, c := of.part, of.call
	p.Text("callID", c.ID)
	p.Text("tool", c.Name)
	p.Name("state")
	in := object.New(p.B)
	in.Raw("input", c.Input)
	in.Raw("time", w.times(c.Start, c.End, at(c.Extras, "state.time.")))
	state := lineclient.Said{Extras: at(c.Extras, "state.")}
	var value session.Raw
	if s != nil {
		value = s.Result.Value
	}
	switch {
	case s == nil && state.Has("status"):
		state.Rest(&in)
	case s == nil:
		state.Rest(&in, lineclient.Text("status", "pending"), lineclient.Text("raw", ""))
	case s.Result.Error || state.Has("error"):
		in.Text("status", "error")
		if value != nil {
			in.Raw("metadata", value)
		}
		state.Rest(&in, lineclient.Text("error", lineclient.Words(s.Parts)))
	default:
		if value == nil {
			value = session.Raw("{}")
		}
		in.Text("status", "completed")
		w.attach(&in, s.Parts)
		state.Rest(&in, lineclient.Text("output", lineclient.Words(s.Parts)), lineclient.Text("title", c.Name), lineclient.Member("metadata", value))
	}
	p.B = in.Done()
	rest(&p, at(c.Extras, ""))
	return p.Done()
}

// attach writes the files of a result.
func (w *written) attach(in *object.Writer, parts []session.Part) {
	var list [][]byte
	for _, one := range parts {
		if m, ok := one.(*session.Media); ok {
			p := w.part("file", m.Extras)
			address(&p, m)
			rest(&p, at(m.Extras, ""))
			list = append(list, p.Done())
		}
	}
	if list != nil {
		in.Raw("attachments", slices.Concat([]byte("["), bytes.Join(list, []byte(",")), []byte("]")))
	}
}

// text writes words, of the user or the model, or context of a kind. Tags of other clients tell the
// model what the user ran.
func (w *written) text(p *object.Writer, words, tag string) {
	switch {
	case tag == "bash-input" || tag == "bash-stdout":
		p.Text("text", "<"+tag+">"+words+"</"+tag+">")
	default:
		p.Text("text", words)
	}
	if tag == "" {
		return
	}
	p.Flag("synthetic", true)
	if tag != "synthetic" {
		p.Raw("metadata", one(mark, session.AppendString(nil, tag)))
	}
}

// mark is the member of metadata with the tag of context that another client gave.
const mark = "rehome"

// command adds a command that the user ran, and its output.
func (w *written) command(s *lineclient.Said) {
	one := *s
	one.Tag, one.Parts = "bash-input", s.Parts[:1]
	w.more(&one, "user")
	for _, p := range s.Parts[1:] {
		w.say(p, "bash-stdout")
	}
}

// copied writes a message of OpenCode itself as it was.
func (w *written) copied(raw []byte) {
	f := fields(raw)
	list, role := f.Raw("parts"), f.Text("role")
	f.Drop("kind", "at", "unsent", "keeps")
	said := &lineclient.Said{ID: f.Text("id"), Extras: f.Rest()}
	for one := range rawjson.Elements(list) {
		said.Parts = append(said.Parts, &session.Opaque{Raw: one})
	}
	w.more(said, role)
}

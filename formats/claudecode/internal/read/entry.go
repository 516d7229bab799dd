package read

import (
	"bytes"
	"strings"

	"rehome/formats/claudecode/internal/outline"
	"rehome/formats/claudecode/internal/shape"
	"rehome/formats/internal/jsonl"
	"rehome/formats/internal/members"
	"rehome/formats/session"
	"rehome/internal/rawjson"
)

// The members of messages and titles.
var (
	titleNames  = []string{"type", "customTitle", "aiTitle", "summary", "leafUuid", "sessionId", "uuid", "timestamp"}
	promptNames = []string{"role", "content"}
	answerNames = []string{"id", "type", "role", "model", "content", "stop_sequence"}
)

// say converts a line to messages.
func (w *walker) say(i int, line []byte) bool {
	o := &w.tree.Lines[i]
	switch {
	case o.Kind == shape.Title && outline.Only(line, titleNames...):
		w.account.Converted++
		return true // the head has it
	case o.Kind == shape.Title || o.Branch == outline.Outside:
		w.account.CarriedRaw++
		return w.opaque(i, line)
	}
	f := &w.entry
	m := w.message(i, line, f)
	switch o.Kind {
	case shape.User:
		return w.user(i, f, m)
	case shape.Assistant:
		return w.assistant(i, f, m)
	case shape.Attachment:
		return w.attachment(i, f, m)
	}
	return w.system(o, f, m)
}

// message splits a line into f, and returns a message with its metadata.
func (w *walker) message(i int, line []byte, f *members.Object) *session.Message {
	w.account.Converted++
	f.Split(line, "", shape.Names[:shape.Logical])
	m := &session.Message{ID: outline.LineID(i, f.Text(shape.UUID)), At: jsonl.Time(f.Raw(shape.Time)),
		Archived: w.tree.Lines[i].Archived, Origin: []string{w.addr(i).String()}}
	if f.Has(shape.Time) && !m.At.Known() {
		f.Keep(shape.Time)
	}
	w.usual(f)
	for _, other := range shape.Foreign[w.tree.Lines[i].Kind] {
		f.Keep(other)
	}
	return m
}

// usual keeps members of the envelope that do not have their usual values.
func (w *walker) usual(f *members.Object) {
	for _, same := range [...]struct {
		member int
		value  string
	}{{shape.Cwd, w.tree.Cwd}, {shape.Version, w.tree.Version}, {shape.Branch, w.tree.Branch},
		{shape.UserType, "external"}, {shape.Entrypoint, "cli"}} {
		if f.Text(same.member) != same.value {
			f.Keep(same.member)
		}
	}
}

// settle adds an object to the account, and its unused members to the extras.
func (w *walker) settle(f *members.Object, to *[]session.Extra) {
	w.account.Add(f.Account())
	*to = append(*to, f.Extras...)
}

// opaque converts a line that is not part of the conversation.
func (w *walker) opaque(i int, line []byte) bool {
	kind := rawjson.TextAt(line, "type")
	return w.put(&session.Message{ID: outline.LineID(i, ""), Role: session.System, Origin: []string{w.addr(i).String()},
		Parts: []session.Part{&session.Opaque{Kind: kind, Raw: members.Bare(kind, line)}}})
}

// user converts a prompt, results, or text of the client in the role of the user.
func (w *walker) user(i int, f *members.Object, m *session.Message) bool {
	meta, summary := f.Flag(shape.Meta), f.Flag(shape.Summary)
	value := bytes.Clone(f.Raw(shape.Result))
	in := &w.inner
	in.Split(f.Raw(shape.Message), "message.", promptNames)
	parts := w.parts(in.Raw(1))
	results := 0
	for _, p := range parts {
		if _, ok := p.(*session.ToolResult); ok {
			results++
		}
	}
	if results == 0 && value != nil {
		f.Keep(shape.Result)
	}
	w.settle(in, &m.Extras)
	w.settle(f, &m.Extras)
	m.Role = session.User
	switch {
	case summary:
		return w.summary(m, parts, w.tree.Lines[i].Boundary)
	case results > 0:
		return w.results(i, m, parts, value, results)
	case meta:
		m.Simulated = true
		parts = wrapped(parts)
	case w.tree.Lines[i].Prompt:
		w.turn++
		m.Turn = &session.Turn{Number: w.turn}
		if u, ok := w.tree.Spent[int32(i)]; ok {
			m.Turn.Usage = &u
		}
	default: // a command that the user ran, or its output
		m.Simulated = true
	}
	if m.Parts = parts; m.Turn == nil || !w.tree.Lines[i].Typed {
		m.Parts = commanded(parts)
	}
	return w.put(m)
}

// summary adds a summary to the boundary before it. Older clients wrote no such line:
// the summary is the boundary.
func (w *walker) summary(m *session.Message, parts []session.Part, boundary bool) bool {
	var texts []string
	for _, p := range parts {
		if t, ok := p.(*session.Text); ok {
			texts = append(texts, t.Text)
		}
	}
	one := &session.Summary{Text: strings.Join(texts, "\n")}
	if w.held != nil {
		w.held.Parts = append(w.held.Parts, one)
		w.held.Origin = append(w.held.Origin, m.Origin...)
		w.held.Extras = append(w.held.Extras, m.Extras...)
		return w.flush()
	}
	m.Role = session.System
	if boundary && w.archived > 0 {
		m.Parts = append(m.Parts, &session.Boundary{})
	}
	m.Parts = append(m.Parts, one)
	return w.put(m)
}

// assistant converts a response: a line, and the others of the same response.
func (w *walker) assistant(i int, f *members.Object, m *session.Message) bool {
	w.answer(f, m)
	var known map[string]bool // extras that an earlier line of the response has, too
	for next := w.tree.Lines[i].Next; next >= 0; next = w.tree.Lines[next].Next {
		line, ok := w.read(int(next))
		if !ok {
			return false
		}
		more := w.message(int(next), line, f)
		w.answer(f, more)
		m.Parts, m.Origin, m.End = append(m.Parts, more.Parts...), append(m.Origin, more.Origin...), more.At
		if known == nil {
			known = map[string]bool{}
			for _, e := range m.Extras {
				known[e.Name+"\x00"+string(e.Raw)] = true
			}
		}
		for _, e := range more.Extras {
			if key := e.Name + "\x00" + string(e.Raw); !known[key] {
				known[key] = true
				m.Extras = append(m.Extras, e)
			}
		}
	}
	return w.put(m)
}

// answer converts one line of a response.
func (w *walker) answer(f *members.Object, m *session.Message) {
	in := &w.inner
	in.Split(f.Raw(shape.Message), "message.", answerNames)
	m.Role = session.Assistant
	if m.Model = in.Text(3); m.Model == "<synthetic>" {
		m.Model = ""
		in.Keep(3)
	}
	m.Parts = w.parts(in.Raw(4))
	w.settle(in, &m.Extras)
	w.settle(f, &m.Extras)
}

// system converts a boundary, or a notice of the client to the user.
func (w *walker) system(o *outline.Line, f *members.Object, m *session.Message) bool {
	m.Role = session.System
	if o.Boundary {
		w.settle(f, &m.Extras)
		m.Parts = []session.Part{&session.Boundary{}}
		if !w.flush() {
			return false
		}
		w.held = m
		return true
	}
	local := string(f.Raw(shape.Subtype)) == `"local_command"`
	f.Keep(shape.Subtype)
	f.Keep(shape.Meta)
	if s := f.Text(shape.Content); s != "" {
		m.Parts = []session.Part{&session.Text{Text: s}}
	}
	if local { // the client sends it in the role of the user
		m.Role, m.Simulated, m.Parts = session.User, true, commanded(m.Parts)
	}
	w.settle(f, &m.Extras)
	return w.put(m)
}

package mend

import (
	"bytes"
	"path/filepath"
	"strings"

	"rehome/formats/claudecode/internal/outline"
	"rehome/formats/claudecode/internal/shape"
	"rehome/formats/internal/linerepair"
	"rehome/formats/internal/lines"
	"rehome/formats/internal/object"
	"rehome/formats/rule"
	"rehome/formats/session"
	"rehome/internal/rawjson"
)

// entry is a line of the conversation while it is repaired.
type entry struct {
	b            []byte
	n            int
	kind         shape.Kind
	uuid, parent string
	main         bool
	gone         bool // it is deleted
}

func (e *entry) set(name, text string) { e.b = linerepair.SetText(e.b, name, text) }

// link sets the parent of a line: "" for none.
func (e *entry) link(to string) {
	e.parent = to
	if to == "" {
		e.b = linerepair.Set(e.b, shape.Names[shape.Parent], []byte("null"))
		return
	}
	e.set(shape.Names[shape.Parent], to)
}

// line writes one line as it should be.
func (m *file) line(w *linerepair.Writer, l *lines.Line) error {
	e, ok := m.parse(l)
	if !ok {
		return w.Copy(l)
	}
	m.flush(w, e)
	findings := m.byLine[e.n]
	if to, ok := m.parents[e.parent]; ok && e.parent != "" {
		e.link(to)
	}
	before := rawjson.TextAt(e.b, shape.Names[shape.Logical]) // a compaction's
	if to := m.parents[before]; to != "" && before != "" {
		e.set(shape.Names[shape.Logical], to)
	}
	m.identify(e, findings)
	for _, f := range findings {
		switch f.Rule {
		case "RH352", "RH353":
			e.link(m.prev)
			m.r.Did(f, "linked the line to the previous one", "")
		case "RH441":
			m.date(e, f)
		case "RH442", "RH444":
			m.remove(e, f)
		case "RH453":
			m.begin(w, e, f)
		}
	}
	if e.kind.Said() {
		m.message(e, findings)
	}
	if e.gone {
		m.parents[e.uuid] = e.parent
		return nil
	}
	if t := timeOf(e.b); t > m.latest {
		m.latest = t
	}
	if e.main && e.uuid != "" {
		m.prev = e.uuid
	}
	w.Line(e.b)
	return nil
}

// parse reads the envelope of a line of the conversation.
func (m *file) parse(l *lines.Line) (*entry, bool) {
	if l.Long {
		return nil, false
	}
	e := &entry{b: bytes.TrimRight(l.Bytes, "\r"), n: l.Number}
	in := shape.Of(e.b)
	e.kind, e.uuid, e.parent = in.Kind(), in.Text(shape.UUID), in.Text(shape.Parent)
	e.main = m.thread || !in.Flag(shape.Side)
	return e, e.kind.Chained()
}

// identify gives a line its uuid and its parent, where the whole line is wrong.
func (m *file) identify(e *entry, findings []rule.Finding) {
	if m.mark != nil {
		e.b = linerepair.Set(e.b, "isSidechain", []byte("true"))
		e.set("agentId", strings.TrimSuffix(strings.TrimPrefix(filepath.Base(m.path), "agent-"), outline.Ending))
	}
	for _, f := range findings {
		switch f.Rule {
		case "RH350":
			e.uuid = m.newID(e.n, "line")
			e.set("uuid", e.uuid)
			if e.parent == "" {
				e.link(m.prev)
			}
			m.r.Did(f, "gave the line a uuid", "")
		case "RH351":
			old := e.uuid
			e.uuid = m.newID(e.n, "line")
			e.set("uuid", e.uuid)
			m.parents[old] = e.uuid
			m.r.Did(f, "gave the second line another uuid, and linked the lines after it to that", "")
		}
	}
	if in := shape.Of(e.b); m.unlinked && !in.Compacts() && !in.Flag(shape.Summary) {
		if e.uuid == "" {
			e.uuid = m.newID(e.n, "line")
			e.set("uuid", e.uuid)
		}
		e.link(m.prev)
	}
}

// date gives a line a time after all earlier ones, or that of the first line with one.
func (m *file) date(e *entry, f rule.Finding) {
	at := m.plan.first
	if m.latest > 0 {
		at = m.latest + 1
	}
	if at == 0 {
		return
	}
	e.set("timestamp", session.FormatMillis(at))
	m.r.Did(f, "set the time from the lines around it", "when the message was written")
}

// remove deletes a line. The lines that follow it are linked to the line before it.
func (m *file) remove(e *entry, f rule.Finding) {
	e.gone = true
	m.r.Did(f, "deleted the line, and linked the next one to the line before it", "a message without content")
}

// beginning is the prompt that stands for what is missing.
const beginning = "(The beginning of this conversation is missing.)"

// begin puts a prompt before an answer that starts the conversation.
func (m *file) begin(w *linerepair.Writer, e *entry, f rule.Finding) {
	o := object.New(nil)
	o.Text("role", "user")
	o.Text("content", beginning)
	id := m.newID(e.n, "beginning")
	b := m.envelope(e, id, e.parent)
	b = linerepair.Set(b, "isMeta", []byte("true"))
	w.Line(linerepair.Set(b, "message", o.Done()))
	e.link(id)
	m.r.Did(f, "put a prompt before it that says so: "+beginning, "")
}

// envelope returns a line of type user with the members that each line has.
func (m *file) envelope(e *entry, id, parent string) []byte {
	o := object.New(nil)
	shape.SetParent(&o, parent)
	for _, name := range []string{"isSidechain", "userType", "cwd", "sessionId", "version", "gitBranch", "agentId", "slug", "entrypoint"} {
		if v := rawjson.Last(e.b, name); v != nil {
			o.Raw(name, v)
		}
	}
	o.Text("type", "user")
	o.Raw("message", []byte("null"))
	o.Text("uuid", id)
	if v := rawjson.Last(e.b, "timestamp"); v != nil {
		o.Raw("timestamp", v)
	}
	return o.Done()
}

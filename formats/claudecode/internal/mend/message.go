package mend

import (
	"bytes"
	"strconv"
	"strings"

	"rehome/formats/claudecode/internal/outline"
	"rehome/formats/claudecode/internal/shape"
	"rehome/formats/internal/linerepair"
	"rehome/formats/internal/object"
	"rehome/formats/rule"
	"rehome/formats/session"
	"rehome/internal/rawjson"
)

// blocks returns the blocks of the message of a line.
func blocks(line []byte) (out [][]byte) {
	for v := range rawjson.Elements(rawjson.At(line, "message", "content")) {
		out = append(out, v)
	}
	return out
}

// index returns the number of the block that a pointer leads to or into.
func index(pointer string) (n int, ok bool) {
	rest, ok := strings.CutPrefix(pointer, "/message/content/")
	if !ok {
		return 0, false
	}
	first, _, _ := strings.Cut(rest, "/")
	n, err := strconv.Atoi(first)
	return n, err == nil && n >= 0
}

// message repairs the message of a line.
func (m *file) message(e *entry, findings []rule.Finding) {
	if e.kind == shape.Assistant {
		m.response(e, findings)
	}
	for _, one := range m.plan.late[e.n] {
		m.waiting = append(m.waiting, reply{uuid: e.uuid, head: m.envelope(e, "", e.uuid), response: responseOf(e.b), finding: one.finding, block: one.block, extra: one.extra, relink: true,
			did: "moved the result to the line after its call"})
	}
	wrong := false
	for _, f := range findings {
		_, ok := index(f.Pointer)
		wrong = wrong || ok
	}
	if !wrong && len(m.ids)+len(m.again) == 0 && !m.plan.twins {
		return
	}
	content := blocks(e.b)
	if len(content) == 0 {
		return
	}
	changed := false
	for _, f := range findings {
		n, ok := index(f.Pointer)
		if !ok || n >= len(content) || content[n] == nil {
			continue
		}
		if b, ok := m.block(e, f, content[n]); ok {
			content[n], changed = b, true
		}
	}
	changed = m.renamed(content) || changed
	if !changed {
		return
	}
	rest := linerepair.Array(content)
	e.gone = len(rest) == len("[]")
	message := linerepair.Set(rawjson.Last(e.b, "message"), "content", rest)
	e.b = linerepair.Set(e.b, "message", message)
}

// block repairs one block: nil if it is to be left out; false if it stays as it is.
func (m *file) block(e *entry, f rule.Finding, b []byte) ([]byte, bool) {
	id := rawjson.TextAt(b, "id")
	switch f.Rule {
	case "RH358":
		m.r.Did(f, "removed the result", "a result whose call is missing")
		return nil, true
	case "RH364":
		m.r.Did(f, "removed the second result", "that result")
		return nil, true
	case "RH362":
		for _, list := range m.plan.late {
			for _, one := range list {
				if one.finding.At.Line == f.At.Line && one.finding.Pointer == f.Pointer {
					return nil, true
				}
			}
		}
	case "RH359", "RH361":
		m.waiting = append(m.waiting, reply{uuid: e.uuid, head: m.envelope(e, "", e.uuid), response: responseOf(e.b), finding: f, block: missingResult(id), relink: f.Rule == "RH359",
			did: "added a result that says that the real one is missing"})
	case "RH363":
		to := &twin{id: id + "-" + strconv.Itoa(e.n), skip: 1 - min(m.answers[id], 1)}
		m.again[id] = to
		m.r.Did(f, "gave the second call and its result another id", "")
		return linerepair.SetText(b, "id", to.id), true
	case "RH447":
		to := outline.Sanitize(id)
		if id == "" {
			to = "call-" + strconv.Itoa(e.n)
		} else {
			m.ids[id] = to
		}
		m.r.Did(f, "replaced the characters that the API rejects by -", "")
		return linerepair.SetText(b, "id", to), true
	default:
		return edited(m.r.Did, f, b)
	}
	return b, false
}

// renamed replaces ids of calls in results, and counts them.
func (m *file) renamed(content [][]byte) (changed bool) {
	for n, b := range content {
		if !bytes.Contains(b, []byte(`"tool_use_id"`)) {
			continue
		}
		id := rawjson.TextAt(b, "tool_use_id")
		if t := m.again[id]; t != nil && t.skip == 0 {
			content[n], changed = linerepair.SetText(b, "tool_use_id", t.id), true
			delete(m.again, id)
			continue
		} else if t != nil {
			t.skip--
		}
		if m.plan.twins {
			m.answers[id]++
		}
		if to, ok := m.ids[id]; ok {
			content[n], changed = linerepair.SetText(b, "tool_use_id", to), true
		}
	}
	return changed
}

// response gives answers ids of their own.
func (m *file) response(e *entry, findings []rule.Finding) {
	id := responseOf(e.b)
	to, ok := m.messages[id]
	for _, f := range findings {
		switch f.Rule {
		case "RH365":
			to, ok = id+"-"+strconv.Itoa(e.n), true
			m.messages[id] = to
			m.r.Did(f, "gave the later lines another message.id", "")
		case "RH366":
			to, ok = "msg-"+m.newID(e.n, "message"), true
			m.r.Did(f, "gave the answer a message.id", "")
		}
	}
	if ok {
		e.b = linerepair.Set(e.b, "message", linerepair.SetText(rawjson.Last(e.b, "message"), "id", to))
	}
}

func responseOf(line []byte) string {
	return rawjson.TextAt(line, "message", "id")
}

// reply is a result that is added after the response with its call.
type reply struct {
	uuid     string // of the line with the call
	head     []byte // the envelope of the new line
	response string
	finding  rule.Finding
	block    []byte
	extra    []byte
	relink   bool // what follows the call is to follow the result
	did      string
}

// missingResult returns the result of a call whose result is lost.
func missingResult(id string) []byte {
	o := object.New(nil)
	o.Text("tool_use_id", id)
	o.Text("type", "tool_result")
	o.Text("content", "[Tool result missing]")
	o.Flag("is_error", true)
	return o.Done()
}

// flush writes the results that wait, unless the next line belongs to the response with
// their call.
func (m *file) flush(w *linerepair.Writer, next *entry) {
	if len(m.waiting) == 0 || next.kind == shape.Assistant && responseOf(next.b) == m.waiting[0].response {
		return
	}
	for i, one := range m.waiting {
		id := m.newID(one.finding.At.Line, "result "+strconv.Itoa(i))
		b := linerepair.SetText(one.head, "uuid", id)
		o := object.New(nil)
		o.Text("role", "user")
		o.Raw("content", linerepair.Array([][]byte{one.block}))
		b = linerepair.Set(b, "message", o.Done())
		if len(one.extra) > 0 {
			b = linerepair.Set(b, "toolUseResult", one.extra)
		}
		if t := timeOf(b); t > 0 {
			b = linerepair.SetText(b, "timestamp", session.FormatMillis(t+1))
		}
		w.Line(b)
		if next.main {
			m.prev = id
		}
		if one.relink && next.parent == one.uuid {
			next.link(id)
		}
		lost := ""
		if one.finding.Rule != "RH362" {
			lost = "the real result"
		}
		m.r.Did(one.finding, one.did, lost)
	}
	m.waiting = nil
}

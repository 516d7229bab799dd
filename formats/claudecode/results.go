package claudecode

import (
	"fmt"
	"path"
	"strings"

	"rehome/formats/session"
)

// results are a message each.
func (w *walker) results(m *session.Message, parts []session.Part, value []byte, n int) bool {
	first, nth := true, 1
	var rest []session.Part
	for _, p := range parts {
		r, ok := p.(*session.ToolResult)
		if !ok {
			rest = append(rest, p)
			continue
		}
		if r.Value = nil; n == 1 && value != nil {
			r.Value = value
			w.offloaded(r)
		}
		one := &session.Message{ID: m.ID, Role: session.Tool, At: m.At, Archived: m.Archived, Origin: m.Origin, Parts: []session.Part{r}}
		if first {
			one.Extras = m.Extras
			if n > 1 && value != nil {
				one.Extras = append(one.Extras, session.Extra{Name: "toolUseResult", Raw: value})
			}
		} else {
			nth++
			one.ID = fmt.Sprintf("%s-%d", m.ID, nth)
		}
		first = false
		if !w.put(one) {
			return false
		}
	}
	if len(rest) == 0 {
		return true
	}
	return w.put(&session.Message{ID: m.ID + "-text", Role: session.User, Simulated: true, At: m.At, Archived: m.Archived, Origin: m.Origin, Parts: rest})
}

const mostOffloaded = 16 << 20

// offloaded is output that was too long for its line.
func (w *walker) offloaded(r *session.ToolResult) {
	file := text(r.Value, "persistedOutputPath")
	if file == "" {
		return
	}
	name := path.Join(w.side(), "tool-results", path.Base(strings.ReplaceAll(file, `\`, "/")))
	if w.files[name] {
		return // an earlier result has it
	}
	w.files[name] = true
	if b, err := smallFile(w.root, name); err == nil {
		r.Extras = append(r.Extras, session.Extra{Name: "tool-results/" + path.Base(name), Raw: session.AppendString(nil, string(b))})
	}
}

// wrapped tells context in an envelope from what the client says plainly.
func wrapped(parts []session.Part) []session.Part {
	for i, p := range parts {
		t, ok := p.(*session.Text)
		if !ok || len(t.Text) < 3 || t.Text[0] != '<' {
			continue
		}
		tag, rest, ok := strings.Cut(t.Text[1:], ">\n")
		inner, closed := strings.CutSuffix(rest, "\n</"+tag+">")
		if ok && closed && tag != "" && plain(tag) == tag && !strings.Contains(inner, "</"+tag+">") {
			parts[i] = &session.Injected{Tag: tag, Text: inner}
		}
	}
	return parts
}

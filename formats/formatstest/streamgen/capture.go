package streamgen

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"unicode/utf8"

	"rehome/formats/session"
)

// Runs are the captures of a session's turns, one for each run of the client:
// put one behind the other, they are the session's. Runs of several sessions
// may be mixed, if each session's keep their order.
func Runs(rng *rand.Rand, s *Session, style Style) []string {
	var runs []string
	w := &writer{rng: rng, s: s, style: style, now: 1767225600000 + rng.Int64N(1e9)}
	for i := 0; i < len(s.Messages); {
		end := i + 1
		for end < len(s.Messages) && s.Messages[end].Turn == nil {
			end++
		}
		runs = append(runs, w.run(s.Messages[i:end]))
		i = end
	}
	return runs
}

// writer spells events.
type writer struct {
	rng   *rand.Rand
	s     *Session
	style Style
	now   int64
	model int
	out   strings.Builder
	said  string // in this run
}

type fields = []any // names and values, in order

func (w *writer) line(f fields) {
	if w.style.Noise && w.rng.IntN(6) == 0 {
		w.text([]string{"npm warn old", "", "[12:00:01] still at it", `{"level":"info"}`, `{"type":"torn`}[w.rng.IntN(5)])
	}
	var b strings.Builder
	b.WriteByte('{')
	for i := 0; i < len(f); i += 2 {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%q:%s", f[i], spelled(f[i+1]))
	}
	b.WriteByte('}')
	w.text(b.String())
}

func (w *writer) text(line string) {
	w.out.WriteString(line)
	if w.style.CRLF {
		w.out.WriteByte('\r')
	}
	w.out.WriteByte('\n')
}

// spelled is a value as the client prints it.
func spelled(v any) string {
	if raw, ok := v.(session.Raw); ok {
		return string(raw)
	}
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // of a plain value
	}
	return string(b)
}

func (w *writer) tick() int64 {
	w.now += 1 + w.rng.Int64N(500)
	return w.now
}

func (w *writer) run(messages []*session.Message) string {
	w.out.Reset()
	w.said = ""
	began := w.now
	w.line(fields{"type", "system", "subtype", "init", "apiKeySource", "env", "cwd", w.s.Workspace, "session_id", w.s.ID, "model", w.s.Model, "permissionMode", "default"})
	for i, m := range messages {
		switch m.Role {
		case session.User:
			w.line(fields{"type", "user", "message", content("user", m.Parts[0].(*session.Text).Text), "session_id", w.s.ID})
		case session.Assistant:
			w.response(m)
		case session.Tool:
			r := m.Parts[0].(*session.ToolResult)
			w.call("completed", find(messages[:i], r.Call), r.Value)
		}
	}
	w.result(messages[0].Turn, w.now-began)
	return w.out.String()
}

func content(role, text string) session.Raw {
	return session.Raw(`{"role":` + spelled(role) + `,"content":[{"type":"text","text":` + spelled(text) + `}]}`)
}

func find(messages []*session.Message, id string) *session.ToolCall {
	for _, m := range messages {
		for _, p := range m.Parts {
			if c, ok := p.(*session.ToolCall); ok && c.ID == id {
				return c
			}
		}
	}
	panic("a result of no call")
}

func (w *writer) id() string { return fmt.Sprintf("model-%d", w.model) }

func (w *writer) response(m *session.Message) {
	w.model++
	calls := false
	for _, p := range m.Parts {
		_, call := p.(*session.ToolCall)
		calls = calls || call
	}
	for _, p := range m.Parts {
		switch t := p.(type) {
		case *session.Thinking:
			for _, piece := range w.pieces(t.Text) {
				w.line(fields{"type", "thinking", "subtype", "delta", "text", piece, "session_id", w.s.ID, "timestamp_ms", w.tick()})
			}
			w.line(fields{"type", "thinking", "subtype", "completed", "session_id", w.s.ID, "timestamp_ms", w.tick()})
		case *session.Text:
			w.speech(t.Text, calls)
		case *session.ToolCall:
			w.call("started", t, nil)
		}
	}
}

// speech is a text: pieces of it first, where they were asked for, then the
// whole. Only the last text of a run has no time.
func (w *writer) speech(text string, more bool) {
	w.said += text
	if w.style.Partial {
		for _, piece := range w.pieces(text) {
			w.line(fields{"type", "assistant", "message", content("assistant", piece), "session_id", w.s.ID, "timestamp_ms", w.tick()})
		}
	}
	f := fields{"type", "assistant", "message", content("assistant", text), "session_id", w.s.ID}
	if more {
		f = append(f, "model_call_id", w.id(), "timestamp_ms", w.tick())
	}
	w.line(f)
}

// pieces cuts a text at random, between characters.
func (w *writer) pieces(text string) (out []string) {
	for text != "" {
		n := 0
		for range 1 + w.rng.IntN(8) {
			_, size := utf8.DecodeRuneInString(text[n:])
			n += size
		}
		out = append(out, text[:n])
		text = text[n:]
	}
	return out
}

func (w *writer) call(subtype string, c *session.ToolCall, result session.Raw) {
	inner := `{"args":` + string(c.Args)
	if result != nil {
		inner += `,"result":` + string(result)
	}
	body := `{"` + c.Kind + `ToolCall":` + inner + `}`
	if w.rng.IntN(2) == 0 { // since 2026
		body += `,"toolCallId":` + spelled(c.ID) + `,"startedAtMs":"` + fmt.Sprint(w.now) + `","hookAdditionalContexts":[]`
	}
	body += "}"
	w.line(fields{"type", "tool_call", "subtype", subtype, "call_id", c.ID, "tool_call", session.Raw(body),
		"model_call_id", w.id(), "session_id", w.s.ID, "timestamp_ms", w.tick()})
}

func (w *writer) result(t *session.Turn, took int64) {
	if t.Status == "" {
		return
	}
	text := w.said
	if t.Error != "" {
		text = t.Error
	}
	f := fields{"type", "result", "subtype", "success", "duration_ms", took, "duration_api_ms", took, "is_error", t.Error != "",
		"result", text, "session_id", w.s.ID, "request_id", t.RequestID}
	if u := t.Usage; u != nil {
		f = append(f, "usage", session.Raw(fmt.Sprintf(`{"inputTokens":%d,"outputTokens":%d,"cacheReadTokens":%d,"cacheWriteTokens":%d}`, u.Input, u.Output, u.CacheRead, u.CacheWrite)))
	}
	w.line(f)
}

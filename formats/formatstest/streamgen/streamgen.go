// Package streamgen makes sessions up and writes them as captures of the Cursor
// CLI's stream-json, for tests. It knows the format by its own means: no codec
// is imported here, so that a mistake of the codec's is not made twice.
package streamgen

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"

	"rehome/formats/session"
)

// Style is how a capture is written.
type Style struct {
	Partial bool // with --stream-partial-output
	Noise   bool // lines of other programs in between
	CRLF    bool
}

// Session is a made-up session: what a codec should make of its capture, but
// for what only the codec decides (ids of messages, times, extras, origins).
type Session struct {
	session.Head
	Model    string
	Messages []*session.Message
}

// Make makes a session up. Sessions of two numbers differ.
func Make(rng *rand.Rand, number int) *Session {
	m := maker{rng: rng}
	s := &Session{Model: "Model " + m.word()}
	s.Head = session.Head{ID: fmt.Sprintf("5e550000-0000-4000-8000-%012d", number), Agent: session.CursorCLI, Workspace: "/home/" + m.word()}
	turns := 1 + rng.IntN(4)
	s.Head.Turns = int64(turns)
	for n := 1; n <= turns; n++ {
		s.Messages = append(s.Messages, m.turn(n, s.Model, n == turns)...)
	}
	first, _, _ := strings.Cut(strings.TrimSpace(s.Messages[0].Parts[0].(*session.Text).Text), "\n")
	s.Title = first
	return s
}

type maker struct {
	rng   *rand.Rand
	calls int
}

// word is a short word; no two texts are likely to be the same.
func (m *maker) word() string {
	words := []string{"red", "grün", "多", "blue \"quoted\"", "tab\there", "back\\slash", "\U0001F600", "line\u2028end", "a</b>", "nul\u0001"}
	return words[m.rng.IntN(len(words))]
}

func (m *maker) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "T%d", m.rng.Uint32())
	for range m.rng.IntN(12) {
		b.WriteString([]string{" ", "\n", ", "}[m.rng.IntN(3)] + m.word())
	}
	return b.String() + "."
}

func (m *maker) turn(n int, model string, last bool) []*session.Message {
	t := &session.Turn{Number: n, Model: model, Status: "finished", RequestID: fmt.Sprintf("request-%d", n)}
	switch {
	case last && m.rng.IntN(3) == 0: // cut off
		t.Status, t.RequestID = "", ""
	case m.rng.IntN(4) == 0:
		t.Status, t.Error = "error", m.text()
	case m.rng.IntN(2) == 0:
		t.Usage = &session.Usage{Input: m.rng.Int64N(1e6), Output: m.rng.Int64N(1e6), CacheRead: 0, CacheWrite: 7, Reasoning: -1, Total: -1}
	}
	out := []*session.Message{{Role: session.User, Turn: t, Parts: []session.Part{&session.Text{Text: m.text()}}}}
	for range m.rng.IntN(4) {
		out = append(out, m.response()...)
	}
	return append(out, &session.Message{Role: session.Assistant, Parts: append(m.thinking(), &session.Text{Text: m.text()})})
}

func (m *maker) thinking() []session.Part {
	if m.rng.IntN(2) == 0 {
		return nil
	}
	return []session.Part{&session.Thinking{Text: m.text()}}
}

// response is what one model response says and calls, and what came of it.
func (m *maker) response() []*session.Message {
	a := &session.Message{Role: session.Assistant, Parts: m.thinking()}
	if m.rng.IntN(2) == 0 {
		a.Parts = append(a.Parts, &session.Text{Text: m.text()})
	}
	var results []*session.Message
	for range 1 + m.rng.IntN(4) {
		m.calls++
		kind := []string{"shell", "read", "edit", "grep", "mcp", "brandNew"}[m.rng.IntN(6)]
		id := fmt.Sprintf("call_%d", m.calls)
		if m.rng.IntN(4) == 0 {
			id += "\nfc_" + id
		}
		a.Parts = append(a.Parts, &session.ToolCall{ID: id, Name: kind, Kind: kind, Args: m.object("args")})
		r := &session.ToolResult{Call: id, Status: "success", Value: session.Raw(`{"success":` + string(m.object("out")) + `,"isBackground":false}`)}
		if m.rng.IntN(3) == 0 {
			r.Status, r.Error = "error", true
			r.Value = session.Raw(`{"error":` + string(m.object("error")) + `}`)
		}
		results = append(results, &session.Message{Role: session.Tool, Parts: []session.Part{r}})
	}
	m.rng.Shuffle(len(results), func(i, j int) { results[i], results[j] = results[j], results[i] })
	return append([]*session.Message{a}, results...)
}

func (m *maker) object(name string) session.Raw {
	b, err := json.Marshal(map[string]any{name: m.text(), "n": m.rng.IntN(1000), "list": []any{m.word(), nil, true}})
	if err != nil {
		panic(err) // of a map of plain values
	}
	return b
}

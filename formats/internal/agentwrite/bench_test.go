package agentwrite_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"rehome/formats/internal/agentstate"
	"rehome/formats/internal/agentwrite"
	"rehome/formats/session"
)

// BenchmarkConversation writes turns of a coding session, without storing their blobs.
func BenchmarkConversation(b *testing.B) {
	text := strings.Repeat("A sentence of an answer. ", 40)
	output := strings.Repeat("a line of output\n", 200)
	turn := func(n int) []*session.Message {
		at := session.Stored(1700000000000 + int64(n))
		id := fmt.Sprint("toolu_", n)
		return []*session.Message{
			{ID: "u", Role: session.User, Turn: &session.Turn{Number: n}, At: at, Parts: []session.Part{&session.Text{Text: text}}},
			{ID: "a", Role: session.Assistant, Model: "opus", At: at, Parts: []session.Part{&session.Thinking{Text: text}, &session.Text{Text: text},
				&session.ToolCall{ID: id, Name: "Bash", Kind: "shell", Input: session.Raw(`{"command":"make test","description":"Run the tests"}`)}}},
			{ID: "r", Role: session.Tool, At: at, Parts: []session.Part{&session.ToolResult{Call: id, Content: []session.Part{&session.Text{Text: output}}, Value: session.Raw(`{"stdout":` + string(session.AppendString(nil, output)) + `,"stderr":"","interrupted":false}`)}}},
			{ID: "e", Role: session.Assistant, Model: "opus", At: at, Parts: []session.Part{&session.Text{Text: text}}},
		}
	}
	size := 0
	for _, m := range turn(1) {
		size += len(session.AppendMessage(nil, m))
	}
	c := agentwrite.New(&session.Session{Head: session.Head{ID: "s", Agent: session.ClaudeCode}}, agentwrite.Options{Put: func(context.Context, agentstate.ID, []byte) error { return nil }})
	b.SetBytes(int64(size))
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		n++
		for _, m := range turn(n) {
			if err := c.Message(b.Context(), m); err != nil {
				b.Fatal(err)
			}
		}
	}
	if err := c.End(b.Context()); err != nil {
		b.Fatal(err)
	}
}

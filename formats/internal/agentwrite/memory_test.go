package agentwrite_test

import (
	"context"
	"runtime"
	"strings"
	"testing"

	"rehome/formats/internal/agentstate"
	"rehome/formats/internal/agentwrite"
	"rehome/formats/session"
)

// TestMemoryOfLargeMessages bounds what is allocated to write a large message: a few times
// its size, each time for one form that it gets.
func TestMemoryOfLargeMessages(t *testing.T) {
	text := strings.Repeat("a line of about thirty letters\n", 1<<18)
	call := &session.Message{Role: session.Assistant, Parts: []session.Part{&session.ToolCall{ID: "c", Name: "Bash", Kind: "shell", Input: session.Raw(`{"command":"ls"}`)}}}
	value := session.AppendString([]byte(`{"stderr":"","interrupted":false,"stdout":`), text)
	result := &session.ToolResult{Call: "c", Content: []session.Part{&session.Text{Text: text}}, Value: append(value, '}')}
	for _, c := range []struct {
		name string
		m    *session.Message
		max  float64 // times the size of the text
	}{
		{"prompt", &session.Message{Role: session.User, Turn: &session.Turn{}, Parts: []session.Part{&session.Text{Text: text}}}, 6},
		{"text", &session.Message{Role: session.Assistant, Parts: []session.Part{&session.Text{Text: text}}}, 5},
		{"thinking", &session.Message{Role: session.Assistant, Parts: []session.Part{&session.Thinking{Text: text}}}, 5},
		{"result", &session.Message{Role: session.Tool, Parts: []session.Part{result}}, 10},
	} {
		k := agentwrite.New(&session.Session{Head: session.Head{ID: "s", Agent: session.ClaudeCode}}, agentwrite.Options{Put: func(context.Context, agentstate.ID, []byte) error { return nil }})
		first := &session.Message{Role: session.User, Turn: &session.Turn{}, Parts: []session.Part{&session.Text{Text: "go"}}}
		var before, after runtime.MemStats
		for _, m := range []*session.Message{first, call, c.m} {
			runtime.ReadMemStats(&before)
			if err := k.Message(t.Context(), m); err != nil {
				t.Fatal(err)
			}
			runtime.ReadMemStats(&after)
		}
		if times := float64(after.TotalAlloc-before.TotalAlloc) / float64(len(text)); times > c.max {
			t.Errorf("%s: %.1f times its size is allocated, %.1f are promised", c.name, times, c.max)
		} else {
			t.Logf("%s: %.1f times its size is allocated", c.name, times)
		}
	}
}

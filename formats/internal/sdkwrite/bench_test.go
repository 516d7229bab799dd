package sdkwrite_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/internal/sdkwrite"
	"rehome/formats/session"
)

// long is a session of many turns, each with a call that returns a few kilobytes.
func long(turns, result int) (s *session.Session, size int64) {
	output := strings.Repeat("a line of output\n", result/17)
	value := session.AppendString([]byte(`{"stderr":"","interrupted":false,"stdout":`), output)
	value = append(value, '}')
	s = &session.Session{Head: session.Head{ID: "00000000-0000-4000-8000-000000000001", Agent: session.ClaudeCode, Workspace: "/w"}}
	s.Messages = func(yield func(*session.Message, error) bool) {
		for i := range turns {
			at := session.Stored(1_700_000_000_000 + int64(i)*1000)
			id := fmt.Sprint(i)
			for _, m := range []*session.Message{
				{ID: "u" + id, Role: session.User, Turn: &session.Turn{Number: i + 1}, At: at, Parts: []session.Part{&session.Text{Text: "do step " + id}}},
				{ID: "a" + id, Role: session.Assistant, At: at, Parts: []session.Part{&session.Text{Text: "I will do it."},
					&session.ToolCall{ID: "c" + id, Name: "Bash", Kind: "shell", Input: session.Raw(`{"command":"make step"}`)}}},
				{ID: "t" + id, Role: session.Tool, At: at, Parts: []session.Part{&session.ToolResult{Call: "c" + id, Value: value, Content: []session.Part{&session.Text{Text: output}}}}},
				{ID: "e" + id, Role: session.Assistant, At: at, Parts: []session.Part{&session.Text{Text: "Done."}}},
			} {
				if !yield(m, nil) {
					return
				}
			}
		}
	}
	return s, int64(turns) * int64(2*len(output)+600)
}

func BenchmarkPut(b *testing.B) {
	for _, c := range []struct {
		name          string
		turns, result int
	}{{"small", 20_000, 100}, {"large", 2_000, 8_000}} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				s, size := long(c.turns, c.result)
				b.SetBytes(size)
				sink := sdkwrite.Writer().New().(formats.FamilySink)
				d, err := sink.Put(b.Context(), s, formats.SessionBuild{Path: filepath.Join(b.TempDir(), "a")})
				if err == nil {
					err = sink.Finish(b.Context())
				}
				if err == nil {
					err = d.Verify(b.Context())
				}
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

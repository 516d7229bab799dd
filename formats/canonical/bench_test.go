package canonical

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/session"
)

// bulk is a session as they come: prompts, calls with arguments, results.
func bulk(messages int) *held {
	h := &held{session: session.Session{Head: session.Head{ID: "bulk", Agent: "x"}}}
	words := strings.Repeat("some words, a \"quote\" and\n", 60)
	for i := range messages {
		m := &session.Message{ID: fmt.Sprintf("%016x", i), Role: session.Assistant, At: session.Stored(1700000000000 + int64(i)), Origin: []string{"blobs#1 (0123456789abcdef)"}}
		if i%2 == 0 {
			m.Parts = []session.Part{&session.Text{Text: words}, &session.ToolCall{ID: "c", Name: "Shell", Kind: "shell", Args: session.Raw(`{"command":"ls","a":[1,2,3]}`), Start: session.Stored(1700000000000)}}
		} else {
			m.Role = session.Tool
			m.Parts = []session.Part{&session.ToolResult{Call: "c", Status: "success", Content: []session.Part{&session.Text{Text: words}}, Value: session.Raw(`{"success":{"stdout":"` + strings.Repeat(`line\n`, 200) + `"}}`)}}
		}
		h.messages = append(h.messages, m)
	}
	return h
}

func BenchmarkDecode(b *testing.B) {
	path := filepath.Join(b.TempDir(), "in.jsonl")
	if _, err := (sink{}).Put(b.Context(), bulk(2000).stream(), formats.SessionBuild{Path: path}); err != nil {
		b.Fatal(err)
	}
	l, err := formats.Locate(path)
	if err != nil {
		b.Fatal(err)
	}
	var buf []byte
	for b.Loop() {
		n := 0
		for s, err := range decode(b.Context(), l, formats.View{}, session.Selection{}) {
			if err != nil {
				b.Fatal(err)
			}
			for m, err := range s.Messages {
				if err != nil {
					b.Fatal(err)
				}
				buf = session.AppendMessage(buf[:0], m)
				n += len(buf)
			}
		}
		b.SetBytes(int64(n))
	}
}

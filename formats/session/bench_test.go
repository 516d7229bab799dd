package session

import (
	"strings"
	"testing"
)

// BenchmarkAppendMessage writes a prompt of a few words, and an answer with a text of
// 1.5 KB and a tool call.
func BenchmarkAppendMessage(b *testing.B) {
	words := strings.Repeat("some words, a \"quote\" and\n", 60)
	for name, m := range map[string]*Message{
		"short": {ID: "0123456789abcdef", Role: User, Turn: &Turn{Number: 1}, At: Stored(1700000000000), Parts: []Part{&Text{Text: "please fix the test"}}, Origin: []string{"blobs#1 (0123456789abcdef)"}},
		"long":  {ID: "0123456789abcdef", Role: Assistant, At: Stored(1700000000000), Origin: []string{"blobs#1 (0123456789abcdef)"}, Parts: []Part{&Text{Text: words}, &ToolCall{ID: "c", Name: "Shell", Kind: "shell", Args: Raw(`{"command":"ls","a":[1,2,3]}`), Start: Stored(1700000000000)}}},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			buf := AppendMessage(nil, m)
			b.SetBytes(int64(len(buf)))
			for b.Loop() {
				buf = AppendMessage(buf[:0], m)
			}
		})
	}
}

package leaks

import (
	"context"
	"fmt"
	"strings"
	"testing"
)

// BenchmarkScan is one core's speed on what sessions are made of.
func BenchmarkScan(b *testing.B) {
	p := newPlanter()
	var session strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&session, `{"parentUuid":"%s-%s","type":"assistant","message":{"id":"msg_%s","role":"assistant","content":[{"type":"tool_use","id":"toolu_%s","name":"Read","input":{"file_path":"/src/auth/token_%d.go","limit":200}},{"type":"text","text":"%s\n\n"}],"usage":{"input_tokens":%d,"cache_read_input_tokens":4096}}}`+"\n",
			p.some(8, hexes), p.some(12, hexes), p.some(22, alnum), p.some(22, alnum), i, strings.Repeat(filler, 4), i)
	}
	for name, text := range map[string]string{
		"prose":   prose(8 << 20),
		"session": session.String(),
		"base64":  p.some(8<<20, alnum+"+/"),
		"hostile": strings.Repeat("twitter key=curl ", 1<<14),
	} {
		b.Run(name, func(b *testing.B) {
			s, text := scanner(b), []byte(text)
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				s.Scan(context.Background(), text, func(Hit) {})
			}
		})
	}
}

func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		scanner(b)
	}
}

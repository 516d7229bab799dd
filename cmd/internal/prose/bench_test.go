package prose

import (
	"io"
	"strings"
	"testing"

	"rehome/formats/session"
)

func BenchmarkText(b *testing.B) {
	words := strings.Repeat("all work and no play makes jack a dull boy ", 250)
	for b.Loop() {
		if err := Text(io.Discard, stream(said(&session.Text{Text: words})), Options{Width: 80}); err != nil {
			b.Fatal(err)
		}
	}
	b.SetBytes(int64(len(words)))
}

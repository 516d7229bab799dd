package redact

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// sessionText is what sessions are made of: prose, ids, paths, numbers.
func sessionText(size int) string {
	rnd := rand.New(rand.NewPCG(5, 6))
	const filler = "The build went through, and the tests of the parser are green again. Shall I go on with the second part? "
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, `{"parentUuid":"%s-%s","type":"assistant","message":{"id":"msg_%s","role":"assistant","content":[{"type":"tool_use","id":"toolu_%s","name":"Read","input":{"file_path":"/src/auth/token_%d.go","limit":200}},{"type":"text","text":"%s\n\n"}],"usage":{"input_tokens":%d,"cache_read_input_tokens":4096}}}`+"\n",
			some(rnd, 8, digits+"abcdef"), some(rnd, 12, digits+"abcdef"), some(rnd, 22, digits+lower), some(rnd, 22, digits+lower), i, strings.Repeat(filler, 4), i)
	}
	return b.String()
}

func BenchmarkRedact(b *testing.B) {
	rnd := rand.New(rand.NewPCG(7, 8))
	noise := make([]byte, 3<<20)
	for i := range noise {
		noise[i] = byte(rnd.Uint32())
	}
	for name, text := range map[string]string{"session": sessionText(4 << 20), "base64": base64.StdEncoding.EncodeToString(noise)} {
		r := redactor(b, Policy{Words: []string{"Acme"}}, "session_secret="+bare()+" "+token())
		bytes := []byte(text)
		b.Run("find "+name, func(b *testing.B) {
			b.SetBytes(int64(len(bytes)))
			b.ReportAllocs()
			for b.Loop() {
				r.Find(b.Context(), bytes, Unknown)
			}
		})
		b.Run("value "+name, func(b *testing.B) {
			b.SetBytes(int64(len(bytes)))
			b.ReportAllocs()
			for b.Loop() {
				if _, changed, err := r.Value(b.Context(), nil, bytes, Unknown, nil); changed || err != nil {
					b.Fatal(changed, err)
				}
			}
		})
	}
}

package streamjson_test

import (
	"bytes"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/formatstest/streamgen"
	"rehome/formats/session"
	"rehome/formats/streamjson"
)

// BenchmarkDecode reads a capture of one long session with pieces, both passes.
func BenchmarkDecode(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	s := streamgen.Make(rng, 0)
	one := strings.Join(streamgen.Runs(rng, s, streamgen.Style{Partial: true}), "")
	data := bytes.Repeat([]byte(one), 32<<20/len(one))
	l := written(b, data)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		for s, err := range streamjson.Format().Sessions.Decode(b.Context(), l, formats.View{}, session.Selection{}) {
			if err != nil {
				b.Fatal(err)
			}
			for range s.Messages {
			}
		}
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	b.ReportMetric(float64(m.Sys)/(1<<20), "MB-sys")
}

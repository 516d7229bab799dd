package sdkdoc

import (
	"strings"
	"testing"

	"rehome/formats/store"
)

func event() []store.Cell {
	text := func(s string) store.Cell { return store.TextCell([]byte(s)) }
	payload := `{"schemaVersion":1,"type":"sdk_message","agentId":"agent-b9290c9a","runId":"run-7125993e","message":{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"` +
		strings.Repeat("some words of an answer, ", 15) + `"}]}}}`
	return []store.Cell{text("run-7125993e-51a4-4476-816f-b2b44ebe9651"), store.IntCell(1), text("1"), text("run_stream_event"), text(payload), {}, {}, text("2026-06-04T10:00:00.010Z")}
}

func BenchmarkAppend(b *testing.B) {
	row := event()
	line, _ := Event.Append(nil, row)
	b.SetBytes(int64(len(line)))
	b.ReportAllocs()
	for b.Loop() {
		line, _ = Event.Append(line[:0], row)
	}
}

func BenchmarkParse(b *testing.B) {
	line, _ := Event.Append(nil, event())
	var p Parser
	b.SetBytes(int64(len(line)))
	b.ReportAllocs()
	for b.Loop() {
		if _, fit := p.Parse(Event, line); fit != Exact {
			b.Fatal(fit)
		}
	}
}

package streamjson_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/loss"
	"rehome/formats/rule"
	"rehome/formats/session"
	"rehome/formats/streamjson"
)

// growing are captures of n lines or so that cost more than n where something
// is looked for again and again.
func growing() map[string]func(n int) string {
	const init = `{"type":"system","subtype":"init","session_id":"s"}` + "\n"
	of := func(id, rest string) string { return "{" + rest + `,"session_id":"` + id + `"}` + "\n" }
	said := func(id, text, more string) string {
		return of(id, `"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"`+text+`"}]}`+more)
	}
	piece := func(n int) string { return fmt.Sprintf(`,"timestamp_ms":%d`, 1767225600000+n) }
	call := func(sub, id string) string {
		return of("s", `"type":"tool_call","subtype":"`+sub+`","call_id":"`+id+`","tool_call":{"readToolCall":{"args":{"path":"p"},"result":{"success":{}}}}`)
	}
	each := func(front string, line func(i int) string) func(n int) string {
		return func(n int) string {
			var b strings.Builder
			b.WriteString(front)
			for i := range n {
				b.WriteString(line(i))
			}
			return b.String()
		}
	}
	retry := of("s", `"type":"retry","subtype":"starting","is_resume":false`)
	return map[string]func(n int) string{
		"sessions":         each("", func(i int) string { return of(fmt.Sprint(i), `"type":"system","subtype":"init"`) }),
		"sessions in turn": each("", func(i int) string { return said(fmt.Sprint(i%50), "t", "") }),
		"sessions that come again": func(n int) string {
			t := each("", func(i int) string { return said(fmt.Sprint(i), "t", "") })(n / 2)
			return t + t
		},
		"runs": each("", func(int) string {
			return init + of("s", `"type":"result","subtype":"success","duration_ms":1,"result":"r"`)
		}),
		"prompts": each(init, func(int) string { return of("s", `"type":"user","message":{"role":"user","content":[]}`) }),
		"retries": each(init, func(i int) string { return said("s", "lost", piece(i)) + retry }),
		"retries that say it again": each(init, func(i int) string {
			return said("s", "lost", piece(2*i)) + retry + said("s", "lost", piece(2*i+1)) + said("s", "lost", "")
		}),
		"pieces":            each(init, func(i int) string { return said("s", "t", piece(i)) }),
		"pieces and wholes": each(init, func(i int) string { return said("s", "t", piece(i)) + said("s", "t", "") }),
		"wholes":            each(init, func(i int) string { return said("s", fmt.Sprint(i), "") }),
		"responses":         each(init, func(i int) string { return said("s", "t", fmt.Sprintf(`,"model_call_id":"%d"`, i)) }),
		"strange members":   each(init, func(i int) string { return said("s", "t", fmt.Sprintf(`,"x%d":%d`, i, i)) }),
		"thoughts":          each(init, func(i int) string { return of("s", `"type":"thinking","subtype":"delta","text":"t"`+piece(i)) }),
		"calls":             each(init, func(i int) string { return call("started", fmt.Sprint(i)) }),
		"results":           each(init, func(i int) string { return call("completed", fmt.Sprint(i)) }),
		"calls and results": each(init, func(i int) string { return call("started", fmt.Sprint(i)) + call("completed", fmt.Sprint(i)) }),
		"calls, then results": func(n int) string {
			return each(init, func(i int) string { return call("started", fmt.Sprint(i)) })(n/2) + each("", func(i int) string { return call("completed", fmt.Sprint(n/2-1-i)) })(n/2)
		},
		"one call":             each(init, func(int) string { return call("started", "c") }),
		"one result":           each(init, func(int) string { return call("completed", "c") }),
		"blank lines":          each(init, func(int) string { return "\n" }),
		"noise":                each(init, func(int) string { return "noise\n" }),
		"noise in front":       func(n int) string { return strings.Repeat("noise\n", n) + init },
		"blank lines in front": func(n int) string { return strings.Repeat("\n", n) + init },
		"lines of nobody":      each(init, func(int) string { return `{"x":1}` + "\n" }),
		"blanks between sessions": each("", func(i int) string {
			return of(fmt.Sprint(i), `"type":"system","subtype":"init"`) + strings.Repeat("\n", 20)
		}),
	}
}

// TestGrowth: eight times the lines take eight times the memory, in whatever
// way a capture is read.
func TestGrowth(t *testing.T) {
	f := streamjson.Format()
	walk := func(t *testing.T, s *session.Session, err error) {
		if err != nil {
			t.Fatal(err)
		}
		for _, err := range s.Messages {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	silent := formats.View{OnLoss: func(loss.Loss) {}, OnNotice: func(string) {}}
	ways := map[string]func(t *testing.T, text string, l *formats.Location){
		"decode": func(t *testing.T, _ string, l *formats.Location) {
			for s, err := range f.Sessions.Decode(t.Context(), l, silent, session.Selection{}) {
				walk(t, s, err)
			}
		},
		"one session": func(t *testing.T, _ string, l *formats.Location) {
			for s, err := range f.Sessions.Decode(t.Context(), l, silent, session.Selection{IDs: []string{"0"}}) {
				walk(t, s, err)
			}
		},
		"stream": func(t *testing.T, text string, _ *formats.Location) {
			for s, err := range f.Sessions.Stream(t.Context(), strings.NewReader(text), silent, session.Selection{}) {
				walk(t, s, err)
			}
		},
		"stream, unread": func(t *testing.T, text string, _ *formats.Location) {
			for _, err := range f.Sessions.Stream(t.Context(), strings.NewReader(text), silent, session.Selection{}) {
				if err != nil {
					t.Fatal(err)
				}
			}
		},
		"list": func(t *testing.T, _ string, l *formats.Location) {
			for _, err := range f.Sessions.Heads(t.Context(), l, silent) {
				if err != nil {
					t.Fatal(err)
				}
			}
		},
		"check": func(t *testing.T, _ string, l *formats.Location) {
			q := &rule.Pass{Layers: rule.Container | rule.References | rule.Meaning, Report: func(rule.Finding) {}}
			if err := f.Check(context.Background(), l, silent, q); err != nil {
				t.Fatal(err)
			}
		},
	}
	for what, make := range growing() {
		for way, read := range ways {
			t.Run(what+"/"+way, func(t *testing.T) {
				const n = 500
				cost := func(n int) uint64 {
					text := make(n)
					l := written(t, []byte(text))
					var before, after runtime.MemStats
					runtime.ReadMemStats(&before)
					read(t, text, l)
					runtime.ReadMemStats(&after)
					return after.TotalAlloc - before.TotalAlloc
				}
				if small, large := cost(n), cost(8*n); large > 10*small+1<<20 {
					t.Errorf("%d bytes for %d lines, %d for %d", small, n, large, 8*n)
				}
			})
		}
	}
}

// TestBlankLinesAhead: a session on a pipe is handed out although nothing but
// blank lines follows its first event, however many there are.
func TestBlankLinesAhead(t *testing.T) {
	const init = `{"type":"system","subtype":"init","session_id":"s"}` + "\n"
	text := strings.NewReader(init + strings.Repeat("\n", 8<<20))
	for _, err := range streamjson.Format().Sessions.Stream(t.Context(), text, formats.View{}, session.Selection{}) {
		if read := int(text.Size()) - text.Len(); err != nil || read > 1<<20 {
			t.Errorf("%d bytes were read to know a session: %v", read, err)
		}
		return
	}
	t.Error("no session")
}

package sdksession

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"rehome/formats/internal/sdkdoc"
	"rehome/formats/session"
)

// costOf is what it takes to tell all sessions of a store.
func costOf(t *testing.T, f *fake, sel session.Selection) (reads, allocs, bytes uint64, messages int) {
	t.Helper()
	s := f.store()
	var before, after runtime.MemStats
	f.reads = 0
	runtime.ReadMemStats(&before)
	for one, err := range s.Sessions(t.Context(), sel) {
		if err != nil {
			t.Fatal(err)
		}
		for _, err := range one.Messages {
			if err != nil {
				t.Fatal(err)
			}
			messages++
		}
	}
	runtime.ReadMemStats(&after)
	return uint64(f.reads), after.Mallocs - before.Mallocs, after.TotalAlloc - before.TotalAlloc, messages
}

// TestCost: eight times as much takes about eight times as many reads, and as
// much memory, however a store grows.
func TestCost(t *testing.T) {
	user := `{"role":"user","message":{"content":"hi"}}` + "\n"
	for name, shape := range map[string]func(f *fake, n int) session.Selection{
		"runs without events": func(f *fake, n int) (sel session.Selection) {
			f.add(sdkdoc.Agent, anAgent)
			for i := range n {
				f.run("a", fmt.Sprint("r", i), i+1, `,"status":"finished","startedAt":1,"result":"x"`)
			}
			f.transcripts = map[string]string{"agent-transcripts/a/a.jsonl": strings.Repeat(user, n)}
			return sel
		},
		"events of one run": func(f *fake, n int) (sel session.Selection) {
			f.add(sdkdoc.Agent, anAgent)
			var events []string
			for i := range n {
				events = append(events, calls(fmt.Sprint("c", i), running), says("x"))
			}
			f.run("a", "r", 1, `,"status":"finished","startedAt":1`, events...)
			return sel
		},
		"tries of one run": func(f *fake, n int) (sel session.Selection) {
			f.add(sdkdoc.Agent, anAgent)
			var events []string
			for i := range n {
				events = append(events, asks("p"), says(strings.Repeat("x", i%7)), thinks("y"))
			}
			f.run("a", "r", 1, `,"status":"finished","startedAt":1`, events...)
			return sel
		},
		"parts of one event": func(f *fake, n int) (sel session.Selection) {
			f.add(sdkdoc.Agent, anAgent)
			part := `{"type":"text","text":"word "},`
			f.run("a", "r", 1, `,"status":"finished","startedAt":1`, `"type":"assistant","message":{"role":"assistant","content":[`+strings.TrimSuffix(strings.Repeat(part, n), ",")+`]}`)
			return sel
		},
		"agents with subagents, each asked for": func(f *fake, n int) (sel session.Selection) {
			f.transcripts = map[string]string{}
			for i := range n {
				id := fmt.Sprint("a", i)
				f.add(sdkdoc.Agent, fmt.Sprintf(`{"agentId":%q,"cwd":"/w","status":"idle","name":"n"}`, id))
				f.transcripts["agent-transcripts/"+id+"/"+id+".jsonl"] = user
				f.transcripts["agent-transcripts/"+id+"/subagents/kid.jsonl"] = user
				sel.IDs = append(sel.IDs, id)
			}
			return sel
		},
		"runs that are no turn of the state": func(f *fake, n int) (sel session.Selection) {
			f.add(sdkdoc.Agent, anAgent)
			g := &fakeGraph{}
			for i := range n {
				g.turn(fmt.Sprint("q", i), "same prompt", "A")
				f.run("a", fmt.Sprint("r", i), i+1, `,"status":"finished","startedAt":1`, asks(fmt.Sprint("another ", i)))
			}
			f.run("a", "more", n+1, `,"status":"finished","startedAt":1`)
			f.graphs = map[string]*fakeGraph{"a": g}
			return sel
		},
		"calls of one answer": func(f *fake, n int) (sel session.Selection) {
			f.add(sdkdoc.Agent, anAgent)
			g := &fakeGraph{}
			var all, follows, events []string
			for i := range n {
				id := fmt.Sprint("c", i)
				all, follows, events = append(all, "call:"+id), append(follows, "result:"+id), append(events, calls(id, worked))
			}
			g.turn("q", "p", append([]string{strings.Join(all, " + ")}, follows...)...)
			f.run("a", "r", 1, `,"requestId":"q","status":"finished","startedAt":1`, events...)
			f.graphs = map[string]*fakeGraph{"a": g}
			return sel
		},
	} {
		t.Run(name, func(t *testing.T) {
			measure := func(n int) (out [3]uint64) {
				f := &fake{}
				sel := shape(f, n)
				var messages int
				out[0], out[1], out[2], messages = costOf(t, f, sel)
				if messages == 0 {
					t.Error("nothing was told")
				}
				return out
			}
			small, large := measure(500), measure(4000)
			for i, what := range []string{"reads", "allocations", "bytes"} {
				if large[i] > 10*small[i]+10_000 {
					t.Errorf("%s: %d, and %d for eight times as much", what, small[i], large[i])
				}
			}
		})
	}
}

// TestCostOfCovers: what is said of a result again and again is looked at once.
func TestCostOfCovers(t *testing.T) {
	measure := func(n int) float64 {
		var many []string
		for i := range n {
			many = append(many, fmt.Sprintf(`"k%d":1`, i))
		}
		full := `{"a":{` + strings.Join(many, ",") + `}}`
		again := strings.TrimSuffix(strings.Repeat(`"a":{"k1":1},`, n), ",")
		r := &session.ToolResult{Status: "success", Value: session.Raw(`{"success":` + full + `}`)}
		event := []byte(`{"status":"success"` + strings.Repeat(`,"value":{"a":{"k1":1}}`, n) + `}`)
		return testing.AllocsPerRun(1, func() {
			coversResult(r, event)
			covers([]byte(full), []byte(`{`+again+`}`))
		})
	}
	if small, large := measure(500), measure(4000); large > 10*small+1000 {
		t.Errorf("%v allocations, and %v for eight times as much", small, large)
	}
}

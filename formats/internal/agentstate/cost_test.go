package agentstate

import (
	"crypto/sha256"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"rehome/formats/loss"
)

// cost is what it takes to read a whole conversation with all that can be asked
// of it: blobs asked for, memory taken, notes.
type cost struct {
	reads, notes, messages int
	allocs, bytes          uint64
}

func costOf(t *testing.T, g *graph, root ID, roots ...ID) (c cost) {
	t.Helper()
	var before, after runtime.MemStats
	g.reads = map[ID]int{}
	runtime.ReadMemStats(&before)
	o := Options{Blobs: g, Root: root, Roots: roots, History: true, All: g.all(), Note: func(loss.Loss) { c.notes++ }}
	s, err := Read(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	s.Turns()
	for _, err := range s.Messages(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		c.messages++
	}
	for _, child := range s.Children() {
		if _, err := child.Open(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	runtime.ReadMemStats(&after)
	c.allocs, c.bytes = after.Mallocs-before.Mallocs, after.TotalAlloc-before.TotalAlloc
	for _, n := range g.reads {
		c.reads += n
	}
	return c
}

func call19(id, agent string) []byte {
	return call(19, id, append(str(1, "look"), str(6, agent)...), field(1, str(2, agent)))
}

// shapes are conversations that grow in one way each, as far as they like.
func shapes() map[string]func(g *graph, n int) (root ID, older []ID) {
	one := func(g *graph, f func(i int) []byte, n int) ID {
		var parts [][]byte
		for i := range n {
			parts = append(parts, f(i))
		}
		return g.put(parts...)
	}
	return map[string]func(g *graph, n int) (ID, []ID){
		"one message that is named again and again": func(g *graph, n int) (ID, []ID) {
			id := g.prompts(asksJSON("hi"))[0]
			return one(g, func(int) []byte { return refs(1, id) }, n), nil
		},
		"messages that are missing": func(g *graph, n int) (ID, []ID) {
			return one(g, func(i int) []byte { return refs(1, sha256.Sum256(fmt.Append(nil, i))) }, n), nil
		},
		"turns that are missing": func(g *graph, n int) (ID, []ID) {
			return one(g, func(i int) []byte { return refs(8, sha256.Sum256(fmt.Append(nil, i))) }, n), nil
		},
		"older states": func(g *graph, n int) (ID, []ID) {
			first := g.turn("first", "r")
			var older []ID
			for i := range n {
				older = append(older, g.put(refs(8, first, g.turn(fmt.Sprint("other ", i), fmt.Sprint(i), says("no")))))
			}
			return g.put(refs(8, first, g.turn("last", "q"))), older
		},
		"other answers to one prompt": func(g *graph, n int) (ID, []ID) {
			var older []ID
			for i := range n {
				older = append(older, g.put(refs(8, g.turn("go", "r", says(fmt.Sprint("answer ", i))))))
			}
			return g.put(refs(8, g.turn("go", "r", says("the last")))), older
		},
		"subagents, and what is said of their calls": func(g *graph, n int) (ID, []ID) {
			steps := make([][]byte, n)
			for i := range steps {
				steps[i] = call19(fmt.Sprint("c", i), fmt.Sprint("kid", i))
			}
			turn := g.turn("go", "r", steps...)
			return g.put(refs(8, turn), one3(n, func(i int) []byte {
				kid, id := fmt.Sprint("kid", i), fmt.Sprint("c", i)
				return append(append(field(16, str(1, kid), field(2, field(1, refs(8)))), field(30, str(1, id), field(2, str(2, kid)))...), field(24, str(1, id), str(2, kid))...)
			})), nil
		},
		"archives with summaries": func(g *graph, n int) (ID, []ID) {
			return one(g, func(i int) []byte {
				old := g.prompts(fmt.Sprintf(`{"role":"system","content":"s%d"}`, i), asksJSON(fmt.Sprint(i)))
				sum := g.json(`{"role":"user","content":"so far %d","providerOptions":{"cursor":{"isSummary":true}}}`, i)
				return refs(13, g.put(refs(1, old...), refs(4, sum)))
			}, n), nil
		},
		"arguments in pieces": func(g *graph, n int) (ID, []ID) {
			step := field(2, field(1, one3(n, func(i int) []byte { return field(1, str(1, "x")) })), str(57, "c"))
			return g.put(refs(8, g.turn("go", "r", step))), nil
		},
		"results in one message": func(g *graph, n int) (ID, []ID) {
			var list []string
			for i := range n {
				list = append(list, fmt.Sprintf(`{"type":"tool-result","toolCallId":"c%d","toolName":"T","result":"r"},"text"`, i))
			}
			return g.put(refs(1, g.prompts(asksJSON("go"), `{"role":"tool","content":[`+strings.Join(list, ",")+`]}`)...)), nil
		},
		"what one result shows": func(g *graph, n int) (ID, []ID) {
			var list []string
			for i := range n {
				list = append(list, fmt.Sprintf(`{"type":"text","text":"%09d"}`, i))
			}
			all := strings.Join(list, ",")
			return g.put(refs(1, g.prompts(asksJSON("go"), `{"role":"tool","content":[{"type":"tool-result","toolCallId":"c","toolName":"T","result":[`+all+`],"experimental_content":[`+all+`]}]}`)...)), nil
		},
		"pictures of one size": func(g *graph, n int) (ID, []ID) {
			var list []string
			for i := range n {
				list = append(list, fmt.Sprintf(`{"type":"image","image":"%08d"}`, i))
			}
			return g.put(refs(1, g.prompts(`{"role":"user","content":[`+strings.Join(list, ",")+`]}`)...)), nil
		},
		"messages in the root itself": func(g *graph, n int) (ID, []ID) {
			return one(g, func(i int) []byte {
				return str(4, fmt.Sprintf(`{"role":"assistant","content":[{"type":"text","text":"t%d"},{"type":"tool-call","toolCallId":"c%d","toolName":"T","args":{}}]}`, i, i))
			}, n), nil
		},
		"users and answers without turns": func(g *graph, n int) (ID, []ID) {
			return one(g, func(i int) []byte {
				return refs(1, g.prompts(asksJSON(fmt.Sprint("p", i)), fmt.Sprintf(`{"role":"assistant","content":"a%d"}`, i))...)
			}, n), nil
		},
	}
}

func one3(n int, f func(i int) []byte) (out []byte) {
	for i := range n {
		out = append(out, f(i)...)
	}
	return out
}

// TestCost: eight times as much takes about eight times as many reads, and as
// much memory, however a conversation grows.
func TestCost(t *testing.T) {
	for name, shape := range shapes() {
		t.Run(name, func(t *testing.T) {
			measure := func(n int) cost {
				g := newGraph()
				root, older := shape(g, n)
				return costOf(t, g, root, older...)
			}
			small, large := measure(1000), measure(8000)
			for what, pair := range map[string][2]uint64{
				"reads":       {uint64(small.reads), uint64(large.reads)},
				"allocations": {small.allocs, large.allocs},
				"bytes":       {small.bytes, large.bytes},
				"notes":       {uint64(small.notes), uint64(large.notes)},
			} {
				if pair[1] > 10*pair[0]+10_000 {
					t.Errorf("%s: %d, and %d for eight times as much", what, pair[0], pair[1])
				}
			}
			t.Logf("%+v %+v", small, large)
		})
	}
}

// TestCostOfLarge: what hostile stores have most of, as many as they like.
func TestCostOfLarge(t *testing.T) {
	for name, c := range map[string]struct{ n, reads int }{
		"one message that is named again and again": {60_000, 150_000},
		"messages that are missing":                 {300_000, 300_010},
		"older states":                              {20_000, 20_000 * 20}, // each is compared, too
	} {
		g := newGraph()
		root, older := shapes()[name](g, c.n)
		if got := costOf(t, g, root, older...); got.reads > c.reads || got.bytes > uint64(c.n)*25_000 {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

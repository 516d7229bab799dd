package agentstate

import (
	"context"
	"fmt"
	"testing"
)

// longChat is a conversation of many turns, with prompt messages and steps.
func longChat(turns int) (g *graph, root ID) {
	g = newGraph()
	var prompts, list []ID
	for n := range turns {
		request := fmt.Sprintf("00000000-0000-4000-8000-%012d", n)
		prompts = append(prompts, g.json(`{"role":"user","content":"ask %d","providerOptions":{"cursor":{"requestId":%q}}}`, n, request))
		var steps [][]byte
		for k := range 6 {
			id := fmt.Sprintf("toolu_%06d_%d", n, k)
			steps = append(steps, says(fmt.Sprintf("text %d.%d", n, k)), call(1, id, str(1, "ls"), field(1, str(5, id))))
			prompts = append(prompts, g.json(`{"role":"assistant","content":[{"type":"text","text":"text %d.%d"},{"type":"tool-call","toolCallId":%q,"toolName":"Shell","args":{}}]}`, n, k, id),
				g.json(`{"role":"tool","content":[{"type":"tool-result","toolCallId":%q,"toolName":"Shell","result":"out"}]}`, id))
		}
		list = append(list, g.turn(fmt.Sprintf("ask %d", n), request, steps...))
	}
	return g, g.put(refs(1, prompts...), refs(8, list...))
}

// BenchmarkRead reads a long conversation with all its messages.
func BenchmarkRead(b *testing.B) {
	g, root := longChat(200)
	b.ReportAllocs()
	for b.Loop() {
		s, err := Read(b.Context(), Options{Blobs: shelf(g.blobs), Root: root})
		if err != nil {
			b.Fatal(err)
		}
		for _, err := range s.Messages(b.Context()) {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}

// BenchmarkGraph walks the same conversation as check does.
func BenchmarkGraph(b *testing.B) {
	g, root := longChat(200)
	b.ReportAllocs()
	for b.Loop() {
		x := &Index{}
		for i, id := range g.order {
			x.Add(id, uint64(i), g.blobs[id])
		}
		walk := Graph{Index: x, Found: func(Fault) {}, Read: func(_ context.Context, place uint64) ([]byte, error) { return g.blobs[g.order[place]], nil }}
		if _, err := walk.Walk(b.Context(), root); err != nil {
			b.Fatal(err)
		}
	}
}

package agentstate

import (
	"strings"
	"testing"
)

// TestStrays: what no state says stands beside the conversation, or is named. Copies of what
// the states say are neither.
func TestStrays(t *testing.T) {
	g := newGraph()
	one := g.turn("one", "r1", says("1"))
	g.put(refs(8, one, g.turn("two", "r2", says("Hel"))))                                   // grew while it was stored
	g.put(refs(8, one, g.turn("two", "r2", says("another answer"))))                        // was asked for anew
	g.put([]byte(`{"role":"user","content":"<user_query>\none\n</user_query>"}`))           // a copy
	g.put([]byte(`{"role":"user","content":"never sent"}`))                                 // before the client stopped
	g.put([]byte(`{"role":"assistant","content":[{"type":"text","text":"never stored"}]}`)) //
	g.put(field(3, str(1, "nobody knows"), vint(2, 7)))                                     // of an unknown kind
	g.put(says("1"), vint(9, 1))                                                            // a copy of an answer
	g.put(refs(8, one), str(4, `{"role":"assistant","content":[{"type":"text","text":"Hello"}]}`), str(9, "file:///moved"))
	root := g.put(refs(1, g.prompts(systemJSON)...), refs(8, one, g.turn("two", "r2", says("Hello"), says("world"))))
	plain := g.read(t, root, false)
	want(t, plain, `system "be good"*`, `1 user "one"`, `assistant "1"`, `2 user "two"`, `assistant "Hello" "world"`)
	r := g.read(t, root, true)
	want(t, r, append(strings.Split(plain.shape(), "\n"), `branch-1 2 user "two"`, `branch-1 assistant "another answer"`,
		`branch-2 3 user "never sent"`, `branch-2 assistant "never stored"`)...)
	if !r.noted("inferred", "L825") || !r.noted("dropped", "L826") {
		t.Errorf("%q", r.notes)
	}
	if n := r.Unreadable(); n != 1 {
		t.Errorf("%d blobs are left out", n)
	}
	if got := plain.codes(); got != "L542 L827 L827 L826" || plain.Unreadable() != 3 {
		t.Errorf("without history: %q, %d blobs are left out", plain.notes, plain.Unreadable())
	}
}

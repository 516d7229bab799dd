package agentstate

import (
	"strings"
	"testing"
)

// TestHistory: turns that the client went back on are branches, older states
// of what is there are none.
func TestHistory(t *testing.T) {
	g := newGraph()
	one := g.turn("one", "r1", says("1"))
	short := g.turn("two", "r2", says("2"))
	long := g.turn("two", "r2", says("2"), says("and more"))
	g.put(refs(8, one))
	g.put(refs(8, one, short))
	left := g.turn("wrong", "r3", says("no"))
	leftLong := g.turn("wrong", "r3", says("no"), says("never"))
	g.put(refs(8, one, long, left))
	g.put(refs(8, one, long, leftLong, g.turn("worse", "r4", says("oh"))))
	g.put(refs(8, g.turn("start over", "r6", says("s"))))
	root := g.put(refs(8, one, long, g.turn("right", "r5", says("yes"))))
	plain := g.read(t, root, false)
	want(t, plain, `1 user "one"`, `assistant "1"`, `2 user "two"`, `assistant "2" "and more"`, `3 user "right"`, `assistant "yes"`)
	if got := plain.codes(); got != "L542 L542" {
		t.Errorf("what is left out of the conversation is told as %q", plain.notes)
	}
	r := g.read(t, root, true)
	want(t, r, append(strings.Split(plain.shape(), "\n"),
		`branch-1 3 user "wrong"`, `branch-1 assistant "no" "never"`, `branch-1 4 user "worse"`, `branch-1 assistant "oh"`,
		`branch-2 1 user "start over"`, `branch-2 assistant "s"`)...)
	if !strings.Contains(r.head, `"branches":[{"name":"branch-1","from":"`+plain.msgs[3].ID+`"},{"name":"branch-2"}]`) {
		t.Errorf("%s", r.head)
	}
	if r.msgs[6].Parent != plain.msgs[3].ID || r.msgs[7].Parent != "" {
		t.Errorf("the branch grew from %q", r.msgs[6].Parent)
	}
	for i := range plain.lines {
		if plain.lines[i] != r.lines[i] {
			t.Errorf("history changes what is told without it: %s", r.lines[i])
		}
	}
	if plain.Has(left) || plain.Has(leftLong) || r.Has(left) {
		t.Error("an older state of a turn counts as reached")
	}
	newest, found, err := Newest(t.Context(), g, g.all())
	if err != nil || !found || newest != root {
		t.Errorf("the newest state is %v %v %v", newest, found, err)
	}
}

// TestHistoryOfPrompts is the same for a store of 2025.
func TestHistoryOfPrompts(t *testing.T) {
	g := newGraph()
	begin := g.prompts(systemJSON, asksJSON("one"), `{"role":"assistant","content":"1"}`)
	g.put(refs(1, begin...))
	g.put(refs(1, append(begin[:3:3], g.prompts(asksJSON("wrong"), `{"role":"assistant","content":"no"}`)...)...))
	root := g.put(refs(1, append(begin[:3:3], g.prompts(asksJSON("right"), `{"role":"assistant","content":"yes"}`)...)...))
	want(t, g.read(t, root, true),
		`system "be good"`, `1 user <git_status> "one"`, `assistant "1"`, `2 user <git_status> "right"`, `assistant "yes"`,
		`branch-1 2 user <git_status> "wrong"`, `branch-1 assistant "no"`)
}

// TestRepeats: prompts and answers that are word for word the same find their
// turns by their order and their calls.
func TestRepeats(t *testing.T) {
	g := newGraph()
	var prompts []string
	var turns []ID
	var shape []string
	for i := range 30 {
		id := "c" + number(i)
		prompts = append(prompts, asksJSON("continue"), callsJSON(id), givesJSON(id), `{"role":"assistant","content":"ok"}`)
		turns = append(turns, g.turn("continue", "r"+number(i), says("let me see"), shellCall(id), says("ok")))
		shape = append(shape, number(i+1)+` user <git_status>* "continue"`, `assistant "let me see" calls:Shell:`+id, `tool gives:`+id+`:success`, `assistant "ok"`)
	}
	want(t, g.read(t, g.put(refs(1, g.prompts(prompts...)...), refs(8, turns...)), false), shape...)

	// A window that begins in the middle; and calls that have no ids in common.
	window := g.read(t, g.put(refs(1, g.prompts(prompts[40:]...)...), refs(8, turns...)), false)
	if n := strings.Count(window.shape(), " user <git_status>*"); n != 20 || len(window.Turns()) != 30 {
		t.Errorf("%d prompts joined in %d turns:\n%s", n, len(window.Turns()), window.shape())
	}
	for i, turn := range window.Turns() {
		if turn.RequestID != "r"+number(i) || len(turn.Calls) != 1 || turn.Calls[0] != "c"+number(i) {
			t.Errorf("turn %d: %+v", i, turn)
		}
	}
}

// TestLinear: every blob is read a bounded number of times, however long the
// conversation is.
func TestLinear(t *testing.T) {
	g := newGraph()
	var prompts, turns []ID
	for i := range 5000 {
		id := "call-" + number(i)
		prompts = append(prompts, g.prompts(asksJSON("go on "+number(i%7)), callsJSON(id), givesJSON(id))...)
		turns = append(turns, g.turn("go on "+number(i%7), "r"+number(i), says("let me see"), shellCall(id)))
	}
	r := g.read(t, g.put(refs(1, prompts...), refs(8, turns...)), false)
	if len(r.lines) != 15000 || len(r.notes) != 0 {
		t.Errorf("%d lines, %v", len(r.lines), r.notes)
	}
	reads := 0
	for _, n := range g.reads {
		reads += n
	}
	if most := 3*35000 + 4*5000; reads > most { // some blobs stand for several turns
		t.Errorf("%d reads of %d blobs", reads, len(g.blobs))
	}
}

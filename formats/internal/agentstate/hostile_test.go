package agentstate

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
)

// whole is a store with everything in it.
func whole() (g *graph, root ID) {
	g = newGraph()
	old := g.prompts(contextJSON, asksJSON("first"), `{"role":"assistant","content":"one"}`)
	summary := g.json(`{"role":"user","content":"it began","providerOptions":{"cursor":{"isSummary":true}}}`)
	archive := g.put(refs(1, old...), str(2, "it began"), refs(4, summary))
	live := append(g.prompts(systemJSON), summary)
	live = append(live, g.prompts(asksJSON("list"), callsJSON("c1"), givesJSON("c1"), `{"role":"assistant","content":"done"}`)...)
	inner := append(refs(1, g.prompts(asksJSON("sub"), `{"role":"assistant","content":"sub answer"}`)...), refs(8, g.turn("sub", "r9", says("sub answer")))...)
	child := g.put(field(1, inner), vint(2, 5000), field(4, field(4)), str(5, "small"))
	task := call(19, "t1", append(str(1, "look"), str(2, "look around")...), field(1, field(1, says("kept")), field(1, shellCall("k1")), str(2, "kid-2")))
	image := g.put([]byte("PNG"))
	user := g.put(str(1, "see"), field(3, field(1, refs(1, image))))
	turn := g.put(field(1, refs(1, user), refs(2, g.put(says("seen")))))
	shell := g.put(field(2, refs(1, g.put(str(1, "pwd"))), refs(2, g.put(str(1, "/x")))))
	todo, plan := g.put(str(1, "t1"), str(2, "do")), g.put(str(1, "the plan"))
	root = g.put(refs(1, live...), refs(13, archive), refs(3, todo), refs(7, plan), str(9, "file:///w"),
		refs(8, g.turn("first", "r1", says("one")), g.turn("list", "r2", says("let me see"), shellCall("c1"), task, says("done")), turn, shell),
		field(15, str(1, "/a"), field(2, refs(1, g.put([]byte("after"))))),
		field(31, str(1, "kid-1"), refs(2, child)), field(30, str(1, "t1"), field(2, str(2, "kid-1"), str(5, "looking"), vint(4, 3))))
	return g, root
}

// readAll reads a conversation and those of its subagents.
func readAll(t *testing.T, g *graph, root ID) *read {
	t.Helper()
	r := g.read(t, root, true)
	top := r.State
	kids := append([]*Child(nil), top.Children()...)
	for i := 0; i < len(kids) && i < 100; i++ {
		s, err := kids[i].Open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		r.lines = append(r.lines, "-- "+kids[i].ID+" "+kids[i].Kind+" "+kids[i].Call)
		r.walk(t, s)
		kids = append(kids, s.Children()...)
	}
	r.State = top
	return r
}

func TestWhole(t *testing.T) {
	g, root := whole()
	r := readAll(t, g, root)
	if int(r.Reached()) != len(g.blobs) || r.Unreadable() != 0 || len(r.notes) != 0 {
		t.Errorf("%d of %d reached, %d unreadable, %v", r.Reached(), len(g.blobs), r.Unreadable(), r.notes)
	}
	for _, text := range []string{"-- kid-1 explore ", "-- kid-2  t1", `"text":"sub answer"`, `"text":"kept"`, `"text":"look around"`, `"base64":"UE5H"`} {
		if !strings.Contains(r.text(), text) && !strings.Contains(r.head, text) {
			t.Errorf("not there: %s", text)
		}
	}
	if t.Failed() {
		t.Log(r.head + "\n" + r.text())
	}
	for id := range g.blobs {
		if !r.Has(id) {
			t.Errorf("%s is not said to be reached", id)
		}
	}
}

// TestMissing takes each blob away in turn: it is noted by its address, and the
// rest is read.
func TestMissing(t *testing.T) {
	full, root := whole()
	all := readAll(t, full, root)
	for _, id := range full.order {
		if id == root {
			continue
		}
		g, _ := whole()
		delete(g.blobs, id)
		r := readAll(t, g, root)
		if !r.noted("missing", id.Short()) {
			t.Errorf("%s is gone, and nobody says so: %v", id, r.notes)
		}
		if int(r.Reached()) > len(g.blobs) || len(r.lines) < len(all.lines)-8 {
			t.Errorf("without %s: %d lines of %d", id, len(r.lines), len(all.lines))
		}
	}
}

// TestCuts cuts each blob short at many places. A note has its address.
func TestCuts(t *testing.T) {
	full, root := whole()
	for _, id := range full.order {
		if string(full.blobs[id]) == "PNG" || string(full.blobs[id]) == "after" {
			continue // any bytes will do
		}
		size := len(full.blobs[id])
		for cut := 0; cut < size; cut += 1 + size/23 {
			g, _ := whole()
			g.blobs[id] = g.blobs[id][:cut]
			r := readAll(t, g, root)
			named := strings.Contains(strings.Join(r.notes, "\n"), id.Short()) || id == root && strings.Contains(strings.Join(r.notes, "\n"), "root")
			if !named {
				t.Errorf("%s cut to %d of %d bytes: %v", id, cut, size, r.notes)
			}
		}
	}
}

// TestGarbled puts other bytes into each blob: protobuf where JSON belongs,
// JSON where protobuf does, and noise.
func TestGarbled(t *testing.T) {
	full, root := whole()
	for _, id := range full.order {
		for _, other := range [][]byte{[]byte(`{"role":"user"}`), []byte("[]"), []byte("nonsense"), bytes.Repeat([]byte{0xff}, 99), refs(1, root), refs(8, root), refs(2, root, root), {0x0a, 0xff, 0xff, 0xff, 0xff, 0x07}} {
			g, _ := whole()
			g.blobs[id] = other
			r := readAll(t, g, root)
			if len(r.notes) == 0 {
				t.Errorf("%s is %q, and nobody says so", id, other)
			}
		}
	}
}

// TestOtherHash: bytes that are not what their name says are used, and noted.
func TestOtherHash(t *testing.T) {
	g, root := whole()
	id := g.put(says("done"))
	g.blobs[id] = says("other")
	r := readAll(t, g, root)
	if !r.noted("reshaped", id.Short()+": L803") || !strings.Contains(r.text(), `"other"`) {
		t.Errorf("%v", r.notes)
	}
}

// TestCycle: a subagent that is its own subagent ends.
func TestCycle(t *testing.T) {
	g := newGraph()
	var id ID
	id[0] = 7
	g.blobs[id] = field(1, refs(8, g.turn("again", "r")), field(31, str(1, "kid"), refs(2, id)))
	r := readAll(t, g, g.put(field(31, str(1, "kid"), refs(2, id))))
	if !r.noted("dropped", "L806") || len(r.lines) > 3*maxGenerations {
		t.Errorf("%d lines, %v", len(r.lines), r.notes)
	}
	g.blobs[id] = refs(1, id, id)
	if r = g.read(t, g.put(refs(1, id, id)), false); !r.noted("unreadable", "L813") {
		t.Errorf("%v", r.notes)
	}
}

// TestBomb: a small store whose references multiply does not grow without end.
func TestBomb(t *testing.T) {
	g := newGraph()
	big := g.put([]byte(`{"role":"assistant","content":"` + strings.Repeat("x", 1<<20) + `"}`))
	level := big
	for range 12 {
		level = g.put(refs(1, level, level))
	}
	r := g.read(t, g.put(refs(1, level)), false)
	size := 0
	for _, l := range r.lines {
		size += len(l)
	}
	if !r.noted("dropped", "L802") || size > 2*freeRepeats {
		t.Errorf("%d bytes come of 1 MB: %v", size, r.notes)
	}
}

func TestMissingRoot(t *testing.T) {
	g, _ := whole()
	r := g.read(t, ID{1}, false)
	if r.Broken() == "" || !r.noted("missing", "root") {
		t.Errorf("%q %v", r.Broken(), r.notes)
	}
	r = g.read(t, g.put([]byte{0xff, 0xff}), false)
	if r.Broken() == "" || len(r.notes) == 0 {
		t.Errorf("%q %v", r.Broken(), r.notes)
	}
}

type failing struct{ err error }

func (f failing) Blob(context.Context, ID) ([]byte, error) { return nil, f.err }

func TestErrors(t *testing.T) {
	broken := errors.New("the disk is gone")
	if _, err := Read(t.Context(), Options{Blobs: failing{broken}}); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	g, root := whole()
	s, err := Read(ctx, Options{Blobs: g, Root: root})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, err = range s.Messages(ctx) {
		if n++; n == 3 {
			cancel()
		}
	}
	if !errors.Is(err, context.Canceled) || n > 4 {
		t.Errorf("%d messages, then %v", n, err)
	}
	cancel()
	if _, err := Read(ctx, Options{Blobs: g, Root: root}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func FuzzState(f *testing.F) {
	g, root := whole()
	for _, id := range g.order {
		f.Add(g.blobs[id], g.blobs[root])
	}
	f.Fuzz(func(t *testing.T, blob, top []byte) {
		if len(blob) > 1<<12 || len(top) > 1<<12 {
			return
		}
		g, _ := whole()
		// Whatever the root refers to is this blob, unless it is there.
		h := &fallback{g, blob}
		s, err := Read(t.Context(), Options{Blobs: h, Root: g.put(top), History: true, All: g.all()})
		if err != nil {
			t.Fatal(err)
		}
		walkQuietly(t, s, 0)
	})
}

type fallback struct {
	*graph
	blob []byte
}

func (f *fallback) Blob(ctx context.Context, id ID) ([]byte, error) {
	if b, err := f.graph.Blob(ctx, id); b != nil {
		return b, err
	}
	return append([]byte{}, f.blob...), nil
}

func walkQuietly(t *testing.T, s *State, depth int) {
	r := &read{}
	r.walk(t, s)
	s.Turns()
	if depth > 2 {
		return
	}
	for i, c := range s.Children() {
		if i > 3 {
			return
		}
		child, err := c.Open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		walkQuietly(t, child, depth+1)
	}
}

// once fails one read.
type once struct {
	*graph
	left int
	err  error
}

func (o *once) Blob(ctx context.Context, id ID) ([]byte, error) {
	if o.left--; o.left == -1 {
		return nil, o.err
	}
	return o.graph.Blob(ctx, id)
}

// TestErrorAnywhere: a read that fails once is an error, also of an older state.
func TestErrorAnywhere(t *testing.T) {
	broken := errors.New("the disk is gone")
	for n := 0; ; n++ {
		g := newGraph()
		older := g.put(refs(8, g.turn("first", "r1", says("one")), g.turn("again", "r2", says("two"))))
		root := g.put(refs(8, g.turn("first", "r1", says("one")), g.turn("other", "r3", says("three"))))
		o := &once{g, n, broken}
		s, err := Read(t.Context(), Options{Blobs: o, Root: root, History: true, All: g.all(), Roots: []ID{older}})
		if o.left >= 0 {
			if err != nil || len(s.branches) != 1 {
				t.Errorf("%v, %d branches", err, len(s.branches))
			}
			break
		}
		if !errors.Is(err, broken) {
			t.Errorf("read %d fails: %v", n+1, err)
		}
	}
}

package agentstate

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"rehome/formats/session"
)

// TestBuild builds a conversation and reads it.
func TestBuild(t *testing.T) {
	g, ctx := newGraph(), t.Context()
	b := Builder{Put: func(_ context.Context, id ID, data []byte) error {
		if g.put(bytes.Clone(data)) != id {
			t.Error("the id of a blob is not its hash")
		}
		return nil
	}}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(b.Prompt(ctx, []byte(systemJSON)))
	must(b.Prompt(ctx, []byte(asksJSON("list"))))
	at := session.Stored(1700000000000)
	must(b.Begin(ctx, "r1", "m1", "list", at))
	must(b.Thinking(ctx, &session.Thinking{Text: "hm", Millis: 7}))
	must(b.Text(ctx, "let me see", at, session.Stamp{}))
	call := &session.ToolCall{ID: "c1", Kind: "shell", Args: session.Raw(`{"command":"ls","toolCallId":"c1"}`), Start: at, End: session.Stored(1700000000900)}
	must(b.Call(ctx, call, session.Raw(`{"success":{"command":"ls","stdout":"a.txt\n"}}`)))
	must(b.End(ctx))
	first, err := b.Root(ctx)
	must(err)
	must(b.Begin(ctx, "", "m2", "more", session.Stamp{}))
	must(b.Call(ctx, &session.ToolCall{ID: "c2", Kind: "piRead", Args: session.Raw(`{}`)}, nil))
	must(b.End(ctx))
	root, err := b.Root(ctx)
	must(err)

	r := g.read(t, first, false)
	want(t, r, `system "be good"*`, `1 user <git_status>* "list"`, `assistant thinks "let me see" calls:shell:c1`, `tool gives:c1:success`)
	for _, text := range []string{`"args":{"command":"ls","toolCallId":"c1"}`, `"value":{"success":{"command":"ls","stdout":"a.txt\n"}}`, `"requestId":"r1"`, `"millis":7`} {
		if !r.has(text) {
			t.Errorf("%s is missing:\n%s", text, r.text())
		}
	}
	if r = g.read(t, root, false); len(r.Turns()) != 2 || len(r.notes) > 0 || !r.has(`"kind":"piRead"`) {
		t.Errorf("%v %v\n%s", r.Turns(), r.notes, r.text())
	}
	again := &rebuilder{t: t, blobs: g.blobs, seen: map[ID]bool{}}
	again.root(g.blobs[root])

	for _, bad := range []*session.ToolCall{{Kind: "no", Args: session.Raw(`{}`)}, {Kind: "shell", Args: session.Raw(`[]`)}, {Kind: "shell", Args: session.Raw(`{"x":1}`)}} {
		if err := b.Call(ctx, bad, nil); err == nil {
			t.Errorf("%s %s is encoded", bad.Kind, bad.Args)
		}
	}
	full := errors.New("disk full")
	b.Put = func(context.Context, ID, []byte) error { return full }
	if _, err := b.Root(ctx); !errors.Is(err, full) {
		t.Error(err)
	}
}

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
	id := func(id ID, err error) ID {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	call := func(id, kind string, args, value session.Raw) []byte {
		t.Helper()
		c := Call{ID: id, Kind: kind, Args: encoded(kind, "args", args), Value: encoded(kind, "result", value), Start: session.Stored(1700000000000), End: session.Stored(1700000000900)}
		step, err := CallStep(&c)
		if err != nil {
			t.Fatal(err)
		}
		return step
	}
	at := session.Stored(1700000000000)
	r := Root{Mode: "plan", Branch: "main", Folders: []string{"/home/ann/a b", `C:\x`}, Repos: []session.Repo{{Path: "/r", Branch: "b"}}, Context: &session.Context{Used: 1, Max: 2}}
	r.Prompts = []ID{id(b.Blob(ctx, []byte(systemJSON))), id(b.Blob(ctx, []byte(asksJSON("list"))))}
	first := AgentTurn{Request: "r1", User: id(b.User(ctx, &User{Text: "list", Mode: "ask", Start: at}))}
	for _, step := range [][]byte{ThinkingStep(&session.Thinking{Text: "hm", Millis: 7}, nil, nil), TextStep("let me see", at, session.Stamp{}, nil, nil),
		call("c1", "shell", session.Raw(`{"command":"ls","toolCallId":"c1"}`), session.Raw(`{"success":{"command":"ls","stdout":"a.txt\n"}}`))} {
		first.Steps = append(first.Steps, id(b.Blob(ctx, step)))
	}
	r.Turns = append(r.Turns, id(b.Turn(ctx, &first)))
	r.Timing(at, session.Stored(1700000001000))
	before := id(b.Root(ctx, &r))
	second := AgentTurn{User: id(b.User(ctx, &User{Text: "more"})), Steps: []ID{id(b.Blob(ctx, call("c2", "piRead", session.Raw(`{}`), nil))),
		id(b.Blob(ctx, call("c3", "tool-97", session.Raw("\n\x01x"), session.Raw("\n\x01y"))))}}
	r.Turns = append(r.Turns, id(b.Turn(ctx, &second)))
	r.Timing(session.Stamp{}, session.Stamp{})
	root := id(b.Root(ctx, &r))

	was := g.read(t, before, false)
	want(t, was, `system "be good"*`, `1 user <git_status>* "list"`, `assistant thinks "let me see" calls:shell:c1`, `tool gives:c1:success`)
	for _, text := range []string{`"args":{"command":"ls","toolCallId":"c1"}`, `"value":{"success":{"command":"ls","stdout":"a.txt\n"}}`, `"requestId":"r1"`, `"millis":7`,
		`"mode":"plan"`, `"mode":"ask"`, `"branch":"main"`, `"workspace":"/home/ann/a b"`, `"folders":["C:\\x"]`, `"repos":[{"path":"/r","branch":"b"}]`, `"context":{"used":1,"max":2}`,
		`"end":"2023-11-14T22:13:21.000Z"`} {
		if !was.has(text) {
			t.Errorf("%s is missing:\n%s\n%s", text, was.head, was.text())
		}
	}
	if is := g.read(t, root, false); len(is.Turns()) != 2 || len(is.notes) > 0 || !is.has(`"kind":"piRead"`) ||
		!is.has(`"kind":"tool-97","args":{"field":1,"wire":2,"base64":"CgF4"}`) || !is.has(`"value":{"field":2,"wire":2,"base64":"CgF5"}`) {
		t.Errorf("%v %v\n%s", is.Turns(), is.notes, is.text())
	}
	again := &rebuilder{t: t, blobs: g.blobs, seen: map[ID]bool{}}
	again.root(g.blobs[root])

	for _, bad := range []Call{{Kind: "no"}, {Kind: "tool-x"}, {Kind: "shell", Body: []byte(`1`)}, {Kind: "shell", Body: []byte(`"x":1`)}, {Kind: "shell", More: []byte(`"x":1`)}} {
		if _, err := CallStep(&bad); err == nil {
			t.Errorf("%+v is encoded", bad)
		}
	}
	full := errors.New("disk full")
	b.Put = func(context.Context, ID, []byte) error { return full }
	if _, err := b.Root(ctx, &r); !errors.Is(err, full) {
		t.Error(err)
	}
}

// encoded returns a message of a kind's, given as JSON; of a kind without a table it is given
// as it is.
func encoded(kind, name string, doc session.Raw) []byte {
	f := codecs().call.Message.Named(kind + "ToolCall")
	if f == nil || doc == nil {
		return doc
	}
	b, err := f.Message.Named(name).Message.AppendJSON([]byte{}, doc)
	if err != nil {
		panic(err)
	}
	return b
}

package agentwrite_test

import (
	"bytes"
	"context"
	"testing"

	"rehome/formats"
	"rehome/formats/all"
	"rehome/formats/formatstest/graphgen"
	"rehome/formats/internal/agentstate"
	"rehome/formats/internal/agentwrite"
	"rehome/formats/session"
)

// TestContinues adds a turn to the states of chats: their blobs stay as they are, but for the
// root, and a message without a turn goes into the last one.
func TestContinues(t *testing.T) {
	for seed := range uint64(3) {
		p := graphgen.New(seed, graphgen.Whole)
		g := p.Graph()
		chat, err := p.WriteChat(t.Context(), t.TempDir(), g, graphgen.Odd{})
		if err != nil {
			t.Fatal(err)
		}
		l, err := formats.Locate(chat)
		if err != nil {
			t.Fatal(err)
		}
		v := formats.View{OnNotice: func(string) {}}
		for s, err := range all.Registry().Lookup("cursor-chat").Sessions.Decode(t.Context(), l, v, session.Selection{}) {
			if err != nil {
				t.Fatal(err)
			}
			if s.Parent != nil {
				continue
			}
			own := map[agentstate.ID][]byte{}
			root, _, err := s.Graph.Copy(t.Context(), func(_ context.Context, id [32]byte, data []byte) error {
				own[id] = bytes.Clone(data)
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			was, err := agentstate.Continue(own[root])
			if err != nil {
				t.Fatal(err)
			}
			text := func(role session.Role, turn *session.Turn, text string) *session.Message {
				return &session.Message{ID: text, Role: role, Turn: turn, Parts: []session.Part{&session.Text{Text: text}}}
			}
			w := &written{blobs: blobs{data: map[agentstate.ID][]byte{}}}
			c := agentwrite.New(&session.Session{Head: session.Head{ID: "more", Agent: session.ClaudeCode}}, agentwrite.Options{Continues: s.Graph, Put: func(_ context.Context, id agentstate.ID, data []byte) error {
				w.data[id] = bytes.Clone(data)
				return nil
			}})
			for _, m := range []*session.Message{text(session.Assistant, nil, "the end"), text(session.User, &session.Turn{Number: 9}, "more?"), text(session.Assistant, nil, "yes")} {
				if err := c.Message(t.Context(), m); err != nil {
					t.Fatal(err)
				}
			}
			if err := c.End(t.Context()); err != nil {
				t.Fatal(err)
			}
			if w.root, err = c.Root(t.Context()); err != nil {
				t.Fatal(err)
			}
			delete(own, root)
			for id, data := range own {
				if !bytes.Equal(w.data[id], data) {
					t.Errorf("seed %d: blob %s is not what it was", seed, id.Short())
				}
			}
			now, err := agentstate.Continue(w.data[w.root])
			if err != nil || len(now.Turns) != len(was.Turns)+1 || len(now.Prompts) < len(was.Prompts)+3 {
				t.Errorf("seed %d: %d turns and %d prompts, then %d and %d: %v", seed, len(was.Turns), len(was.Prompts), len(now.Turns), len(now.Prompts), err)
			}
			last := len(was.Turns) - 1
			before, after := agentstate.ParseTurn(own[was.Turns[last]]), agentstate.ParseTurn(w.data[now.Turns[last]])
			if before != nil && len(after.Steps) != len(before.Steps)+1 {
				t.Errorf("seed %d: %d steps of the last turn, then %d", seed, len(before.Steps), len(after.Steps))
			}
		}
	}
}

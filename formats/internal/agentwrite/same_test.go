package agentwrite_test

import (
	"context"
	"errors"
	"testing"

	"rehome/formats"
	"rehome/formats/all"
	"rehome/formats/formatstest/graphgen"
	"rehome/formats/internal/agentstate"
	"rehome/formats/internal/agentwrite"
	"rehome/formats/internal/cursortools"
	"rehome/formats/loss"
	"rehome/formats/session"
)

// rewrite writes the chat of a store while it is decoded, and returns the graph.
func rewrite(t *testing.T, path string, o agentwrite.Options) (*written, error) {
	t.Helper()
	l, err := formats.Locate(path)
	if err != nil {
		t.Fatal(err)
	}
	w := &written{blobs: blobs{data: map[agentstate.ID][]byte{}}, notes: map[loss.Code]int{}}
	o.Put = func(_ context.Context, id agentstate.ID, data []byte) error {
		w.data[id], w.order = append([]byte{}, data...), append(w.order, id)
		return nil
	}
	o.OnLoss = func(l loss.Loss) { w.notes[l.Code]++ }
	var parent *agentwrite.Conversation
	v := formats.View{OnLoss: func(loss.Loss) {}, OnNotice: func(string) {}}
	for s, err := range all.Registry().Lookup("cursor-chat").Sessions.Decode(t.Context(), l, v, session.Selection{}) {
		if err != nil {
			t.Fatal(err)
		}
		c := agentwrite.New(s, o)
		for m, err := range s.Messages {
			if err := errors.Join(err, c.Message(t.Context(), m)); err != nil {
				return nil, err
			}
		}
		if err := c.End(t.Context()); err != nil {
			return nil, err
		}
		if s.Parent == nil {
			parent = c
		} else if err := parent.Adopt(t.Context(), &s.Head, c); err != nil {
			return nil, err
		}
	}
	w.root, err = parent.Root(t.Context())
	return w, err
}

// TestVerbatim copies the states of chats. The root is the same, and each blob that is
// reached.
func TestVerbatim(t *testing.T) {
	for seed := range uint64(4) {
		for shape := range graphgen.Shapes {
			p := graphgen.New(seed, shape)
			for _, g := range []*graphgen.Graph{p.Graph(), p.StrangeGraph()} {
				chat, err := p.WriteChat(t.Context(), t.TempDir(), g, graphgen.Odd{})
				if err != nil {
					t.Fatal(err)
				}
				w, err := rewrite(t, chat, agentwrite.Options{})
				if err != nil {
					t.Fatal(err)
				}
				if w.root.String() != g.Root {
					t.Errorf("%s %d: the root is %s, not %s", shape, seed, w.root, g.Root)
				}
				for i, b := range g.Blobs {
					id, _ := agentstate.ParseID(b.ID)
					if data, ok := w.data[id]; g.Reached(i) && (!ok || string(data) != string(b.Data)) {
						t.Errorf("%s %d: blob %s is missing", shape, seed, b.ID)
					}
				}
				if len(w.order) != len(w.data) || w.order[len(w.order)-1] != w.root {
					t.Errorf("%s %d: %d blobs are stored for %d", shape, seed, len(w.order), len(w.data))
				}
				if w.notes[loss.SessionMetadata]--; w.notes[loss.SessionMetadata] != 0 || len(w.notes) != 1 { // of the meta row
					t.Errorf("%s %d: losses %v", shape, seed, w.notes)
				}
			}
		}
	}
}

// told counts what is told of turns.
type told struct{ turns, calls, results int }

func (r *told) Turn(m *session.Message, _ string) string              { r.turns++; return m.Turn.RequestID }
func (r *told) Text(string, session.Stamp)                            {}
func (r *told) Thinking(*session.Thinking, session.Stamp)             {}
func (r *told) Call(string, *cursortools.Call, session.Stamp)         { r.calls++ }
func (r *told) Result(_ string, _ *cursortools.Call, _ session.Stamp) { r.results++ }

// TestVerbatimTold copies a state for a caller that writes runs, too.
func TestVerbatimTold(t *testing.T) {
	p := graphgen.New(1, graphgen.SpineOnly)
	g := p.Graph()
	chat, err := p.WriteChat(t.Context(), t.TempDir(), g, graphgen.Odd{})
	if err != nil {
		t.Fatal(err)
	}
	r := &told{}
	w, err := rewrite(t, chat, agentwrite.Options{Runs: r})
	if err != nil || w.root.String() != g.Root || len(w.order) != len(w.data) {
		t.Errorf("root %s, %d blobs are stored for %d: %v", w.root, len(w.order), len(w.data), err)
	}
	if r.turns == 0 || r.calls == 0 || r.results != r.calls {
		t.Errorf("%d turns, %d calls and %d results are told", r.turns, r.calls, r.results)
	}
}

// TestNotVerbatim encodes states again that are damaged, or that options change.
func TestNotVerbatim(t *testing.T) {
	p := graphgen.New(3, graphgen.Whole)
	g := p.Graph()
	chat, err := p.WriteChat(t.Context(), t.TempDir(), g, graphgen.Odd{})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range []agentwrite.Options{{Cwd: "/elsewhere"}, {FullHistory: true}} {
		if w, err := rewrite(t, chat, o); err != nil || w.root.String() == g.Root {
			t.Errorf("it is copied: %v", err)
		}
	}
	for i := range g.Blobs {
		if !g.Reached(i) || g.Blobs[i].ID == g.Root {
			continue
		}
		less := *g
		less.Blobs = append(append(less.Blobs[:0:0], g.Blobs[:i]...), g.Blobs[i+1:]...)
		chat, err := p.WriteChat(t.Context(), t.TempDir(), &less, graphgen.Odd{})
		if err != nil {
			t.Fatal(err)
		}
		if w, err := rewrite(t, chat, agentwrite.Options{}); err != nil || w.root.String() == g.Root {
			t.Errorf("without blob %d it is copied: %v", i, err)
		}
	}
}

package agentstate

import (
	"context"
	"iter"
	"slices"
	"testing"

	"rehome/formats/session"
)

// stack is blobs in the order in which they were put.
type stack struct {
	order []ID
	blobs map[ID][]byte
}

func (s *stack) Blob(_ context.Context, id ID) ([]byte, error) { return s.blobs[id], nil }

func (s *stack) all() iter.Seq2[ID, error] {
	return func(yield func(ID, error) bool) {
		for _, id := range s.order {
			if !yield(id, nil) {
				return
			}
		}
	}
}

func (s *stack) without(id ID) *stack {
	out := &stack{blobs: map[ID][]byte{}}
	for _, one := range s.order {
		if one != id {
			out.order = append(out.order, one)
			out.blobs[one] = s.blobs[one]
		}
	}
	return out
}

// TestNewestSound: the newest root counts, although turns get other ids while they go on;
// those of subagents, and those that lack something, do not.
func TestNewestSound(t *testing.T) {
	s, ctx := &stack{blobs: map[ID][]byte{}}, t.Context()
	b := Builder{Put: func(_ context.Context, id ID, data []byte) error {
		s.order, s.blobs[id] = append(s.order, id), slices.Clone(data)
		return nil
	}}
	id := func(id ID, err error) ID {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	user := id(b.User(ctx, &User{Text: "one"}))
	turn := AgentTurn{User: user}
	early := id(b.Root(ctx, &Root{Turns: []ID{id(b.Turn(ctx, &turn))}}))
	step := id(b.Blob(ctx, TextStep("hello", session.Stamp{}, session.Stamp{}, nil, nil)))
	turn.Steps = []ID{step}
	first := id(b.Turn(ctx, &turn))
	later := id(b.Root(ctx, &Root{Turns: []ID{first}}))
	second := AgentTurn{User: id(b.User(ctx, &User{Text: "two"})), Steps: []ID{id(b.Blob(ctx, TextStep("bye", session.Stamp{}, session.Stamp{}, nil, nil)))}}
	last := id(b.Root(ctx, &Root{Turns: []ID{first, id(b.Turn(ctx, &second))}}))
	child := AgentTurn{User: id(b.User(ctx, &User{Text: "look"}))}
	b.Root(ctx, &Root{Turns: []ID{id(b.Turn(ctx, &child))}})
	for name, c := range map[string]struct {
		missing, want ID
		lax, found    bool
	}{
		"nothing missing":   {ID{}, last, false, true},
		"the last root":     {last, later, false, true},
		"a step of all":     {step, early, false, true},
		"a step of the end": {second.Steps[0], later, false, true},
		"the prompt":        {user, ID{}, false, false},
		"the prompt, lax":   {user, last, true, true},
	} {
		h := s.without(c.missing)
		got, found, err := NewestSound(ctx, h, h.all(), c.lax)
		if err != nil || found != c.found || found && got != c.want {
			t.Errorf("%s: %s, %t, %v; want %s", name, got, found, err, c.want)
		}
	}
}

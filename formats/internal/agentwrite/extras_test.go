package agentwrite_test

import (
	"fmt"
	"slices"
	"testing"

	"rehome/formats/formatstest/graphgen"
	"rehome/formats/internal/agentwrite"
	"rehome/formats/loss"
	"rehome/formats/session"
)

// extrasOf lists the Extras of messages, turns and parts, with the text of what they belong to.
func extrasOf(h *held) (out []string) {
	add := func(of string, list []session.Extra) {
		for _, e := range list {
			out = append(out, fmt.Sprintf("%s %s %s", of, e.Name, e.Raw))
		}
	}
	for i, m := range h.list {
		at := fmt.Sprint(i)
		add(at, m.Extras)
		if m.Turn != nil {
			add(at+" turn", m.Turn.Extras)
		}
		for _, p := range m.Parts {
			switch p := p.(type) {
			case *session.Text:
				add(at+" text", p.Extras)
			case *session.Thinking:
				add(at+" thinking", p.Extras)
			case *session.ToolCall:
				add(at+" call", p.Extras)
			}
		}
	}
	slices.Sort(out)
	return out
}

// TestExtras gives back what decoders could not convert: all of it where Cursor wrote it,
// and where fields are unknown, all but what is reported.
func TestExtras(t *testing.T) {
	kept, total := 0, 0
	for seed := range uint64(8) {
		for _, shape := range []graphgen.Shape{graphgen.Whole, graphgen.SpineOnly, graphgen.PromptsOnly} {
			p := graphgen.New(seed, shape)
			for _, g := range []*graphgen.Graph{p.Graph(), p.StrangeGraph()} {
				chat, err := p.WriteChat(t.Context(), t.TempDir(), g, graphgen.Odd{})
				if err != nil {
					t.Fatal(err)
				}
				was := decode(t, chat)[0]
				w := write(t, agentwrite.Options{}, was)
				want, got := extrasOf(was), extrasOf(w.read(t, &was.Session)[0])
				missing := 0
				for _, e := range want {
					if !slices.Contains(got, e) {
						missing++
						if g.Strangers() == nil || w.notes[loss.MessageMetadata]+w.notes[loss.PartMetadata]+w.notes[loss.TurnRecord] == 0 {
							t.Errorf("%s %d: missing: %s", shape, seed, e)
						}
					}
				}
				kept, total = kept+len(want)-missing, total+len(want)
			}
		}
	}
	if kept*10 < total*6 {
		t.Errorf("%d of %d are kept", kept, total)
	}
	t.Logf("%d of %d are kept", kept, total)
}

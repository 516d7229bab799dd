package cursoride

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/loss"
	"rehome/formats/session"
)

// TestPrompts: what was typed and is in no session is found by the name of its
// list, and is the same alone as among all; where nothing is left of a list
// there is no such session, and it is listed where prompts were lost.
func TestPrompts(t *testing.T) {
	script, err := os.ReadFile(cases + "prompts.sql")
	if err != nil {
		t.Fatal(err)
	}
	dir := build(t, string(script))
	first, second := strings.Repeat("a", 32)+"-prompts", strings.Repeat("b", 32)+"-prompts"
	whole := decodeAt(t, dir, session.Selection{})
	for _, ids := range [][]string{{first}, {second}, {"lost"}, {"global-prompts"}, {"lost", first, "talked"}, {strings.Repeat("c", 32) + "-prompts"}} {
		out := decodeAt(t, dir, session.Selection{IDs: ids})
		if want := len(ids); len(out.heads) != want && !(strings.HasPrefix(ids[0], "ccc") && len(out.heads) == 0) || len(out.errs) > 0 || !out.tally.Balanced() {
			t.Errorf("%v: %d sessions, %+v: %s", ids, len(out.heads), out.tally, out.ledger())
		}
		for _, l := range out.lines {
			if !slices.Contains(whole.lines, l) {
				t.Errorf("%v: not what it is among all: %s", ids, l)
			}
		}
	}
	l, err := formats.Locate(dir)
	if err != nil {
		t.Fatal(err)
	}
	var listed []string
	for h, err := range Format().Sessions.Heads(t.Context(), l, formats.View{OnNotice: func(string) {}}) {
		if err != nil {
			t.Fatal(err)
		}
		listed = append(listed, fmt.Sprintf("%s %d", h.ID, h.Turns))
	}
	want := []string{"empty-state-draft 0", "loose -1", "lost -1", "talked -1", "whole -1", first + " -1", second + " -1"}
	if !slices.Equal(listed, want) {
		t.Errorf("listed are %q, want %q", listed, want)
	}
}

// TestPromptsUnwalked: a list lacks what sessions say whether or not anybody
// walks those, and however they keep it.
func TestPromptsUnwalked(t *testing.T) {
	script, err := os.ReadFile(cases + "state.sql")
	if err != nil {
		t.Fatal(err)
	}
	plain := decodeAt(t, build(t, string(script)), session.Selection{})
	var said []string
	for _, l := range plain.lines {
		if _, rest, ok := strings.Cut(l, `"role":"user"`); ok {
			if _, rest, ok = strings.Cut(rest, `{"type":"text","text":"`); ok {
				text, _, _ := strings.Cut(rest, `"`)
				said = append(said, `{"text":"`+text+`"}`)
			}
		}
	}
	if len(said) < 2 {
		t.Fatal(said)
	}
	dir := build(t, string(script)+"\n;INSERT INTO ItemTable VALUES ('aiService.prompts','["+strings.Join(said, ",")+`,{"text":"in no session"}]');`)
	l, err := formats.Locate(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, sel := range []session.Selection{{}, {IDs: []string{"global-prompts"}}} {
		for s, err := range Format().Sessions.Decode(t.Context(), l, formats.View{OnLoss: func(loss.Loss) {}, OnNotice: func(string) {}}, sel) {
			if err != nil || s.ID != "global-prompts" {
				continue
			}
			n := 0
			for m, err := range s.Messages {
				if text := m.Parts[0].(*session.Text).Text; err != nil || text != "in no session" {
					t.Errorf("%q is listed, %v", text, err)
				}
				n++
			}
			if n != 1 {
				t.Errorf("%d prompts are in no session", n)
			}
		}
	}
}

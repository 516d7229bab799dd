package all_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"rehome/formats"
	"rehome/formats/all"
	"rehome/formats/formatstest/graphgen"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/testdata/ide"
)

// TestInnerComeAlong: whoever asks for the sessions of a store's list, and for
// what lies inside of them, gets the whole store; and each session by its name
// alone, also one that no list names.
func TestInnerComeAlong(t *testing.T) {
	dir := t.TempDir()
	script, err := os.ReadFile("../../testdata/ide/cases/subagents.sql")
	if err == nil {
		err = ide.Build(filepath.Join(dir, "User"), string(script))
	}
	if err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(dir, "config")
	if err := os.CopyFS(config, os.DirFS("../../testdata/claude/config")); err != nil {
		t.Fatal(err)
	}
	p := graphgen.New(0, graphgen.Whole)
	for seed := uint64(1); len(p.Expected(graphgen.Chat)) == 1; seed++ {
		p = graphgen.New(seed, graphgen.Whole)
	}
	for _, at := range []string{
		filepath.Join(dir, "User"), config, chatStore(t, p, p.Graph(), graphgen.Odd{}),
		sdkStore(t, p, p.Graph(), graphgen.Odd{}).Project, lineStore(t, p, p.Graph()),
	} {
		l, err := formats.Locate(at)
		if err != nil {
			t.Fatal(err)
		}
		found, err := all.Registry().Detect(t.Context(), l)
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %v, %v", at, found, err)
		}
		f, v := found[0].Format, formats.View{OnLoss: func(loss.Loss) {}, OnNotice: func(string) {}}
		var listed []string
		for h, err := range f.Sessions.Heads(t.Context(), l, v) {
			if err != nil {
				t.Fatalf("%s: %v", at, err)
			}
			listed = append(listed, h.ID)
		}
		ids := func(sel session.Selection) (out []string) {
			for s, err := range f.Sessions.Decode(t.Context(), l, v, sel) {
				if s == nil {
					t.Fatalf("%s: %v", at, err)
				}
				out = append(out, s.ID)
			}
			return out
		}
		whole := ids(session.Selection{})
		if len(whole) <= len(listed) {
			t.Errorf("%s: none of %q lies in another", f.Name, whole)
		}
		if got := ids(session.Selection{IDs: listed, Inner: true}); !slices.Equal(got, whole) {
			t.Errorf("%s: %q, and among all %q", f.Name, got, whole)
		}
		for _, id := range whole {
			if got := ids(session.Selection{IDs: []string{id}}); !slices.Equal(got, []string{id}) {
				t.Errorf("%s: %s alone: %q", f.Name, id, got)
			}
		}
	}
}

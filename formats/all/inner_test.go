package all_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"rehome/formats"
	"rehome/formats/all"
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
	for path, least := range map[string]int{
		filepath.Join(dir, "User"):      5,
		"../../testdata/sdk/gen/sqlite": 1,
		"../../testdata/claude/config":  1,
	} {
		at := filepath.Join(t.TempDir(), filepath.Base(path))
		if err := os.CopyFS(at, os.DirFS(path)); err != nil {
			t.Fatal(err)
		}
		l, err := formats.Locate(at)
		if err != nil {
			t.Fatal(err)
		}
		found, err := all.Registry().Detect(t.Context(), l)
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %v, %v", path, found, err)
		}
		f, v := found[0].Format, formats.View{Note: func(loss.Note) {}, Say: func(string) {}}
		var listed []string
		for h, err := range f.Heads(t.Context(), l, v) {
			if err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			listed = append(listed, h.ID)
		}
		ids := func(sel session.Selection) (out []string) {
			for s, err := range f.Decode(t.Context(), l, v, sel) {
				if s == nil {
					t.Fatalf("%s: %v", path, err)
				}
				out = append(out, s.ID)
			}
			return out
		}
		whole := ids(session.Selection{})
		if inner := len(whole) - len(listed); inner < least {
			t.Errorf("%s: only %d of its sessions lie in others", path, inner)
		}
		if got := ids(session.Selection{IDs: listed, Inner: true}); !slices.Equal(got, whole) {
			t.Errorf("%s: %q, and among all %q", path, got, whole)
		}
		for _, id := range whole {
			if got := ids(session.Selection{IDs: []string{id}}); !slices.Equal(got, []string{id}) {
				t.Errorf("%s: %s alone: %q", path, id, got)
			}
		}
	}
}

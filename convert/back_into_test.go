package convert_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rehome/convert"
	"rehome/formats/all"
)

// TestBackInto: an agent of the SDK is continued in Claude Code; its new turns are added
// to it, twice, and taken out again.
func TestBackInto(t *testing.T) {
	h := newSDKHome(t)
	agent := h.expect(h.opts, convert.Placed)
	before := said(t, h.store(), "cursor-sdk")

	// Its copy in Claude Code, where turns are added.
	o := convert.MigrateOptions{To: "claude-code", Dir: filepath.Join(h.home, ".claude"), Cwd: h.cwd}
	done, err := convert.Migrate(t.Context(), all.Registry(), []convert.MigrateSource{{Path: h.store(), Sessions: []string{agent.Session}}}, o)
	if err != nil || len(done.Migrated) != 1 || done.Migrated[0].Err() != nil {
		t.Fatalf("%+v, %v", done, err)
	}
	file := done.Migrated[0].File
	back := func() convert.Migrated {
		t.Helper()
		done, err := convert.Back(t.Context(), all.Registry(), convert.BackSource{Path: file, Format: "claude-code", ID: done.Migrated[0].Session},
			convert.BackSource{Path: h.store(), Format: "cursor-sdk", ID: agent.Session}, h.opts)
		if err != nil {
			t.Fatal(err)
		}
		return done.Migrated[0]
	}
	if m := back(); m.Status != convert.Same {
		t.Errorf("nothing new: %+v", m)
	}
	var was [][]string
	for n := range 2 {
		was = append(was, said(t, h.store(), "cursor-sdk"))
		growAs(t, file, done.Migrated[0].Session, "more")
		if m := back(); m.Status != convert.Updated || m.Turns != 1 || m.Undo == 0 {
			t.Errorf("%d: %+v", n, m)
		}
		if got := said(t, h.store(), "cursor-sdk"); !slices.Equal(got, append(slices.Clone(was[n]), "user more")) {
			t.Errorf("%d: the agent says\n%s\nand said before\n%s", n, strings.Join(got, "\n"), strings.Join(was[n], "\n"))
		}
		if m := back(); m.Status != convert.Same {
			t.Errorf("again: %+v", m)
		}
	}
	for n := range 2 {
		if r := h.undo(""); len(r.Kept) > 0 {
			t.Errorf("undo: %+v", r)
		}
		if got := said(t, h.store(), "cursor-sdk"); !slices.Equal(got, was[1-n]) {
			t.Errorf("undone, the agent says\n%s", strings.Join(got, "\n"))
		}
	}
	if got := said(t, h.store(), "cursor-sdk"); !slices.Equal(got, before) {
		t.Errorf("in the end the agent says\n%s", strings.Join(got, "\n"))
	}
}

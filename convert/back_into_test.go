package convert_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rehome/convert"
	"rehome/formats"
	"rehome/formats/all"
	"rehome/formats/session"
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

// TestBackBeside: an agent with runs that were cancelled or failed, which its client does not
// send, is continued in Claude Code: they stay as they are, and the new turn has a number of
// its own.
func TestBackBeside(t *testing.T) {
	const id = "agent-6aeb3d5e-fe59-4878-ba0f-4c2a413a5996"
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, ".cursor"), os.DirFS("../testdata/sdk/play/sqlite")); err != nil {
		t.Fatal(err)
	}
	store := filepath.Join(dir, ".cursor", "projects", "tmp-play-work", "sdk-agent-store", "8c37560ae74c932d947654aab2bb4124")
	told := func() (sent, beside []string) {
		t.Helper()
		l, err := formats.Locate(store)
		if err != nil {
			t.Fatal(err)
		}
		for s, err := range all.Registry().Lookup("cursor-sdk").Sessions.Decode(t.Context(), l, formats.View{OnNotice: func(string) {}}, session.Selection{IDs: []string{id}}) {
			if err != nil {
				t.Fatal(err)
			}
			for m, err := range s.Messages {
				if err != nil {
					t.Fatal(err)
				}
				if m.Branch != "" {
					beside = append(beside, m.Branch+" "+m.ID)
				} else if m.Turn != nil {
					sent = append(sent, m.Parts[len(m.Parts)-1].(*session.Text).Text)
				}
			}
		}
		return sent, beside
	}
	sent, beside := told()
	if len(sent) != 4 || len(beside) != 5 {
		t.Fatalf("%q, %q", sent, beside)
	}
	o := convert.MigrateOptions{To: "claude-code", Dir: filepath.Join(dir, ".claude"), Cwd: dir, UndoDir: filepath.Join(dir, "undo")}
	done, err := convert.Migrate(t.Context(), all.Registry(), []convert.MigrateSource{{Path: store, Sessions: []string{id}}}, o)
	if err != nil || len(done.Migrated) != 1 || done.Migrated[0].Err() != nil {
		t.Fatalf("%+v, %v", done, err)
	}
	from := convert.BackSource{Path: done.Migrated[0].File, Format: "claude-code", ID: done.Migrated[0].Session}
	growAs(t, from.Path, from.ID, "more")
	for _, want := range []string{convert.Updated, convert.Same} {
		done, err := convert.Back(t.Context(), all.Registry(), from, convert.BackSource{Path: store, Format: "cursor-sdk", ID: id}, o)
		if err != nil || done.Migrated[0].Status != want {
			t.Fatalf("%+v, %v", done, err)
		}
		if now, aside := told(); !slices.Equal(now, append(slices.Clone(sent), "more")) || !slices.Equal(aside, beside) {
			t.Errorf("%q, %q", now, aside)
		}
	}
}

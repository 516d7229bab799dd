package all_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rehome/convert"
	"rehome/formats/all"
	"rehome/formats/formatstest/idegen"
	"rehome/formats/session"
	"rehome/testdata/ide"
)

// carryPart takes some sessions of a store through an archive, and back.
func carryPart(t *testing.T, dir string, ids ...string) string {
	t.Helper()
	archive, back := filepath.Join(t.TempDir(), "part"), filepath.Join(t.TempDir(), "User")
	for _, step := range []struct {
		from, to string
		o        convert.Options
	}{{dir, archive, convert.Options{To: "archive", Sessions: ids}}, {archive, back, convert.Options{}}} {
		if rep, err := convert.Convert(t.Context(), all.Registry(), step.from, step.to, step.o); err != nil || !rep.Placed {
			t.Fatalf("%s: %v", step.to, err)
		}
	}
	return back
}

func linesOf(o *outcome, id string) []string {
	for _, s := range o.sessions {
		if s.ID == id {
			return s.lines
		}
	}
	return nil
}

// TestIDEPart: a session that is carried by itself, with all that it refers to,
// is the same session.
func TestIDEPart(t *testing.T) {
	for name, c := range map[string]struct {
		id   string
		not  string // of what is left behind
		with string // another session that belongs to it
	}{
		"state":  {id: "gaps", not: "alone"},
		"tools":  {id: "c1"},
		"files":  {id: "c1"},
		"table":  {id: "parent", with: "kid", not: "shelved"},
		"tabs":   {id: "tab-1"},
		"inline": {id: "inline-1"},
		"heads":  {id: "c1"},
	} {
		t.Run(name, func(t *testing.T) {
			script, err := os.ReadFile("../../testdata/ide/cases/" + name + ".sql")
			if err != nil {
				t.Fatal(err)
			}
			dir := filepath.Join(t.TempDir(), "User")
			if !strings.Contains(string(script), "globalStorage") {
				script = append(script, "\n-- file: globalStorage/state.vscdb\nCREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);"...)
			}
			if err := ide.Build(dir, string(script)); err != nil {
				t.Fatal(err)
			}
			whole := decodeStore(t, "cursor-ide", dir, session.Selection{})
			part := decodeStore(t, "cursor-ide", carryPart(t, dir, c.id), session.Selection{})
			for _, id := range []string{c.id, c.with} {
				if got, want := linesOf(part, id), linesOf(whole, id); !slices.Equal(got, want) {
					t.Errorf("%s:\n got %s\nwant %s", id, strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
			}
			if c.not != "" && linesOf(part, c.not) != nil {
				t.Errorf("%s came along", c.not)
			}
		})
	}
}

// TestRandomIDEPart is the same for sessions of random stores.
func TestRandomIDEPart(t *testing.T) {
	for seed := range uint64(4) {
		p := idegen.New(seed, 30)
		dir := filepath.Join(t.TempDir(), "User")
		if err := p.Write(t.Context(), dir); err != nil {
			t.Fatal(err)
		}
		a, b := p.Sessions[0].ID, p.Sessions[len(p.Sessions)/2].ID
		whole := decodeStore(t, "cursor-ide", dir, session.Selection{IDs: []string{a, b}})
		part := decodeStore(t, "cursor-ide", carryPart(t, dir, a, b), session.Selection{IDs: []string{a, b}})
		for _, id := range []string{a, b} {
			if !slices.Equal(linesOf(part, id), linesOf(whole, id)) {
				t.Errorf("seed %d: %s is not the same", seed, id)
			}
		}
	}
}

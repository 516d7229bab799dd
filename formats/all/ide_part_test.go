package all_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"regexp"
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
func carryPart(t *testing.T, dir string, ids ...string) (archive, back string) {
	t.Helper()
	archive, back = filepath.Join(t.TempDir(), "part"), filepath.Join(t.TempDir(), "User")
	for _, step := range []struct {
		from, to string
		o        convert.Options
	}{{dir, archive, convert.Options{To: "archive", Sessions: ids}}, {archive, back, convert.Options{}}} {
		if rep, err := convert.Convert(t.Context(), all.Registry(), step.from, step.to, step.o); err != nil || !rep.Placed {
			t.Fatalf("%s: %v", step.to, err)
		}
	}
	return archive, back
}

// textOf is all that the files of a folder hold.
func textOf(t *testing.T, dir string) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(dir, func(name string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := os.ReadFile(name)
		all.Write(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

var rowID = regexp.MustCompile(`#[0-9]+ \(`)

// linesOf returns the lines of a session without row ids: text has none of keyed tables.
func linesOf(o *outcome, id string) (lines []string) {
	for _, s := range o.sessions {
		if s.ID == id {
			for _, line := range s.lines {
				lines = append(lines, rowID.ReplaceAllString(line, " ("))
			}
			break
		}
	}
	return lines
}

// TestIDEPart: a session that is carried by itself, with all that it refers to,
// is the same session.
func TestIDEPart(t *testing.T) {
	for name, c := range map[string]struct {
		id   string
		with string // another session that belongs to it
	}{
		"state":        {id: "gaps"},
		"tools":        {id: "c1"},
		"files":        {id: "c1"},
		"table":        {id: "parent", with: "kid"},
		"tabs":         {id: "tab-1"},
		"inline":       {id: "inline-1"},
		"heads":        {id: "c1"},
		"history":      {id: "c1"},
		"subagents":    {id: "main", with: "kid-inline"},
		"prompts":      {id: "lost"},
		"odd-keys":     {id: "c1"},
		"tab-messages": {id: "11111111-0000-4000-8000-000000000001"},
		"panes":        {id: "aaaaaaaa-0000-4000-8000-00000000000a"},
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
			_, back := carryPart(t, dir, c.id)
			part := decodeStore(t, "cursor-ide", back, session.Selection{})
			for _, id := range []string{c.id, c.with} {
				if got, want := linesOf(part, id), linesOf(whole, id); !slices.Equal(got, want) {
					t.Errorf("%s:\n got %s\nwant %s", id, strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
			}
			for _, other := range whole.sessions {
				if other.ID != c.id && other.ID != c.with && other.ID != "known" && linesOf(part, other.ID) != nil && (other.Parent == nil || other.Parent.Session != c.id) {
					t.Errorf("%s came along", other.ID)
				}
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
		archive, back := carryPart(t, dir, a, b)
		part := decodeStore(t, "cursor-ide", back, session.Selection{IDs: []string{a, b}})
		text := textOf(t, archive)
		for _, other := range p.Sessions {
			if other.ID != a && other.ID != b && strings.Contains(text, other.ID) {
				t.Errorf("seed %d: the part speaks of %s", seed, other.ID)
			}
		}
		for _, id := range []string{a, b} {
			if !slices.Equal(linesOf(part, id), linesOf(whole, id)) {
				t.Errorf("seed %d: %s is not the same", seed, id)
			}
		}
	}
}

const (
	mine   = "11111111-1111-4111-8111-111111111111"
	others = "22222222-2222-4222-8222-222222222222"
	cloudy = "bc-44444444-4444-4444-8444-444444444444"
	cloud  = "bc-33333333-3333-4333-8333-333333333333"
)

// TestIDEPartLists: of a row that speaks of all sessions a part has what it says
// of its own, and that byte for byte; a row that cannot be cut stays whole, and
// somebody is told.
func TestIDEPartLists(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "User")
	script := `-- file: globalStorage/state.vscdb
CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
CREATE TABLE composerHeaders (composerId TEXT PRIMARY KEY, workspaceId TEXT, value TEXT);
INSERT INTO composerHeaders VALUES ('OTHERS',NULL,'{"name":"told of others"}'),('MINE',NULL,'{"name":"Mine"}');
INSERT INTO cursorDiskKV VALUES ('composerData:MINE','{"fullConversationHeadersOnly":[{"bubbleId":"b","type":1}]}'),('bubbleId:MINE:b','{"type":1,"text":"mine"}'),
 ('composerData:OTHERS','{"fullConversationHeadersOnly":[{"bubbleId":"b","type":1}]}'),('bubbleId:OTHERS:b','{"type":1,"text":"told of others"}'),
 ('composer.content.aa','told of others'),(NULL,'told of others'),('composerVirtualRowHeights:MINE','{"b":12}');
INSERT INTO ItemTable VALUES
 ('composer.composerHeaders','{"v" : 1, "allComposers": [ {"composerId":"OTHERS","name":"told of others"} , {"composerId":"MINE", "name":"\u004dine"},{"composerId":"OTHERS","name":"told of others"}, {"composerId":"MINE","n":2} ], "selectedComposerIds":[]}'),
 ('composer.composerData',CAST('{"allComposers":[
{"composerId":"MINE"},{"composerId":"OTHERS","name":"told of others"}]}' AS BLOB)),
 ('workbench.panel.composerChatViewPane.p1','{"workbench.panel.aichat.view.OTHERS":{"x":"told of others"}, "workbench.panel.aichat.view.MINE":{"x": 1},"size":3}'),
 ('workbench.panel.composerChatViewPane.p2','{"workbench.panel.aichat.view.OTHERS":{"x":"told of others"}}'),
 ('glass.localAgentProjectMembership.v1','{"version":1,"projects":{"OTHERS":"told of others","MINE":"project-1"}}'),
 ('glass.cloudAgentProjects.v1','["CLOUD","CLOUDY"]'),
 ('aiService.prompts','[{"text":"told of others"}]'),('cursorAuth/x','told of others')`
	if err := ide.Build(dir, strings.NewReplacer("MINE", mine, "OTHERS", others, "CLOUDY", cloudy, "CLOUD", cloud).Replace(script)); err != nil {
		t.Fatal(err)
	}
	archive, back := filepath.Join(t.TempDir(), "part"), filepath.Join(t.TempDir(), "User")
	var said []string
	rep, err := convert.Convert(t.Context(), all.Registry(), dir, archive, convert.Options{To: "archive", Sessions: []string{mine, cloud}, OnNotice: func(s string) { said = append(said, s) }})
	if err != nil || !rep.Placed {
		t.Fatal(err)
	}
	text := textOf(t, archive)
	if strings.Contains(text, "told of others") {
		t.Errorf("the part speaks of others:\n%s", text)
	}
	if n := len(rep.Stores[0].Losses); n != 1 || rep.Stores[0].Losses[0].Count != 4 {
		t.Errorf("losses %+v", rep.Stores[0].Losses)
	}
	if talk := strings.Join(said, "\n"); !strings.Contains(talk, "(glass.cloudAgentProjects.v1): copied in full, including data of other sessions") {
		t.Errorf("said %q", said)
	}
	if _, err := convert.Convert(t.Context(), all.Registry(), archive, back, convert.Options{}); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(filepath.Join(back, "globalStorage", "state.vscdb")))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	want := map[string]string{
		"composer.composerHeaders":                `text {"v" : 1, "allComposers": [{"composerId":"MINE", "name":"\u004dine"},{"composerId":"MINE","n":2}], "selectedComposerIds":[]}`,
		"composer.composerData":                   `blob {"allComposers":[{"composerId":"MINE"}]}`,
		"glass.cloudAgentProjects.v1":             `text ["CLOUD","CLOUDY"]`,
		"workbench.panel.composerChatViewPane.p1": `text {"workbench.panel.aichat.view.MINE":{"x": 1},"size":3}`,
		"glass.localAgentProjectMembership.v1":    `text {"version":1,"projects":{"MINE":"project-1"}}`,
	}
	rows, err := db.Query("SELECT key, typeof(value)||' '||value FROM ItemTable")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var key, value string
		if err := rows.Scan(&key, &value); err != nil {
			t.Fatal(err)
		}
		if w := strings.NewReplacer("MINE", mine, "CLOUDY", cloudy, "CLOUD", cloud).Replace(want[key]); value != w {
			t.Errorf("%s:\n got %s\nwant %s", key, value, w)
		}
		delete(want, key)
	}
	if len(want) > 0 {
		t.Errorf("not carried: %v", want)
	}
}

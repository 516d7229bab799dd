package cursoride_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/all"
	"rehome/formats/formatstest"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/formats/store"
)

// read yields the sessions of a store.
func read(t *testing.T, format, path string, do func(s *session.Session)) {
	t.Helper()
	l, err := formats.Locate(path)
	if err != nil {
		t.Fatal(err)
	}
	for s, err := range all.Registry().Lookup(format).Sessions.Decode(t.Context(), l, formats.View{}, session.Selection{}) {
		if err != nil {
			t.Fatal(err)
		}
		do(s)
	}
}

// write writes the sessions of a store as drafts, and returns their folders.
func write(t *testing.T, format, path string) (drafts []string) {
	t.Helper()
	sink := all.Registry().Lookup("cursor-ide").Writer.New().(formats.FamilySink)
	dir := t.TempDir()
	var root session.Head
	known := map[string]bool{}
	var verify func(context.Context) error
	finish := func() {
		t.Helper()
		if verify != nil {
			if err := errors.Join(sink.Finish(t.Context()), verify(t.Context())); err != nil {
				t.Fatal(err)
			}
		}
	}
	read(t, format, path, func(s *session.Session) {
		b := formats.SessionBuild{}
		if s.Parent == nil || !known[s.Parent.Session] {
			finish()
			root, b.Path = s.Head, filepath.Join(dir, fmt.Sprint(len(drafts)))
			drafts = append(drafts, b.Path)
		} else {
			b.Root = &root
		}
		d, err := sink.Put(t.Context(), s, b)
		if err != nil {
			t.Fatal(err)
		}
		if b.Root == nil {
			verify = d.Verify
		}
		known[s.ID] = true
	})
	finish()
	return drafts
}

// create makes a user dir of drafts.
func create(t *testing.T, drafts []string) string {
	t.Helper()
	f := all.Registry().Lookup("cursor-ide")
	r, err := f.Writer.Join(t.Context(), drafts, formats.FullView(1))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "User")
	w, err := f.Records.Create(t.Context(), formats.Build{Path: path, Schema: r.Schema(), Jobs: 1, OnSidecar: func(store.SidecarItem) {}})
	if err != nil {
		t.Fatal(err)
	}
	formatstest.Fill(t, w, r)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// said is what the user and the model said and did in a session, part by part.
func said(t *testing.T, s *session.Session) (out []string) {
	for m, err := range s.Messages {
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range m.Parts {
			switch p := p.(type) {
			case *session.Text:
				if m.Role != session.System && strings.TrimSpace(p.Text) != "" {
					out = append(out, string(m.Role)+" "+p.Text)
				}
			case *session.Thinking:
				if p.Text != "" {
					out = append(out, "thinks "+p.Text)
				}
			case *session.ToolCall:
				out = append(out, "calls "+p.ID)
			case *session.ToolResult:
				out = append(out, fmt.Sprint("gives ", p.Call, " ", p.Error))
			case *session.Media:
				out = append(out, fmt.Sprintf("shows %.40x", p.Data))
			}
		}
	}
	return out
}

// sessions is what is said in all sessions of a user dir, by id.
func sessions(t *testing.T, path string) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	read(t, "cursor-ide", path, func(s *session.Session) { out[s.ID] = said(t, s) })
	return out
}

// changed changes the global database of a user dir.
func changed(t *testing.T, path string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(path, "globalStorage", "state.vscdb"))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range statements {
		if _, err := db.ExecContext(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// unmarked makes a session one that rehome did not write.
const unmarked = "UPDATE cursorDiskKV SET value = json_remove(value, '$.rehome') WHERE key LIKE 'composerData:%'"

// noBubble are the beginnings of what only the agent's state has: PDF files, and what a
// command of the user printed.
var noBubble = []string{"shows 255044462d", "gives  "}

// TestBubbles: what the client displays is what was said and done.
func TestBubbles(t *testing.T) {
	for path, format := range map[string]string{"claude/config": "claude-code", "codex/home": "codex", "sdk/play/jsonl": "cursor-ndjson", "sdk/gen/jsonl": "cursor-ndjson"} {
		dir := create(t, write(t, format, filepath.Join("..", "..", "testdata", filepath.FromSlash(path))))
		want := sessions(t, dir)
		changed(t, dir, unmarked)
		got := sessions(t, dir)
		if len(got) != len(want) || len(got) == 0 {
			t.Errorf("%s: %d sessions, want %d", path, len(got), len(want))
		}
		for id := range want {
			want[id] = slices.DeleteFunc(want[id], func(s string) bool {
				return slices.ContainsFunc(noBubble, func(begin string) bool { return strings.HasPrefix(s, begin) })
			})
			a, b := slices.Sorted(slices.Values(got[id])), slices.Sorted(slices.Values(want[id]))
			if !slices.Equal(a, b) {
				t.Errorf("%s: %s:\n%.80q\nwant:\n%.80q", path, id, a, b)
			}
		}
	}
}

// TestContinued: in a session that the client continued, everything is said that was
// written, and what was added.
func TestContinued(t *testing.T) {
	dir := create(t, write(t, "codex", filepath.Join("..", "..", "testdata", "codex", "home")))
	before := sessions(t, dir)
	changed(t, dir,
		`INSERT INTO cursorDiskKV SELECT 'bubbleId:' || substr(key, 14) || ':new', '{"type":1,"bubbleId":"new","text":"one more"}' FROM cursorDiskKV WHERE key LIKE 'composerData:%'`,
		`UPDATE cursorDiskKV SET value = json_insert(value, '$.fullConversationHeadersOnly[#]', json('{"bubbleId":"new","type":1}')) WHERE key LIKE 'composerData:%'`)
	for id, got := range sessions(t, dir) {
		if n := len(got); n != len(before[id])+1 || got[n-1] != "user one more" {
			t.Errorf("%s: %.60q\nbefore:\n%.60q", id, got, before[id])
		}
	}
}

// TestEditedBubble: what the user edits in a session that rehome wrote is read, though the
// agent's state still has what was written.
func TestEditedBubble(t *testing.T) {
	dir := create(t, write(t, "codex", filepath.Join("..", "..", "testdata", "codex", "home")))
	changed(t, dir, `UPDATE cursorDiskKV SET value = json_set(value, '$.text', 'another word') WHERE key LIKE 'bubbleId:%' AND json_extract(value, '$.type') = 1`)
	edited := rows(t, dir, `SELECT DISTINCT substr(key, 10, 36) FROM cursorDiskKV WHERE key LIKE 'bubbleId:%' AND json_extract(value, '$.text') = 'another word'`)
	got := sessions(t, dir)
	for _, id := range edited {
		if !slices.Contains(got[id], "user another word") {
			t.Errorf("%s: %.60q", id, got[id])
		}
	}
	if len(edited) < 5 {
		t.Errorf("%d sessions were edited", len(edited))
	}
}

// TestDamagedDraft: a draft that is not as it was written is not accepted.
func TestDamagedDraft(t *testing.T) {
	sink := all.Registry().Lookup("cursor-ide").Writer.New().(formats.FamilySink)
	say := func(yield func(*session.Message, error) bool) {
		_ = yield(&session.Message{ID: "a", Role: session.User, Turn: &session.Turn{Number: 1}, Parts: []session.Part{&session.Text{Text: "hello"}}}, nil) &&
			yield(&session.Message{ID: "b", Role: session.Assistant, Parts: []session.Part{&session.Text{Text: "hi"}}}, nil)
	}
	path := filepath.Join(t.TempDir(), "draft")
	d, err := sink.Put(t.Context(), &session.Session{Head: session.Head{ID: "x", Agent: session.Codex}, Messages: say}, formats.SessionBuild{Path: path})
	if err := errors.Join(err, sink.Finish(t.Context()), d.Verify(t.Context())); err != nil {
		t.Fatal(err)
	}
	rows := filepath.Join(path, "rows")
	whole, err := os.ReadFile(rows)
	if err != nil {
		t.Fatal(err)
	}
	id := all.Registry().Lookup("cursor-ide").Writer.ID(&session.Head{ID: "x", Agent: session.Codex})
	for name, damage := range map[string]string{
		"cut":                string(whole[:len(whole)-1]),
		"another blob":       strings.Replace(string(whole), `"role":"user"`, `"role":"used"`, 1),
		"a missing bubble":   strings.Replace(string(whole), "bubbleId:"+id, "bubbleIx:"+id, 1),
		"an unlisted bubble": strings.Replace(string(whole), `{"bubbleId":"`, `{"bubbleIx":"`, 1),
	} {
		if damage == string(whole) {
			t.Fatalf("%s: nothing changed", name)
		}
		if err := os.WriteFile(rows, []byte(damage), 0o600); err != nil {
			t.Fatal(err)
		}
		if d.Verify(t.Context()) == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// TestTurns: how a turn ended and what it used is read again, and no loss.
func TestTurns(t *testing.T) {
	used := session.UnknownUsage()
	used.Input, used.CacheRead = 0, 7
	want := []session.Turn{{Number: 1}, {Number: 2, ID: "run-1", Status: "error", Error: "no \"net\"", Usage: &used}, {Number: 3, Status: "finished"}}
	say := func(yield func(*session.Message, error) bool) {
		for i := range want {
			if !yield(&session.Message{Role: session.User, Turn: &want[i], Parts: []session.Part{&session.Text{Text: "hello"}}}, nil) ||
				!yield(&session.Message{Role: session.User, Simulated: true, Parts: []session.Part{&session.Text{Text: "aside"}}}, nil) {
				return
			}
		}
	}
	sink, path := all.Registry().Lookup("cursor-ide").Writer.New().(formats.FamilySink), filepath.Join(t.TempDir(), "draft")
	b := formats.SessionBuild{Path: path, OnLoss: func(l loss.Loss) {
		if l.Code == loss.TurnRecord {
			t.Errorf("loss %s", l.What())
		}
	}}
	_, err := sink.Put(t.Context(), &session.Session{Head: session.Head{ID: "x", Agent: session.Codex}, Messages: say}, b)
	if err := errors.Join(err, sink.Finish(t.Context())); err != nil {
		t.Fatal(err)
	}
	var got []session.Turn
	read(t, "cursor-ide", create(t, []string{path}), func(s *session.Session) {
		for m, err := range s.Messages {
			if err != nil {
				t.Fatal(err)
			}
			if m.Turn != nil {
				m.Turn.Start, m.Turn.End = session.Stamp{}, session.Stamp{}
				got = append(got, *m.Turn)
			}
		}
	})
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// rows returns the values of the rows that a statement selects.
func rows(t *testing.T, path, statement string) (out []string) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(path, "globalStorage", "state.vscdb"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	list, err := db.QueryContext(t.Context(), statement)
	if err != nil {
		t.Fatal(err)
	}
	defer list.Close()
	for list.Next() {
		var one string
		if err := list.Scan(&one); err != nil {
			t.Fatal(err)
		}
		out = append(out, one)
	}
	return out
}

// TestListed: the agents' sidebar has each composer in the project of its folder, and no
// subagent.
func TestListed(t *testing.T) {
	dir := create(t, write(t, "claude-code", filepath.Join("..", "..", "testdata", "claude", "config")))
	want := rows(t, dir, "SELECT composerId || ' ' || workspaceId FROM composerHeaders WHERE isSubagent = 0 ORDER BY 1")
	got := rows(t, dir, `SELECT m.key || ' ' || json_extract(p.value, '$.workspace.id') FROM ItemTable a, ItemTable b, json_each(a.value) m, json_each(b.value) p
		WHERE a.key = 'glass.localAgentProjectMembership.v1' AND b.key = 'glass.localAgentProjects.v1' AND json_extract(p.value, '$.id') = m.value ORDER BY 1`)
	if !slices.Equal(got, want) || len(got) == 0 {
		t.Errorf("%q\nwant %q", got, want)
	}
}

// TestContent: what a file contained before and after an edit is in the rows that its result
// names, once for all results that name it.
func TestContent(t *testing.T) {
	text := func(s string) []byte { return session.AppendString(nil, s) }
	edit := func(id, before, after string) []*session.Message {
		return []*session.Message{
			{Role: session.Assistant, Parts: []session.Part{&session.ToolCall{ID: id, Name: "Edit", Kind: "edit", Input: session.Raw(`{"file_path":"/a","old_string":"` + before + `","new_string":"` + after + `"}`)}}},
			{Role: session.Tool, Parts: []session.Part{&session.ToolResult{Call: id, Content: []session.Part{&session.Text{Text: "done"}},
				Value: session.Raw(fmt.Sprintf(`{"filePath":"/a","oldString":%s,"newString":%s,"originalFile":%s,"structuredPatch":[]}`, text(before), text(after), text(before)))}}},
		}
	}
	list := append([]*session.Message{{Role: session.User, Turn: &session.Turn{}, Parts: []session.Part{&session.Text{Text: "go"}}}}, slices.Concat(edit("1", "one", "two"), edit("2", "two", "three"))...)
	sink, path := all.Registry().Lookup("cursor-ide").Writer.New().(formats.FamilySink), filepath.Join(t.TempDir(), "draft")
	d, err := sink.Put(t.Context(), &session.Session{Head: session.Head{ID: "x", Agent: session.ClaudeCode}, Messages: func(yield func(*session.Message, error) bool) {
		for _, m := range list {
			if !yield(m, nil) {
				return
			}
		}
	}}, formats.SessionBuild{Path: path})
	if err := errors.Join(err, sink.Finish(t.Context()), d.Verify(t.Context())); err != nil {
		t.Fatal(err)
	}
	dir := create(t, []string{path})
	if got := rows(t, dir, "SELECT value FROM cursorDiskKV WHERE key LIKE 'composer.content.%' ORDER BY 1"); !slices.Equal(got, []string{"one", "three", "two"}) {
		t.Errorf("rows %q", got)
	}
	edited := func() (out []string) {
		read(t, "cursor-ide", dir, func(s *session.Session) {
			said(t, s)
			for f, err := range s.Files {
				if err != nil {
					t.Fatal(err)
				}
				out = append(out, fmt.Sprintf("%s %s %s", f.Path, f.Before.Bytes, f.After.Bytes))
			}
		})
		return out
	}
	changed(t, dir, unmarked)
	if got := edited(); !slices.Equal(got, []string{"/a one two", "/a two three"}) {
		t.Errorf("files %q", got)
	}
	if again := create(t, write(t, "cursor-ide", dir)); len(rows(t, again, "SELECT value FROM cursorDiskKV WHERE key LIKE 'composer.content.%'")) != 3 {
		t.Error("written again, content is missing")
	}
}

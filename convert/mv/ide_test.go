package mv_test

import (
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rehome/convert/mv"
	"rehome/formats"
	"rehome/formats/all"
	ide "rehome/testdata/ide"
)

// ide lays the user dir of testdata/ide.sql and returns it.
func (h *home) ide() string {
	h.t.Helper()
	dir := filepath.Join(h.dir, ".config", "Cursor", "User")
	script, err := os.ReadFile("testdata/ide.sql")
	if err == nil {
		err = ide.Build(dir, strings.ReplaceAll(string(script), "NEW", (&url.URL{Scheme: "file", Path: h.now}).String()))
	}
	if err != nil {
		h.t.Fatal(err)
	}
	return dir
}

// dump returns all cells of a database, in their order.
func dump(t *testing.T, path string) (out []string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(path)+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, table := range []string{"ItemTable", "cursorDiskKV", "composerHeaders"} {
		rows, err := db.Query("SELECT rowid, * FROM " + table + " ORDER BY rowid")
		if err != nil {
			t.Fatal(err)
		}
		names, _ := rows.Columns()
		for rows.Next() {
			cells, to := make([]any, len(names)), make([]any, len(names))
			for i := range cells {
				to[i] = &cells[i]
			}
			if err := rows.Scan(to...); err != nil {
				t.Fatal(err)
			}
			for i, c := range cells {
				out = append(out, fmt.Sprintf("%s.%s %v %T %s", table, names[i], cells[1], c, c))
			}
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// folders returns the folder of each session of the IDE.
func (h *home) folders(dir string) map[string]string {
	h.t.Helper()
	l, err := formats.Locate(dir)
	if err != nil {
		h.t.Fatal(err)
	}
	out := map[string]string{}
	for s, err := range all.Registry().Lookup("cursor-ide").Sessions.Heads(h.t.Context(), l, formats.FullView(1)) {
		if err != nil {
			h.t.Fatal(err)
		}
		out[s.ID[len(s.ID)-1:]] = s.Workspace
	}
	return out
}

func titles(r *mv.Report) string {
	var out []string
	for _, s := range r.Sessions {
		out = append(out, s.Title+" "+s.Status)
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

// TestIDE: sessions of the IDE get the workspace that it made for the new folder, in all
// places that name theirs, and nothing else changes. What stays is named.
func TestIDE(t *testing.T) {
	h := newHome(t)
	dir := h.ide()
	global := filepath.Join(dir, "globalStorage", "state.vscdb")
	before, tree := dump(t, global), h.tree()
	o := h.options()
	o.DryRun = true
	r := h.run(mv.Move, o)
	if got, want := titles(r), "In the list planned, In the table planned, Only a record planned, Only listed here planned"; got != want || h.tree() != tree {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	for _, s := range r.Sessions {
		if !s.InPlace || !s.Untested || s.Bytes == 0 || filepath.Base(s.From) != strings.Repeat("a", 32) || filepath.Base(s.To) != strings.Repeat("f", 32) || s.Cwd != h.now {
			t.Errorf("%+v", s)
		}
	}
	var left []string
	for _, l := range r.Left {
		left = append(left, filepath.Base(l.Path)[:1]+": "+strings.ReplaceAll(l.Why, h.now, "NEW"))
	}
	slices.Sort(left)
	if got, want := strings.Join(left, "\n"), strings.TrimSpace(`
a: a record of it is not valid JSON, or too large; sessions: 1
a: its messages are in the database of the old workspace, or on a server; sessions: 1
b: Cursor has not opened NEW/sub yet; sessions: 1
d: it belongs to file:///home/ann/app/all.code-workspace, a workspace of several folders; sessions: 1
e: it belongs to vscode-remote://ssh-remote%2Bhost/home/ann/app, which is on another machine for Cursor; sessions: 1`); got != want {
		t.Errorf("left:\n%s\nwant:\n%s", got, want)
	}

	r = h.run(mv.Move, h.options())
	if r.Count(mv.Moved) != 4 || len(r.Sessions) != 4 || len(r.Undo) != 1 {
		t.Errorf("%s, %v", titles(r), r.Undo)
	}
	is := h.folders(dir)
	for id, want := range map[string]string{"1": h.now, "2": h.now, "3": h.now, "4": h.now, "b": h.now, "5": "/home/ann/app/sub", "6": "/home/ann/app2", "7": "/home/ann/app", "a": "/home/ann/app"} {
		if is[id] != want {
			t.Errorf("session %s is in %q, want %q", id, is[id], want)
		}
	}
	after := dump(t, global)
	changed := 0
	for _, s := range before {
		if slices.Contains(after, s) {
			continue
		}
		changed++
		if want := h.relabelled(s); !slices.Contains(after, want) {
			t.Errorf("was  %s\nwant %s", s, want)
		}
	}
	if added := len(after) - len(before); changed != 7 || added != 11 {
		t.Errorf("%d cells changed, %d were added", changed, added)
	}
	if again := h.run(mv.Move, h.options()); len(again.Sessions) > 0 || len(again.Left) != 5 {
		t.Errorf("again: %+v", again)
	}
	if rm := h.run(mv.Remove, h.options()); len(rm.Sessions) > 0 {
		t.Errorf("--remove-old: %+v", rm)
	}
	if !slices.Equal(dump(t, global), after) {
		t.Error("changed by a second run")
	}
	if h.undo(); !slices.Equal(dump(t, global), before) {
		t.Error("undone, but not as at first")
	}
}

// relabelled returns a cell with the labels of the new workspace.
func (h *home) relabelled(s string) string {
	label := `{"id":"` + strings.Repeat("f", 32) + `","uri":{"$mid":1,"fsPath":"` + h.now + `","external":"` + (&url.URL{Scheme: "file", Path: h.now}).String() + `","path":"` + h.now + `","scheme":"file"}}`
	uri := `"uri":{"$mid":1,"fsPath":"/home/ann/app","external":"file:///home/ann/app","path":"/home/ann/app","scheme":"file"}`
	id := `"id":"` + strings.Repeat("a", 32) + `"`
	return strings.NewReplacer(`{`+uri+`,`+id+`}`, label, `{`+id+`,`+uri+`}`, label, `{`+id+`}`, label, `{`+id+`,"uri":{"scheme":"file","path":"/home/ann/app"}}`, label,
		"string "+strings.Repeat("a", 32), "string "+strings.Repeat("f", 32), `1":"p-old"`, `1":"p-new"`).Replace(s)
}

package mv_test

import (
	"cmp"
	"context"
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
	"rehome/formats/formatstest/idegen"
	"rehome/formats/session"
	"rehome/testdata/ide"
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

// exec runs SQL in the global database of a user dir.
func (h *home) exec(dir, statements string) {
	h.t.Helper()
	if err := ide.Exec(filepath.Join(dir, "globalStorage", "state.vscdb"), statements); err != nil {
		h.t.Fatal(err)
	}
}

// TestIDEUndo: what was said since the move stays when it is undone, a session that was
// moved on or deleted stays as it is, and the others are filed as they were.
func TestIDEUndo(t *testing.T) {
	h := newHome(t)
	dir := h.ide()
	global := filepath.Join(dir, "globalStorage", "state.vscdb")
	// A list can have two heads of a session.
	h.exec(dir, `UPDATE ItemTable SET value=CAST(replace(value, '"allComposers":[', '"allComposers":[{"composerId":"10000000-0000-4000-8000-000000000003","workspaceIdentifier":{"id":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","n":2}},') AS BLOB) WHERE key='composer.composerHeaders'`)
	before := dump(t, global)
	h.run(mv.Move, h.options())
	h.exec(dir, `UPDATE composerHeaders SET workspaceId='cccccccccccccccccccccccccccccccc' WHERE composerId LIKE '%4';
UPDATE cursorDiskKV SET value=json_set(value, '$.name', 'Continued') WHERE key LIKE 'composerData:%1';
DELETE FROM cursorDiskKV WHERE key LIKE 'composerData:%b';`)
	r := h.undo()
	var kept []string
	for _, k := range r.Kept {
		kept = append(kept, k.Key[len(k.Key)-1:]+": "+k.Reason)
	}
	if got := strings.Join(kept, "\n"); got != "4: changed since, by its client or a later move\nb: it no longer exists" || len(r.Restored) != 3 {
		t.Errorf("%s; restored %q", got, r.Restored)
	}
	after := dump(t, global)
	for _, s := range before {
		own := strings.Contains(s, "000000000001 ") && strings.Contains(s, "_v") || strings.Contains(s, "00b ")
		if !own && !slices.Contains(after, s) {
			t.Errorf("not restored: %s", s)
		}
	}
	if is := h.folders(dir); is["1"] != "/home/ann/app" || is["4"] != h.now {
		t.Errorf("%v", is)
	}
	if last := strings.Join(after, "\n"); !strings.Contains(last, `"name":"Continued"`) {
		t.Error("what was changed since is lost")
	}
}

// TestIDEHotLog: changes in a write-ahead log that nobody has folded in count, and stay.
func TestIDEHotLog(t *testing.T) {
	h := newHome(t)
	dir := h.ide()
	global := filepath.Join(dir, "globalStorage", "state.vscdb")
	db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(global))
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	if _, err := db.Exec(`PRAGMA journal_mode=wal; PRAGMA wal_autocheckpoint=0; INSERT INTO composerHeaders (composerId, workspaceId, value) VALUES ('hot', 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', '{"composerId":"hot","name":"In the log"}'); INSERT INTO cursorDiskKV VALUES ('composerData:hot', '{"_v":17}')`); err != nil {
		t.Fatal(err)
	}
	main, err := os.ReadFile(global)
	log, errLog := os.ReadFile(global + "-wal")
	if err := errors.Join(err, errLog, db.Close(), os.WriteFile(global, main, 0o600), os.WriteFile(global+"-wal", log, 0o600)); err != nil || len(log) == 0 {
		t.Fatal(err, len(log))
	}
	before := h.tree()
	o := h.options()
	o.DryRun = true
	if r := h.run(mv.Move, o); !strings.Contains(titles(r), "In the log planned") || h.tree() != before {
		t.Errorf("%s", titles(r))
	}
	if r := h.run(mv.Move, h.options()); !strings.Contains(titles(r), "In the log moved") || h.folders(dir)["t"] != h.now {
		t.Errorf("%s, %v", titles(r), h.folders(dir))
	}
}

// TestIDERefused: nothing is written while the client runs, into a database with triggers,
// without an undo record, or for a workspace that nobody can tell.
func TestIDERefused(t *testing.T) {
	for name, c := range map[string]struct {
		prepare func(h *home, dir string, o *mv.Options) error
		left    string
		busy    bool
	}{
		"the client runs": {busy: true, prepare: func(_ *home, dir string, _ *mv.Options) error {
			return os.WriteFile(filepath.Join(filepath.Dir(dir), "code.lock"), fmt.Append(nil, os.Getpid()), 0o600)
		}},
		"a trigger": {prepare: func(h *home, dir string, _ *mv.Options) error {
			h.exec(dir, "CREATE TRIGGER t AFTER UPDATE ON composerHeaders BEGIN DELETE FROM cursorDiskKV; END")
			return nil
		}},
		"no place for a record": {prepare: func(_ *home, _ string, o *mv.Options) error {
			return os.WriteFile(o.UndoDir, nil, 0o600)
		}},
		"a constraint that replaces rows": {prepare: func(h *home, dir string, _ *mv.Options) error {
			h.exec(dir, `DROP TABLE composerHeaders;
CREATE TABLE composerHeaders (composerId TEXT PRIMARY KEY, workspaceId TEXT UNIQUE ON CONFLICT REPLACE, value TEXT);
INSERT INTO composerHeaders VALUES ('10000000-0000-4000-8000-000000000001', 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', '{}'), ('x', 'ffffffffffffffffffffffffffffffff', '{}')`)
			return nil
		}},
		"two workspaces": {left: "Cursor has 2 workspaces of", prepare: func(_ *home, dir string, o *mv.Options) error {
			again := filepath.Join(dir, "workspaceStorage", "1"+strings.Repeat("f", 31))
			return errors.Join(os.Mkdir(again, 0o700), os.CopyFS(again, os.DirFS(filepath.Join(dir, "workspaceStorage", strings.Repeat("f", 32)))))
		}},
		"an old version": {left: "written by Cursor before 3.0", prepare: func(h *home, dir string, _ *mv.Options) error {
			h.exec(dir, "DROP TABLE composerHeaders")
			return nil
		}},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHome(t)
			dir, o := h.ide(), h.options()
			if err := c.prepare(h, dir, &o); err != nil {
				t.Fatal(err)
			}
			before := h.tree()
			r, err := mv.Move(t.Context(), all.Registry(), o)
			if c.left != "" {
				if err != nil || !slices.ContainsFunc(r.Left, func(l mv.Left) bool { return strings.Contains(l.Why, c.left) && l.Hint != "" }) {
					t.Errorf("%v, %+v", err, r.Left)
				}
				return
			}
			if err == nil && (len(r.Sessions) != 4 || r.Count(mv.Failed) != 4 || len(r.Undo) > 0) {
				t.Errorf("%+v", r)
			}
			for i := range r.Sessions {
				if err := r.Sessions[i].Err(); errors.Is(err, formats.ErrBusy) != c.busy || formats.Hint(err) == "" {
					t.Errorf("%v", err)
				}
			}
			if h.tree() != before {
				t.Error("something was written")
			}
		})
	}
}

// TestIDEGenerated: in stores of all generations, each session is moved with all that was
// said, or named; and undone, all is as it was.
func TestIDEGenerated(t *testing.T) {
	moved := 0
	for seed := range uint64(6) {
		h := newHome(t)
		dir := filepath.Join(h.dir, ".config", "Cursor", "User")
		p := idegen.New(seed, 30)
		if err := p.Write(t.Context(), dir); err != nil {
			t.Fatal(err)
		}
		h.write(".config/Cursor/User/workspaceStorage/new/workspace.json", `{"folder":"file://`+(&url.URL{Path: h.now}).EscapedPath()+`"}`)
		i := slices.IndexFunc(p.Sessions, func(s *idegen.Session) bool { return s.Workspace != "" })
		h.old = p.Sessions[i].Workspace
		global := filepath.Join(dir, "globalStorage", "state.vscdb")
		before, said := dump(t, global), h.said(dir)
		r := h.run(mv.Move, h.options())
		is := h.said(dir)
		of := 0
		for id, s := range said {
			if !strings.HasPrefix(s, h.old+"\n") {
				if is[id] != s {
					t.Errorf("seed %d: session %s, of another folder, changed", seed, id)
				}
				continue
			}
			of++
			to := h.old
			if slices.ContainsFunc(r.Sessions, func(s mv.Session) bool { return s.ID == id && s.Status == mv.Moved }) {
				to = h.now
				moved++
			}
			if want := to + strings.TrimPrefix(s, h.old); is[id] != want {
				t.Errorf("seed %d: session %s: is %.200q, want %.200q", seed, id, is[id], want)
			}
		}
		named := len(r.Sessions)
		for _, l := range r.Left {
			var n int
			if _, err := fmt.Sscanf(l.Why[strings.LastIndex(l.Why, ": ")+2:], "%d", &n); err != nil {
				t.Errorf("%q: %v", l.Why, err)
			}
			named += n
		}
		if named != of {
			t.Errorf("seed %d: %d sessions, %d named: %+v", seed, of, named, r.Left)
		}
		if len(r.Undo) > 0 {
			h.undo()
		}
		if !slices.Equal(dump(t, global), before) {
			t.Errorf("seed %d: undone, but not as at first", seed)
		}
	}
	if moved < 6 {
		t.Errorf("only %d sessions were moved", moved)
	}
}

// said returns the folder of each session of the IDE, and all of its messages.
func (h *home) said(dir string) map[string]string {
	h.t.Helper()
	l, err := formats.Locate(dir)
	if err != nil {
		h.t.Fatal(err)
	}
	out := map[string]string{}
	for s, err := range all.Registry().Lookup("cursor-ide").Sessions.Decode(h.t.Context(), l, formats.FullView(1), session.Selection{History: true}) {
		if err != nil {
			h.t.Fatal(err)
		}
		b := []byte(s.Workspace + "\n")
		for m, err := range s.Messages {
			if err != nil {
				h.t.Fatal(err)
			}
			b = append(session.AppendMessage(b, m), '\n')
		}
		out[s.ID] = string(b)
	}
	return out
}

// TestIDEUndoAdded: a row that the move added, and that the client has changed since, is not
// removed, but filed under the old workspace.
func TestIDEUndoAdded(t *testing.T) {
	h := newHome(t)
	dir := h.ide()
	h.run(mv.Move, h.options())
	h.exec(dir, `UPDATE composerHeaders SET value=json_set(value, '$.name', 'Renamed') WHERE composerId LIKE '%4'`)
	if r := h.undo(); len(r.Kept) > 0 || len(r.Restored) != 5 {
		t.Errorf("kept %v, restored %q", r.Kept, r.Restored)
	}
	rows := strings.Join(dump(t, filepath.Join(dir, "globalStorage", "state.vscdb")), "\n")
	if strings.Count(rows, `"name":"Renamed"`) != 1 || strings.Contains(rows, h.now) || h.folders(dir)["4"] != h.old {
		t.Errorf("%v\n%s", h.folders(dir), rows)
	}
}

// TestIDEInterrupted: if an error comes although all is on disk, as when the transaction was
// interrupted while it ended, the store is as it was, or an undo record says how it was.
func TestIDEInterrupted(t *testing.T) {
	for _, mended := range []bool{true, false} {
		h := newHome(t)
		dir := h.ide()
		global := filepath.Join(dir, "globalStorage", "state.vscdb")
		before := dump(t, global)
		f := *all.Registry().Lookup("cursor-ide")
		refiler := *f.Mover.Refiler
		f.Mover = &formats.Mover{Refiler: &refiler}
		lock := filepath.Join(filepath.Dir(dir), "code.lock")
		refiler.Refile = func(ctx context.Context, list []*formats.Refiled, log formats.UndoLog) error {
			err := all.Registry().Lookup("cursor-ide").Mover.Refiler.Refile(ctx, list, log)
			if !mended { // the client starts, so that nothing can be undone now
				err = errors.Join(err, os.WriteFile(lock, fmt.Append(nil, os.Getpid()), 0o600))
			}
			return cmp.Or(err, context.Canceled)
		}
		r, err := mv.Move(t.Context(), formats.NewRegistry(&f), h.options())
		if err != nil || r.Count(mv.Failed) != 4 || len(r.Undo) > 0 == mended {
			t.Errorf("%v, %s, %v", err, titles(r), r.Undo)
		}
		if !mended {
			if err := os.Remove(lock); err != nil {
				t.Fatal(err)
			}
			h.undo()
		}
		if !slices.Equal(dump(t, global), before) {
			t.Error("not as at first")
		}
	}
}

// lateLog is an undo log that cannot be saved.
type lateLog struct{ changes string }

func (l *lateLog) Dir() (string, error) { return "", nil }

func (l *lateLog) Save(changes []byte) error {
	l.changes = string(changes)
	return os.ErrPermission
}

// TestIDERecordFirst: nothing changes unless the undo record is on disk.
func TestIDERecordFirst(t *testing.T) {
	h := newHome(t)
	dir := h.ide()
	global := filepath.Join(dir, "globalStorage", "state.vscdb")
	before := dump(t, global)
	r := all.Registry().Lookup("cursor-ide").Mover.Refiler
	var list []*formats.Refiled
	for s, err := range r.Find(t.Context(), h.machine(), &formats.Moved{Old: []string{h.old}, New: h.now}) {
		if err != nil {
			t.Fatal(err)
		}
		if s.Left == "" {
			list = append(list, s)
		}
	}
	log := &lateLog{}
	if err := r.Refile(t.Context(), list, log); !errors.Is(err, os.ErrPermission) || len(list) != 4 || !strings.Contains(log.changes, `"composerHeaders"`) {
		t.Errorf("%v, %d sessions, %s", err, len(list), log.changes)
	}
	if !slices.Equal(dump(t, global), before) {
		t.Error("changed without an undo record")
	}
}

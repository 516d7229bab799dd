package mv_test

import (
	"context"
	"crypto/md5"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"rehome/convert"
	"rehome/convert/mv"
	"rehome/formats"
	"rehome/formats/all"
	"rehome/formats/session"
)

func hash(path string) string {
	sum := md5.Sum([]byte(path))
	return hex.EncodeToString(sum[:])
}

func slug(path string) string {
	return strings.Trim(regexp.MustCompile(`[^A-Za-z0-9]+`).ReplaceAllString(path, "-"), "-")
}

// chat lays a chat of the Cursor CLI.
func (h *home) chat(cwd, id, meta string) string {
	h.t.Helper()
	b, err := os.ReadFile("../../testdata/chat/before.db")
	if err != nil {
		h.t.Fatal(err)
	}
	at := ".cursor/chats/" + hash(cwd) + "/" + id + "/"
	h.write(at+"store.db", string(b))
	if meta != "" {
		h.write(at+"meta.json", meta)
	}
	return at
}

// TestChats: chats go to the folder of the new path; that of an older client, which says
// nothing, is found by the folders in NEW.
func TestChats(t *testing.T) {
	h := newHome(t)
	if err := os.MkdirAll(filepath.Join(h.now, "a", "b"), 0o700); err != nil {
		t.Fatal(err)
	}
	h.chat(h.old, one, "{\n \"schemaVersion\":1, \"cwd\" : \"\\/home\\/ann\\/app\",\n \"title\":\"/home/ann/app\"}")
	h.write(".cursor/chats/"+hash(h.old)+"/"+one+"/store.db-shm", "shared")
	h.chat(h.old+"/a/b", two, "")
	h.chat(h.old+"/gone", bare, `{"cwd":"/home/ann/app/gone","title":"t"}`)
	h.chat("/home/ann/app2", other, `{"cwd":"/home/ann/app2","title":"t"}`)
	h.write(".cursor/acp-sessions/"+other+"/meta.json", `{"cwd":"/home/ann/app"}`)
	before := h.tree()
	r := h.run(mv.Move, h.options())
	h.is(r, one+" moved, "+two+" moved, "+bare+" moved")
	if len(r.Left) != 1 || !strings.Contains(r.Left[0].Path, "acp-sessions") {
		t.Errorf("left %+v", r.Left)
	}
	at := ".cursor/chats/" + hash(h.now) + "/" + one + "/"
	if got, want := h.read(at+"meta.json"), "{\n \"schemaVersion\":1, \"cwd\" : \""+h.now+"\",\n \"title\":\"/home/ann/app\"}"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if _, err := os.Lstat(filepath.Join(h.dir, at, "store.db-shm")); err == nil {
		t.Error("the file that clients share was copied")
	}
	b, err := os.ReadFile("../../testdata/chat/before.db")
	if err != nil || h.read(at+"store.db") != string(b) || h.read(".cursor/chats/"+hash(h.now+"/a/b")+"/"+two+"/store.db") != string(b) || h.read(".cursor/chats/"+hash(h.now+"/gone")+"/"+bare+"/store.db") != string(b) {
		t.Error("a database changed:", err)
	}
	h.is(h.run(mv.Remove, h.options()), one+" removed, "+two+" removed, "+bare+" removed")
	h.undo()
	if h.undo(); h.tree() != before {
		t.Error("not as at first")
	}
}

// store lays the agents of the Cursor SDK that testdata has, with their log, and a
// transcript. It returns the folder they belong to.
func (h *home) store(cwd string) string {
	h.t.Helper()
	found, err := filepath.Glob("../../testdata/sdk/e2e-sqlite-hot-wal/projects/*/sdk-agent-store/*")
	if err != nil || len(found) != 1 {
		h.t.Fatal(found, err)
	}
	project := filepath.Join(h.dir, ".cursor", "projects", slug(cwd))
	at := filepath.Join(project, "sdk-agent-store", hash(cwd))
	err = errors.Join(os.MkdirAll(at, 0o700), os.CopyFS(at, os.DirFS(found[0])), os.CopyFS(filepath.Join(project, "agent-transcripts"), os.DirFS(filepath.Join(found[0], "..", "..", "agent-transcripts"))))
	if err != nil {
		h.t.Fatal(err)
	}
	return at
}

// agents returns the sessions of a store, with their folders.
func (h *home) agents(at string) (out []string) {
	h.t.Helper()
	l, err := formats.Locate(at)
	if err != nil {
		h.t.Fatal(err)
	}
	for s, err := range all.Registry().Lookup("cursor-sdk").Sessions.Decode(h.t.Context(), l, formats.FullView(1), session.Selection{}) {
		if err != nil {
			h.t.Fatal(err)
		}
		n := 0
		for _, err := range s.Messages {
			if n++; err != nil {
				h.t.Fatal(err)
			}
		}
		if n == 0 {
			h.t.Errorf("%s has no messages", s.ID)
		}
		out = append(out, s.ID+" in "+s.Workspace)
	}
	return out
}

// TestAgents: agents come with the logs of their databases, to an empty place, or to the
// store that the SDK has made there.
func TestAgents(t *testing.T) {
	for _, used := range []bool{false, true} {
		h := newHome(t)
		h.old = "/tmp/e2eout/ws"
		from := h.store(h.old)
		h.write(".cursor/projects/"+slug(h.old)+"/terminals/1.txt", "not of a session")
		was := h.agents(from)
		to := filepath.Join(h.dir, ".cursor", "projects", slug(h.now), "sdk-agent-store", hash(h.now))
		if used {
			if _, err := convert.Migrate(t.Context(), all.Registry(), []convert.MigrateSource{{Path: "../../testdata/chat/before.db"}}, convert.MigrateOptions{To: "cursor-sdk", Dir: h.dir, Cwd: h.now, UndoDir: filepath.Join(filepath.Dir(h.dir), "undo-other")}); err != nil {
				t.Fatal(err)
			}
		}
		before := h.tree()
		o := h.options()
		o.DryRun = true
		h.run(mv.Move, o)
		if h.tree() != before {
			t.Error("a dry run changed something")
		}
		r := h.run(mv.Move, h.options())
		if r.Count(mv.Moved) != len(r.Sessions) || len(r.Sessions) < 2 || len(r.Left) > 0 {
			t.Errorf("%+v", r)
		}
		is := h.agents(to)
		for _, s := range was {
			want := strings.Replace(s, h.old, h.now, 1)
			if n := strings.Count(strings.Join(is, "\n"), want); n != 1 {
				t.Errorf("%s: %d in %q", want, n, is)
			}
		}
		if same := h.run(mv.Move, h.options()); same.Count(mv.Same) != len(r.Sessions) {
			t.Errorf("again: %s", statuses(same))
		}
		h.run(mv.Remove, h.options())
		if _, err := os.Lstat(from); err == nil {
			t.Error("the originals are still there")
		}
		h.undo()
		h.undo()
		if after := h.tree(); !used && after != before {
			t.Errorf("not as at first:\n%s\n%s", before, after)
		} else if now := strings.Join(h.agents(from), "\n"); now != strings.Join(was, "\n") {
			t.Errorf("%s, want %q", now, was)
		}
		if used {
			if left := h.agents(to); len(left) != 1 {
				t.Errorf("left %q", left)
			}
		}
	}
}

// TestAgentsTakenBack: agents whose addition fails after it is on disk are taken out of the store
// again, and no record of them
// is left.
func TestAgentsTakenBack(t *testing.T) {
	h := newHome(t)
	h.old = "/tmp/e2eout/ws"
	h.store(h.old)
	to := filepath.Join(h.dir, ".cursor", "projects", slug(h.now), "sdk-agent-store", hash(h.now))
	if _, err := convert.Migrate(t.Context(), all.Registry(), []convert.MigrateSource{{Path: "../../testdata/chat/before.db"}}, convert.MigrateOptions{To: "cursor-sdk", Dir: h.dir, Cwd: h.now, UndoDir: filepath.Join(filepath.Dir(h.dir), "undo-other")}); err != nil {
		t.Fatal(err)
	}
	before := h.agents(to)
	f := *all.Registry().Lookup("cursor-sdk")
	w := *f.Writer
	into := *w.Into
	f.Writer, w.Into = &w, &into
	late := errors.New("failed after all")
	into.Add = func(ctx context.Context, a formats.Addition) (formats.Added, error) {
		got, err := all.Registry().Lookup("cursor-sdk").Writer.Into.Add(ctx, a)
		if a.Log != nil && err == nil {
			err = late
		}
		return got, err
	}
	r, err := mv.Move(t.Context(), formats.NewRegistry(&f), h.options())
	if err != nil || r.Count(mv.Failed) != 1 {
		t.Errorf("%+v, %v", r, err)
	}
	if is := h.agents(to); strings.Join(is, "\n") != strings.Join(before, "\n") {
		t.Errorf("%q, want %q", is, before)
	}
	left, err := convert.UndoRecords(h.options().UndoDir) // of the transcripts, which are files
	if err != nil || len(left) != 1 || left[0].Store == to || len(r.Undo) != 1 || r.Undo[0] != left[0].ID {
		t.Errorf("%v, %v, %v", left, r.Undo, err)
	}
}

// TestLines: a store of lines that moved with its project gets the new path, in place.
func TestLines(t *testing.T) {
	h := newHome(t)
	line := func(cwd, name string) string {
		return `{"agentId":"a1","cwd":"` + cwd + `","name":"` + name + `", "createdAt":1.0}` + "\n"
	}
	file := filepath.Join(h.now, ".cursor", "agents", "agents.ndjson")
	before := line("/home/ann/app", "/home/ann/app") + line("/elsewhere", "b") + "torn /home/ann/app"
	h.write("x", "")
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o750), os.WriteFile(file, []byte(before), 0o640)); err != nil {
		t.Fatal(err)
	}
	o := h.options()
	o.DryRun = true
	h.is(h.run(mv.Move, o), "agents.ndjson planned")
	h.is(h.run(mv.Move, h.options()), "agents.ndjson moved")
	want := line(h.now, "/home/ann/app") + line("/elsewhere", "b") + "torn /home/ann/app"
	if b, err := os.ReadFile(file); string(b) != want || err != nil {
		t.Errorf("%s, %v, want %s", b, err, want)
	}
	h.is(h.run(mv.Move, h.options()), "")
	h.is(h.run(mv.Remove, h.options()), "")
	h.undo()
	b, err := os.ReadFile(file)
	info, e := os.Stat(file)
	if string(b) != before || err != nil || e != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("undone: %s, %v, %v", b, err, info)
	}
	if list, err := os.ReadDir(filepath.Dir(file)); len(list) != 1 || err != nil {
		t.Errorf("left behind: %v", list)
	}
}

// TestLeft: sessions of clients that rehome only reads are named.
func TestLeft(t *testing.T) {
	h := newHome(t)
	h.sample("gemini/home", ".gemini")
	before := h.tree()
	r := h.run(mv.Move, h.options())
	if len(r.Sessions) > 0 || len(r.Left) == 0 || r.Left[0].Client != "gemini-cli" || !strings.Contains(r.Left[0].Path, ".gemini") || r.Left[0].Hint == "" {
		t.Errorf("%+v", r)
	}
	o := h.options()
	o.Clients = []string{session.ClaudeCode}
	if r := h.run(mv.Move, o); len(r.Left) > 0 || h.tree() != before {
		t.Errorf("%+v", r)
	}
}

// TestFolders: the folder is found by each of its paths, and what cannot be meant is refused.
func TestFolders(t *testing.T) {
	h := newHome(t)
	real := filepath.Join(filepath.Dir(h.dir), "real")
	link := filepath.Join(filepath.Dir(h.dir), "link")
	if err := errors.Join(os.Mkdir(real, 0o700), os.Symlink(real, link), os.Symlink(h.now, filepath.Join(real, "now"))); err != nil {
		t.Fatal(err)
	}
	h.write(".claude/projects/x/"+one+".jsonl", "") // some other project
	at := ".claude/projects/" + strings.Trim(regexp.MustCompile(`[^A-Za-z0-9]`).ReplaceAllString(real+"/app", "-"), "/") + "/"
	h.write(at+one+".jsonl", talk(one, real+"/app"))
	for _, c := range []struct{ old, now string }{{link + "/app/", h.now}, {real + "/app", link + "/now/"}, {link + "/../real/app", h.now}} {
		o := h.options()
		o.Old, o.New, o.DryRun = c.old, c.now, true
		r := h.run(mv.Move, o)
		if h.is(r, one+".jsonl planned"); len(r.Sessions) == 1 && r.Sessions[0].Cwd != h.now {
			t.Errorf("%s to %s: %+v", c.old, c.now, r.Sessions[0])
		}
	}
	for _, c := range []struct{ old, now string }{{real, real + "/"}, {real, link}, {"/", real}, {real, "/"}, {real, filepath.Join(h.dir, at, one+".jsonl")}} {
		o := h.options()
		o.Old, o.New = c.old, c.now
		if r, err := mv.Move(t.Context(), all.Registry(), o); err == nil {
			t.Errorf("%s to %s: %+v", c.old, c.now, r)
		}
	}
	// OLD is above NEW: what is there already stays there, and again.
	below := filepath.Join(real, "app", "below")
	if err := os.MkdirAll(below, 0o700); err != nil {
		t.Fatal(err)
	}
	o := h.options()
	o.Old, o.New = real+"/app", below
	h.is(h.run(mv.Move, o), one+".jsonl moved")
	h.is(h.run(mv.Move, o), one+".jsonl same")
	// NEW is above OLD.
	o.Old, o.New = below, real
	h.is(h.run(mv.Move, o), one+".jsonl moved")
}

// TestConflicts: a session that is another one at the new place stays, and the others are moved.
func TestConflicts(t *testing.T) {
	h := newHome(t)
	h.chat(h.old, one, `{"cwd":"/home/ann/app","title":"t"}`)
	h.chat(h.old, two, `{"cwd":"/home/ann/app","title":"t"}`)
	mine := h.chat(h.now, two, `{"cwd":"`+h.now+`","title":"mine"}`)
	before := h.read(mine + "meta.json")
	r := h.run(mv.Move, h.options())
	h.is(r, one+" moved, "+two+" failed")
	for _, s := range r.Sessions {
		if s.ID == two && (!errors.Is(s.Err(), formats.ErrExists) || !strings.Contains(formats.Hint(s.Err()), s.From)) {
			t.Error(s.Err())
		}
	}
	if h.read(mine+"meta.json") != before {
		t.Error("overwritten")
	}
	h.is(h.run(mv.Remove, h.options()), one+" removed")
	h.read(".cursor/chats/" + hash(h.old) + "/" + two + "/store.db")
}

// TestShared: of a folder that has the same name in Cursor nothing is moved, and what cannot
// be attributed, or is not filed by the path, is named.
func TestShared(t *testing.T) {
	h := newHome(t)
	h.old = "/tmp/e2eout/ws"
	from := h.store(h.old)
	theirs := filepath.Join(filepath.Dir(from), hash("/tmp/e2eout-ws"))
	newer := filepath.Join(h.dir, ".cursor", "sdk-agent-store", "s1")
	if err := errors.Join(os.CopyFS(theirs, os.DirFS(from)), os.MkdirAll(newer, 0o700), os.CopyFS(newer, os.DirFS(from))); err != nil {
		t.Fatal(err)
	}
	unknown := h.write(".cursor/projects/"+slug(h.old)+"/agent-transcripts/"+one+".jsonl", "{}\n")
	r := h.run(mv.Move, h.options())
	if r.Count(mv.Moved) != len(r.Sessions) || len(r.Sessions) < 2 {
		t.Errorf("%s", statuses(r))
	}
	for _, s := range r.Sessions {
		if s.From == theirs || s.From == unknown {
			t.Errorf("moved %s", s.From)
		}
	}
	if len(r.Left) != 2 || r.Left[0].Path != unknown || r.Left[1].Path != newer {
		t.Errorf("left %+v", r.Left)
	}
}

package mv_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"rehome/convert"
	"rehome/convert/mv"
	"rehome/convert/sessions"
	"rehome/formats"
	"rehome/formats/all"
	"rehome/internal/fsx"
)

// home is the home folder of somebody whose project was moved from old to now.
type home struct {
	t             *testing.T
	dir, old, now string
}

func newHome(t *testing.T) *home {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	h := &home{t, filepath.Join(dir, "home"), "/home/ann/app", filepath.Join(dir, "new place é")}
	if err := errors.Join(os.Mkdir(h.dir, 0o700), os.Mkdir(h.now, 0o700)); err != nil {
		t.Fatal(err)
	}
	return h
}

func (h *home) write(name, content string) string {
	h.t.Helper()
	path := filepath.Join(h.dir, filepath.FromSlash(name))
	err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(content), 0o640), os.Chtimes(path, time.Time{}, time.Unix(1_700_000_000, 0)))
	if err != nil {
		h.t.Fatal(err)
	}
	return path
}

func (h *home) read(name string) string {
	h.t.Helper()
	b, err := os.ReadFile(filepath.Join(h.dir, filepath.FromSlash(name)))
	if err != nil {
		h.t.Error(err)
	}
	return string(b)
}

func (h *home) options() mv.Options {
	m := h.machine()
	return mv.Options{Old: h.old, New: h.now, Machine: m, UndoDir: filepath.Join(filepath.Dir(h.dir), "undo")}
}

func (h *home) machine() formats.Machine {
	return formats.Machine{OS: "linux", Home: h.dir, Getenv: func(string) string { return "" }}
}

func (h *home) run(f func(context.Context, *formats.Registry, mv.Options) (*mv.Report, error), o mv.Options) *mv.Report {
	h.t.Helper()
	r, err := f(h.t.Context(), all.Registry(), o)
	if err != nil {
		h.t.Fatal(err)
	}
	return r
}

// statuses returns what became of each session, by its name.
func statuses(r *mv.Report) string {
	var out []string
	for _, s := range r.Sessions {
		out = append(out, filepath.Base(s.From)+" "+s.Status)
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

func (h *home) is(r *mv.Report, want string) {
	h.t.Helper()
	if got := statuses(r); got != want {
		h.t.Errorf("got  %s\nwant %s", got, want)
		for _, s := range r.Sessions {
			if s.Err() != nil {
				h.t.Log(s.Err())
			}
		}
	}
}

// tree returns a digest of all files, and their modes and times.
func (h *home) tree() string {
	h.t.Helper()
	sum, err := fsx.DigestTree(h.dir)
	if err != nil {
		h.t.Fatal(err)
	}
	var b strings.Builder
	err = filepath.WalkDir(h.dir, func(path string, e fs.DirEntry, err error) error {
		if info, infoErr := os.Lstat(path); infoErr == nil && !e.IsDir() {
			b.WriteString(path + info.Mode().String() + info.ModTime().String() + "\n")
		}
		return err
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return sum + "\n" + b.String()
}

// listed checks how many sessions are listed of a folder.
func (h *home) listed(dir string, want int) {
	h.t.Helper()
	listing, err := sessions.List(h.t.Context(), all.Registry(), sessions.Options{Machine: h.machine(), Folders: sessions.Candidates{Dirs: []string{h.now}}})
	if err != nil {
		h.t.Fatal(err)
	}
	if got, _ := listing.Select(sessions.Filter{Project: dir}); len(got) != want {
		h.t.Errorf("%d sessions are listed in %s, want %d: %+v", len(got), dir, want, got)
	}
}

func (h *home) undo() *convert.UndoReport {
	h.t.Helper()
	r, err := convert.Undo(h.t.Context(), all.Registry(), convert.UndoOptions{Dir: h.options().UndoDir})
	if err != nil {
		h.t.Fatal(err)
	}
	return r
}

const (
	one   = "10000000-0000-4000-8000-000000000001"
	two   = "10000000-0000-4000-8000-000000000002"
	other = "10000000-0000-4000-8000-000000000003"
	bare  = "10000000-0000-4000-8000-000000000004"
)

// talk is a session of Claude Code, whose words name the folder.
func talk(id, cwd string) string {
	return `{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"` + id + `","cwd":"` + cwd + `","timestamp":"2026-11-20T08:00:00.000Z","message":{"role":"user","content":"cd ` + cwd + `, \"cwd\":\"` + cwd + `\""}}` + "\r\n" +
		`{ "cwd" : "` + strings.ReplaceAll(cwd, "/", `\/`) + `/sub" ,"type":"assistant","uuid":"u2","parentUuid":"u1","sessionId":"` + id + `","timestamp":"2026-11-20T08:00:01.000Z","message":{"id":"m1","role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"cwd":"` + cwd + `","realParentDir":"` + cwd + `","command":"ls"}}]}}` + "\n" +
		`{"type":"user","uuid":"u3","parentUuid":"u2","cwd":"/elsewhere","sessionId":"` + id + `","timestamp":"2026-11-20T08:00:02.000Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"` + cwd + `/a"}]},"toolUseResult":{"cwd":"` + cwd + `"}}` + "\n" +
		"not a line " + cwd + "\n" +
		`{"type":"file-history-delta","messageId":"u1","snapshotMessageId":"u1","trackingPath":"a","backup":{"backupFileName":"0123456789abcdef@v1","version":1,"realParentDir":"` + cwd + `"}}`
}

// TestClaudeCode: copies differ in the folder alone, and all can be undone.
func TestClaudeCode(t *testing.T) {
	h := newHome(t)
	at := ".claude/projects/-home-ann-app/"
	file := h.write(at+one+".jsonl", talk(one, "/home/ann/app"))
	h.write(at+one+"/subagents/agent-a1.jsonl", strings.ReplaceAll(talk(one, "/home/ann/app"), `"type":"user"`, `"isSidechain":true,"agentId":"a1","type":"user"`))
	h.write(at+one+"/tool-results/b.txt", "/home/ann/app\n")
	h.write(at+"memory/MEMORY.md", "in /home/ann/app\n")
	h.write(".claude/projects/-home-ann-app-sub/"+two+".jsonl", talk(two, "/home/ann/app/sub"))
	h.write(".claude/projects/-home-ann-app-sub/"+other+".jsonl", talk(other, "/home/ann/app-sub"))
	h.write(".claude/projects/-home-ann-app-sub/memory/MEMORY.md", "whose?\n")
	h.write(".claude/settings.json", "{}")
	h.write(".claude.json", `{"projects":{"\/home/ann/app":{"mcpServers":{}}}}`)
	before := h.tree()
	o := h.options()
	o.DryRun = true
	h.is(h.run(mv.Move, o), one+".jsonl planned, "+two+".jsonl planned, MEMORY.md planned")
	if h.tree() != before {
		t.Error("a dry run changed something")
	}
	r := h.run(mv.Move, h.options())
	h.is(r, one+".jsonl moved, "+two+".jsonl moved, MEMORY.md moved")
	if len(r.Left) != 2 || !strings.HasSuffix(r.Left[0].Path, "-home-ann-app-sub/memory") || !strings.HasSuffix(r.Left[1].Path, "home/.claude.json") {
		t.Errorf("left %+v", r.Left)
	}
	var to string
	for _, s := range r.Sessions {
		if s.ID == one {
			to = strings.TrimPrefix(s.To, h.dir+"/")
		}
	}
	want := talk(one, "/home/ann/app")
	for from, to := range map[string]string{
		`,"cwd":"/home/ann/app","timestamp"`:          `,"cwd":"` + h.now + `","timestamp"`,
		`"cwd" : "\/home\/ann\/app/sub"`:              `"cwd" : "` + h.now + `/sub"`,
		`"version":1,"realParentDir":"/home/ann/app"`: `"version":1,"realParentDir":"` + h.now + `"`,
	} {
		if strings.Count(want, from) != 1 {
			t.Fatal(from)
		}
		want = strings.Replace(want, from, to, 1)
	}
	if got := h.read(to); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if side := strings.TrimSuffix(to, ".jsonl"); h.read(side+"/tool-results/b.txt") != "/home/ann/app\n" || !strings.Contains(h.read(side+"/subagents/agent-a1.jsonl"), `"cwd":"`+h.now+`"`) {
		t.Error("the other files of the session")
	}
	if info, err := os.Stat(filepath.Join(h.dir, to)); err != nil || info.ModTime().Unix() != 1_700_000_000 || info.Mode().Perm() != 0o640 {
		t.Error(info, err)
	}
	h.is(h.run(mv.Move, h.options()), one+".jsonl same, "+two+".jsonl same, MEMORY.md same")
	if u := h.undo(); len(u.Kept) > 0 || h.tree() != before {
		t.Errorf("undone: %+v", u)
	}

	// Somebody continues a copy, and somebody else an original.
	h.run(mv.Move, h.options())
	h.write(to, want+"\n{}\n")
	h.is(h.run(mv.Move, h.options()), one+".jsonl same, "+two+".jsonl same, MEMORY.md same")
	if u := h.undo(); len(u.Kept) != 1 || h.read(to) != want+"\n{}\n" {
		t.Errorf("undone: %+v", u)
	}
	h.write(strings.TrimPrefix(file, h.dir+"/"), talk(one, "/home/ann/app")+"\n{\"more\":1}\n")
	r = h.run(mv.Move, h.options())
	h.is(r, one+".jsonl failed, "+two+".jsonl moved, MEMORY.md moved")
	if !errors.Is(r.Sessions[slices.IndexFunc(r.Sessions, func(s mv.Session) bool { return s.ID == one })].Err(), formats.ErrExists) {
		t.Error("the wrong reason")
	}
	h.is(h.run(mv.Remove, h.options()), one+".jsonl failed, "+two+".jsonl removed, MEMORY.md removed")
}

// TestOneName: where the client has one name for both folders, the sessions are changed in
// place, which can be undone, and is never taken for an original that can be removed.
func TestOneName(t *testing.T) {
	h := newHome(t)
	h.old = strings.ReplaceAll(h.now, " ", ".")
	at := ".claude/projects/" + strings.Map(func(r rune) rune {
		if r < 'a' || r > 'z' {
			if (r < 'A' || r > 'Z') && (r < '0' || r > '9') {
				return '-'
			}
		}
		return r
	}, h.now) + "/"
	h.write(at+one+".jsonl", talk(one, h.old))
	h.write(at+one+"/subagents/agent-a1.jsonl", strings.ReplaceAll(talk(one, h.old), `"type":"user"`, `"isSidechain":true,"agentId":"a1","type":"user"`))
	h.write(at+two+".jsonl", talk(two, h.now)) // it was there before
	before := h.tree()
	o := h.options()
	o.DryRun = true
	if h.is(h.run(mv.Move, o), one+".jsonl planned"); h.tree() != before {
		t.Error("a dry run changed something")
	}
	r := h.run(mv.Move, h.options())
	if h.is(r, one+".jsonl moved"); !r.Sessions[0].InPlace || r.Sessions[0].From != r.Sessions[0].To {
		t.Errorf("got %+v", r.Sessions[0])
	}
	for _, name := range []string{at + one + ".jsonl", at + one + "/subagents/agent-a1.jsonl"} {
		if got := h.read(name); !strings.Contains(got, `"cwd":"`+h.now+`","timestamp"`) || strings.Contains(got, `"cwd":"`+h.old+`","timestamp"`) {
			t.Errorf("%s: %s", name, got)
		}
	}
	after := h.tree()
	h.is(h.run(mv.Move, h.options()), "")
	if h.run(mv.Remove, h.options()); h.tree() != after {
		t.Error("something was removed")
	}
	if u := h.undo(); len(u.Kept) > 0 || h.tree() != before {
		t.Errorf("undone: %+v", u)
	}
}

// TestRemove: originals that changed, or whose copy is gone, stay; what is removed can be
// put back, and a copy without an original is never undone.
func TestRemove(t *testing.T) {
	h := newHome(t)
	at := ".claude/projects/-home-ann-app/"
	h.write(at+one+".jsonl", talk(one, "/home/ann/app"))
	h.write(at+one+"/tool-results/b.txt", "out")
	h.write(at+two+".jsonl", talk(two, "/home/ann/app"))
	h.write(at+other+".jsonl", talk(other, "/home/ann/app"))
	h.write(at+bare+".jsonl", `{"type":"summary","summary":"no folder","leafUuid":"u1"}`+"\n")
	before := h.tree()
	if _, err := mv.Remove(t.Context(), all.Registry(), h.options()); err == nil || !strings.Contains(formats.Hint(err), "rehome mv OLD NEW") {
		t.Error(err)
	}
	r := h.run(mv.Move, h.options())
	h.is(r, one+".jsonl moved, "+two+".jsonl moved, "+other+".jsonl moved, "+bare+".jsonl moved")
	moved := h.tree()
	h.is(h.run(mv.Remove, h.options()), one+".jsonl removed, "+two+".jsonl removed, "+other+".jsonl removed, "+bare+".jsonl removed")
	h.listed(h.old, 0)
	h.listed(h.now, 3)
	if _, err := os.Lstat(filepath.Join(h.dir, filepath.FromSlash(at))); !errors.Is(err, fs.ErrNotExist) {
		t.Error("an empty folder is left:", err)
	}
	if _, err := convert.Undo(t.Context(), all.Registry(), convert.UndoOptions{Dir: h.options().UndoDir, ID: "1"}); err == nil {
		t.Error("the only copy was removed")
	}
	if h.undo(); h.tree() != moved {
		t.Error("the originals are not as they were")
	}
	h.write(at+two+".jsonl", talk(two, "/home/ann/app")+"\n{}")
	for _, s := range r.Sessions {
		if s.ID == other {
			if err := os.Remove(s.To); err != nil {
				t.Fatal(err)
			}
		}
	}
	h.is(h.run(mv.Remove, h.options()), one+".jsonl removed, "+two+".jsonl failed, "+other+".jsonl failed, "+bare+".jsonl removed")
	h.undo()
	h.write(at+two+".jsonl", talk(two, "/home/ann/app"))
	if h.undo(); h.tree() != before {
		t.Error("not as at first")
	}
}

// TestLostRecords: originals can be removed although the records of the move are gone.
func TestLostRecords(t *testing.T) {
	h := newHome(t)
	h.write(".claude/projects/-home-ann-app/"+one+".jsonl", talk(one, "/home/ann/app"))
	h.run(mv.Move, h.options())
	if err := os.RemoveAll(h.options().UndoDir); err != nil {
		t.Fatal(err)
	}
	if r := h.run(mv.Move, h.options()); len(r.Undo) > 0 {
		t.Errorf("%+v", r)
	}
	h.is(h.run(mv.Move, h.options()), one+".jsonl same")
	h.is(h.run(mv.Remove, h.options()), one+".jsonl removed")
}

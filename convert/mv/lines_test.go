package mv_test

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"rehome/convert/mv"
	"rehome/formats"
	"rehome/formats/all"
)

// sample copies a sample into the home folder, whose project is where the sample says it is.
func (h *home) sample(from, to string) map[string]string {
	h.t.Helper()
	h.old = "/home/dev/demo-project"
	if err := os.CopyFS(filepath.Join(h.dir, to), os.DirFS(filepath.Join("..", "..", "testdata", from))); err != nil {
		h.t.Fatal(err)
	}
	return h.texts()
}

// texts returns all files.
func (h *home) texts() map[string]string {
	h.t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(h.dir, func(path string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			rel, _ := filepath.Rel(h.dir, path)
			out[filepath.ToSlash(rel)] = h.read(filepath.ToSlash(rel))
		}
		return err
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return out
}

// TestPi: copies lie in the folder of the new path, and differ in the head alone; the one
// whose folder exists is listed, and the one that goes on.
func TestPi(t *testing.T) {
	h := newHome(t)
	before := h.sample("pi/home", ".pi/agent")
	tree := h.tree()
	r := h.run(mv.Move, h.options())
	if len(r.Sessions) != 3 || r.Count(mv.Moved) != 3 {
		t.Fatalf("%+v", r)
	}
	was, is := `"cwd":"/home/dev/demo-project"`, `"cwd":"`+h.now+`"`
	for _, s := range r.Sessions {
		rel, _ := filepath.Rel(h.dir, s.From)
		want := before[filepath.ToSlash(rel)]
		if strings.Count(want, was) != 1 {
			t.Fatal(rel)
		}
		if rel, _ = filepath.Rel(h.dir, s.To); h.read(filepath.ToSlash(rel)) != strings.Replace(want, was, is, 1) {
			t.Errorf("%s: other bytes than of %s", s.To, s.From)
		}
		if want := strings.NewReplacer("/", "-").Replace(strings.Trim(h.now, "/")); filepath.Base(filepath.Dir(s.To)) != "--"+want+"--" {
			t.Errorf("%s is not where Pi looks", s.To)
		}
	}
	h.listed(h.now, 3)
	h.listed(h.old, 0)
	if again := h.run(mv.Move, h.options()); again.Count(mv.Same) != 3 {
		t.Errorf("%+v", again)
	}
	if r := h.run(mv.Remove, h.options()); r.Count(mv.Removed) != 3 {
		t.Errorf("%+v", r)
	}
	h.undo()
	if h.undo(); h.tree() != tree {
		t.Error("not as at first")
	}
}

// TestCopilot: the folder is changed where the client keeps it, and nothing else is; what was
// said of it stays.
func TestCopilot(t *testing.T) {
	h := newHome(t)
	before := h.sample("copilot/home", ".copilot")
	lock := filepath.Join(h.dir, ".copilot", "session-state", "6bfae954-379d-4db5-8bc4-dac380b57cbd", "inuse.1.lock")
	if err := os.WriteFile(lock, []byte(strconv.Itoa(os.Getpid())), 0o600); err != nil {
		t.Fatal(err)
	}
	tree := h.tree()
	if _, err := mv.Move(t.Context(), all.Registry(), h.options()); !errors.Is(err, formats.ErrBusy) || h.tree() != tree {
		t.Errorf("while the client has it open: %v", err)
	}
	if err := os.Remove(lock); err != nil {
		t.Fatal(err)
	}
	tree = h.tree()
	r := h.run(mv.Move, h.options())
	if len(r.Sessions) != 5 || r.Count(mv.Moved) != 5 {
		t.Fatalf("%+v", r)
	}
	for name, got := range h.texts() {
		want := strings.Replace(before[name], "\ncwd: /home/dev/demo-project\n", "\ncwd: "+h.now+"\n", 1)
		var lines []string
		for line := range strings.Lines(before[name]) {
			if strings.HasPrefix(line, `{"type":"session.`) {
				line = strings.Replace(line, `"context":{"cwd":"/home/dev/demo-project"`, `"context":{"cwd":"`+h.now+`"`, 1)
			}
			lines = append(lines, line)
		}
		if filepath.Ext(name) == ".jsonl" {
			want = strings.Join(lines, "")
		}
		if got != want || got == before[name] {
			t.Errorf("%s: got\n%.300s\nwant\n%.300s", name, got, want)
		}
	}
	h.listed(h.now, 5)
	h.listed(h.old, 0)
	if again := h.run(mv.Move, h.options()); len(again.Sessions) != 0 {
		t.Errorf("%+v", again)
	}
	if u := h.undo(); len(u.Kept) > 0 || h.tree() != tree {
		t.Errorf("undone: %+v", u)
	}
}

// TestCodex: what the client finds a rollout by is changed in place, what the model was told of
// the folder is not; one that another was forked from stays, and so do the bytes that the fork
// counts.
func TestCodex(t *testing.T) {
	h := newHome(t)
	before := h.sample("codex/home", ".codex")
	tree := h.tree()
	r := h.run(mv.Move, h.options())
	if r.Count(mv.Moved) != len(r.Sessions) || len(r.Sessions) != 5 || len(r.Left) != 1 { // one names no folder
		for _, s := range r.Sessions {
			t.Log(s.Err())
		}
		t.Fatalf("%+v", r.Left)
	}
	if l := r.Left[0]; !strings.Contains(l.Why, "forked") || !strings.HasPrefix(l.Hint, "cd '"+h.now+"' && codex resume 01a202d9-") {
		t.Errorf("%+v", l)
	}
	for name, got := range h.texts() {
		var want strings.Builder
		for line := range strings.Lines(before[name]) {
			for _, kind := range []string{"session_meta", "turn_context", "thread_settings_applied"} {
				if strings.Contains(line, `"type":"`+kind+`"`) && !strings.HasSuffix(r.Left[0].Path, filepath.Base(name)) {
					line = strings.Replace(line, `"cwd":"/home/dev/demo-project"`, `"cwd":"`+h.now+`"`, 1)
				}
			}
			want.WriteString(line)
		}
		if got != want.String() {
			t.Errorf("%s is not what is wanted", name)
		}
	}
	h.listed(h.now, len(r.Sessions))
	h.listed(h.old, 1)
	if again := h.run(mv.Move, h.options()); len(again.Sessions) != 0 {
		t.Errorf("%+v", again)
	}
	if u := h.undo(); len(u.Kept) > 0 || h.tree() != tree {
		t.Errorf("undone: %+v", u)
	}
}

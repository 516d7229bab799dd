package convert

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"rehome/formats"
	"rehome/formats/all"
	"rehome/testdata/kill"
)

// crashHome is a config folder of a client to which a session is migrated by a program that
// is killed.
type crashHome struct {
	t                               *testing.T
	to, dir, config, cwd, undo, src string
}

// parentAndChild is a session with a subagent.
const parentAndChild = `{"type":"session","version":1,"id":"p","agent":"codex","title":"Parent"}
{"type":"message","id":"m1","role":"user","turn":0,"parts":[{"type":"text","text":"one"}]}
{"type":"message","id":"m2","role":"assistant","turn":0,"parts":[{"type":"tool-call","id":"c1","name":"Task","kind":"subagent","args":{"prompt":"look"}}]}
{"type":"message","id":"m3","role":"tool","turn":0,"parts":[{"type":"tool-result","call":"c1","status":"ok","content":[{"type":"text","text":"found"}]}]}
{"type":"message","id":"m4","role":"assistant","turn":0,"parts":[{"type":"text","text":"two"}]}
MORE{"type":"session","version":1,"id":"k","agent":"codex","parent":{"session":"p","call":"c1"}}
{"type":"message","id":"k1","role":"user","turn":0,"parts":[{"type":"text","text":"look"}]}
{"type":"message","id":"k2","role":"assistant","turn":0,"parts":[{"type":"text","text":"found"}]}
`

const oneTurnMore = `{"type":"message","id":"m5","role":"user","turn":1,"parts":[{"type":"text","text":"more"}]}
{"type":"message","id":"m6","role":"assistant","turn":1,"parts":[{"type":"text","text":"done"}]}
`

func newCrashHome(t *testing.T, to string) *crashHome {
	t.Helper()
	dir, err := filepath.EvalSymlinks(memory(t))
	if err != nil {
		t.Fatal(err)
	}
	h := &crashHome{t: t, to: to, dir: filepath.Join(dir, "home"), cwd: filepath.Join(dir, "work"), undo: filepath.Join(dir, "undo"), src: filepath.Join(dir, "talk.jsonl")}
	h.config = filepath.Join(h.dir, "config")
	if err := os.Mkdir(h.cwd, 0o700); err != nil {
		t.Fatal(err)
	}
	return h
}

// reset makes the folder as it was before the migration: empty, or with an older state.
func (h *crashHome) reset(older bool) {
	h.t.Helper()
	if err := errors.Join(os.RemoveAll(h.dir), os.RemoveAll(h.undo), os.Mkdir(h.dir, 0o700)); err != nil {
		h.t.Fatal(err)
	}
	if older {
		write(h.t, h.src, strings.Replace(parentAndChild, "MORE", "", 1))
		h.run(h.victim(0))
		if err := os.RemoveAll(h.undo); err != nil {
			h.t.Fatal(err)
		}
	}
	write(h.t, h.src, strings.Replace(parentAndChild, "MORE", oneTurnMore, 1))
}

func (h *crashHome) victim(limit int) *exec.Cmd {
	return exec.Command(os.Args[0], "victim", h.src, h.config, "into", strconv.Itoa(limit), h.cwd, h.undo, h.to)
}

func (h *crashHome) run(cmd *exec.Cmd) {
	h.t.Helper()
	if out, err := cmd.CombinedOutput(); err != nil {
		h.t.Fatalf("%v\n%s", err, out)
	}
}

// tree returns everything in the home folder, but for what only a killed run leaves if
// settled is false.
func (h *crashHome) tree(settled bool) []string {
	return slices.DeleteFunc(tree(h.t, h.dir), func(s string) bool { return !settled && strings.Contains(s, formats.StagingMark) })
}

func (h *crashHome) is(what string, at int, got, want []string) {
	h.t.Helper()
	if !slices.Equal(got, want) {
		h.t.Errorf("killed at write %d, %s: %q\nwant %q", at, what, got, want)
	}
}

// TestRecordKilled kills a migration at many writes: the session is as it was or as it will be,
// what was done can be undone, and nothing is left behind. What a transaction and its undoing
// leave is tested in filetx, this is about the order of what migrate does.
func TestRecordKilled(t *testing.T) {
	for to, older := range map[string]bool{"claude-code": false, "cursor-chat": true} {
		t.Run(to+pick(older, " update", " new"), func(t *testing.T) {
			h := newCrashHome(t, to)
			h.reset(older)
			old := h.tree(true)
			n, err := kill.AtWrite(h.victim(0), 0)
			if errors.Is(err, unix.EPERM) {
				t.Log("tracing is not allowed here: TestUndoFiles stands for it")
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			fresh := h.tree(true)
			if slices.Equal(old, fresh) {
				t.Fatal("nothing was migrated")
			}
			states := map[string]int{}
			for at := n; at > 0; at = stepBefore(at, 1+(n-at)/4) {
				h.reset(older)
				if _, err := kill.AtWrite(h.victim(0), at); err != nil {
					t.Fatal(err)
				}
				now := h.tree(false)
				states[pick(slices.Equal(now, fresh), "new", pick(slices.Equal(now, old), "old", "between"))]++
				undoAll(t, h.undo)
				h.is("undone", at, h.tree(false), old)
				h.run(h.victim(0))
				h.is("run again", at, h.tree(true), fresh)
				undoAll(t, h.undo)
				h.is("run again and undone", at, h.tree(true), old)
			}
			t.Logf("%d writes: %v", n, states)
			if states["new"] == 0 || states["old"] == 0 {
				t.Errorf("states seen: %v", states)
			}
		})
	}
}

// TestRecordInUse: a chat that its client has open is neither replaced nor undone.
func TestRecordInUse(t *testing.T) {
	h := newCrashHome(t, "cursor-chat")
	h.reset(true)
	fresh := h.tree(true)
	found, err := filepath.Glob(filepath.Join(h.config, "chats", "*", "*", "store.db"))
	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	owner := (&busyStore{t: t}).hold(found[0])
	if out, err := h.victim(0).CombinedOutput(); err == nil || !strings.Contains(string(out), "in use") {
		t.Errorf("replaced: %v, %s", err, out)
	}
	owner()
	h.run(h.victim(0))
	owner = (&busyStore{t: t}).hold(found[0])
	done, err := Undo(t.Context(), all.Registry(), UndoOptions{Dir: h.undo})
	if err != nil || len(done.Kept) != 1 || !strings.HasPrefix(done.Kept[0].Reason, "in use") {
		t.Errorf("%+v, %v", done, err)
	}
	owner()
	undoAll(t, h.undo)
	side := func(s string) bool { return strings.Contains(s, "store.db-") } // of the client that was killed
	h.is("undone", 0, slices.DeleteFunc(h.tree(true), side), fresh)
}

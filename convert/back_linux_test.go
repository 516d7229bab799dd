package convert

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"rehome/formats/all"
	"rehome/testdata/kill"
)

// homecoming is a session on whose copy turns were added, which are brought back.
type homecoming struct {
	t              *testing.T
	saved, home    string // the clients' files, as they were and now
	undo           string
	original, copy BackSource
	old, fresh     []string // the original's folder
}

const returning = "10000000-0000-4000-8000-00000000000a"

// grown is what Claude Code adds to a session: a turn, with a subagent if it has tasks.
const grown = `{"parentUuid":"PARENT","isSidechain":false,"type":"user","message":{"role":"user","content":"more"},"uuid":"40000000-0000-4000-8000-000000000001","timestamp":"2026-11-21T12:00:00.000Z","cwd":"/w","sessionId":"SESSION","version":"2.1.328"}
{"parentUuid":"40000000-0000-4000-8000-000000000001","isSidechain":false,"type":"assistant","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"tool_use","id":"toolu_9","name":"Task","input":{"description":"look","prompt":"look","subagent_type":"Explore"}}],"stop_reason":"tool_use","usage":{"input_tokens":1,"output_tokens":1}},"uuid":"40000000-0000-4000-8000-000000000002","timestamp":"2026-11-21T12:00:01.000Z","cwd":"/w","sessionId":"SESSION","version":"2.1.328"}
{"parentUuid":"40000000-0000-4000-8000-000000000002","isSidechain":false,"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_9","content":"ok"}]},"toolUseResult":{"status":"completed","agentId":"ab1","content":[]},"uuid":"40000000-0000-4000-8000-000000000003","timestamp":"2026-11-21T12:00:02.000Z","cwd":"/w","sessionId":"SESSION","version":"2.1.328"}
`

const grownInside = `{"parentUuid":null,"isSidechain":true,"agentId":"ab1","type":"user","message":{"role":"user","content":"look"},"uuid":"50000000-0000-4000-8000-000000000001","timestamp":"2026-11-21T12:00:01.000Z","cwd":"/w","sessionId":"SESSION","version":"2.1.328"}
`

func (h *homecoming) migrate(from BackSource, to string) BackSource {
	h.t.Helper()
	src := MigrateSource{Path: from.Path}
	if from.ID != "" {
		src.Sessions = []string{from.ID}
	}
	done, err := Migrate(h.t.Context(), all.Registry(), []MigrateSource{src}, MigrateOptions{To: to, Dir: clientDir(h.home, to), Cwd: filepath.Join(h.home, "work"), UndoDir: h.undo, Update: true})
	if err != nil || len(done.Migrated) != 1 || done.Migrated[0].Err() != nil {
		h.t.Fatalf("%+v, %v", done, err)
	}
	return BackSource{Path: done.Migrated[0].File, Format: to, ID: done.Migrated[0].Session}
}

// grow adds a turn to a file of Claude Code.
func (h *homecoming) grow(path string) {
	h.t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		h.t.Fatal(err)
	}
	at := strings.LastIndex(string(text), `"uuid":"`) + 8
	id := strings.TrimSuffix(filepath.Base(path), ".jsonl")
	spell := strings.NewReplacer("PARENT", string(text[at:at+36]), "SESSION", id)
	write(h.t, path, string(text)+spell.Replace(grown))
	dir := filepath.Join(strings.TrimSuffix(path, ".jsonl"), "subagents")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		h.t.Fatal(err)
	}
	write(h.t, filepath.Join(dir, "agent-ab1.jsonl"), spell.Replace(grownInside))
	write(h.t, filepath.Join(dir, "agent-ab1.meta.json"), `{"agentType":"Explore","toolUseId":"toolu_9"}`)
}

// newHomecoming makes a session of a client whose copy has more turns.
func newHomecoming(t *testing.T, client string) *homecoming {
	t.Helper()
	dir, err := filepath.EvalSymlinks(memory(t))
	if err != nil {
		t.Fatal(err)
	}
	h := &homecoming{t: t, saved: filepath.Join(dir, "saved"), home: filepath.Join(dir, "home"), undo: filepath.Join(dir, "undo")}
	if err := os.MkdirAll(filepath.Join(h.home, "work"), 0o700); err != nil {
		t.Fatal(err)
	}
	agent, other := "cursor-cli", "claude-code"
	if client == "claude-code" {
		agent, other = client, "cursor-chat"
	}
	text := filepath.Join(dir, "text.jsonl")
	write(t, text, fmt.Sprintf(`{"type":"session","version":1,"id":"%s","agent":"%s","title":"t"}
{"type":"message","id":"m1","role":"user","turn":{"number":1},"parts":[{"type":"text","text":"first"}]}
{"type":"message","id":"m2","role":"assistant","parts":[{"type":"text","text":"%s"}]}
`, returning, agent, strings.Repeat("one ", 5000)))
	h.original = h.migrate(BackSource{Path: text}, client)
	h.copy = h.migrate(h.original, other)
	if client == "cursor-chat" {
		h.grow(h.copy.Path)
	} else {
		was, err := os.ReadFile(h.original.Path)
		if err != nil {
			t.Fatal(err)
		}
		h.grow(h.original.Path)
		h.migrate(h.original, other)
		write(t, h.original.Path, string(was))
		if err := os.RemoveAll(strings.TrimSuffix(h.original.Path, ".jsonl")); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.RemoveAll(h.undo), os.CopyFS(h.saved, os.DirFS(h.home))); err != nil {
		t.Fatal(err)
	}
	h.old = h.text()
	return h
}

func (h *homecoming) reset() {
	h.t.Helper()
	if err := errors.Join(os.RemoveAll(h.home), os.RemoveAll(h.undo), os.CopyFS(h.home, os.DirFS(h.saved))); err != nil {
		h.t.Fatal(err)
	}
}

// text is what the original's client has: of a chat every row.
func (h *homecoming) text() []string {
	h.t.Helper()
	if h.original.Format == "claude-code" {
		// The next run that stages something removes what a killed one left.
		return slices.DeleteFunc(tree(h.t, filepath.Dir(h.original.Path)), func(f string) bool { return strings.HasPrefix(f, ".") })
	}
	to := filepath.Join(h.t.TempDir(), "text")
	must(h.t, all.Registry(), h.original.Path, to, Options{To: "archive", Sidecar: "none", WithSecrets: true})
	return tree(h.t, to)
}

// victim brings the turns back; no file gets larger than limit, unless that is 0.
func (h *homecoming) victim(limit int) *exec.Cmd {
	return exec.Command(os.Args[0], "victim", h.copy.Path, h.original.Path, "back", fmt.Sprint(limit), h.copy.Format, h.copy.ID, h.original.Format, h.original.ID, h.home, h.undo)
}

// TestBackKilled kills --back at many of its writes: the turns are there or not, undo
// restores what was there, and the next run brings them back.
func TestBackKilled(t *testing.T) {
	for _, client := range []string{"cursor-chat", "claude-code"} {
		t.Run(client, func(t *testing.T) {
			h := newHomecoming(t, client)
			n, err := kill.AtWrite(h.victim(0), 0)
			if errors.Is(err, unix.EPERM) {
				t.Log("tracing is not allowed here: TestBackLimited stands for it")
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if h.fresh = h.text(); slices.Equal(h.old, h.fresh) {
				t.Fatal("nothing was brought back")
			}
			states := map[string]int{}
			for at := n; at > 0; at = stepBefore(at, 1+(n-at)/8) {
				h.reset()
				if _, err := kill.AtWrite(h.victim(0), at); err != nil {
					t.Fatal(err)
				}
				switch now := h.text(); {
				case slices.Equal(now, h.old):
					states["old"]++
				case slices.Equal(now, h.fresh):
					states["new"]++
				default:
					states["old, with files to which nothing refers"]++
				}
				if at%2 == 0 {
					h.expect(func() { undoAll(t, h.undo) }, h.old, at, "undone")
				}
				h.expect(func() {
					if out, err := h.victim(0).CombinedOutput(); err != nil {
						t.Errorf("killed at write %d, run again: %v\n%s", at, err, out)
					}
				}, h.fresh, at, "run again")
				h.expect(func() { undoAll(t, h.undo) }, h.old, at, "run again and undone")
			}
			t.Logf("%d writes: %v", n, states)
			if states["new"] == 0 || states["old"] == 0 {
				t.Errorf("states seen: %v", states)
			}
		})
	}
}

func (h *homecoming) expect(do func(), want []string, at int, when string) {
	h.t.Helper()
	do()
	if now := h.text(); !slices.Equal(now, want) {
		h.t.Errorf("killed at write %d, %s: %.300s", at, when, firstDifference(now, want))
	}
}

// TestBackLimited lets --back meet a full disk, and a chat that another process has open or
// writes to: everything is as it was, and no undo record is left. What a transaction of files
// leaves is tested in filetx, this is about a store.
func TestBackLimited(t *testing.T) {
	h := newHomecoming(t, "cursor-chat")
	refused, done := 0, 0
	for limit := 8 << 10; done < 2; limit += limit / 4 {
		h.reset()
		out, err := h.victim(limit).CombinedOutput()
		if err == nil {
			done++
			undoAll(t, h.undo)
		} else {
			refused++
		}
		h.expect(func() {}, h.old, limit, string(out))
		if left, err := UndoRecords(h.undo); err != nil || len(left) > 0 {
			t.Errorf("limit %d: %v, %v left", limit, err, left)
		}
	}
	if refused < 2 {
		t.Errorf("refused %d, done %d", refused, done)
	}
	h = newHomecoming(t, "cursor-chat")
	store := filepath.Join(h.original.Path, "store.db")
	owner := (&busyStore{t: t}).hold(store)
	if out, err := h.victim(0).CombinedOutput(); err == nil || !strings.Contains(string(out), "its client has it open") {
		t.Errorf("open: %v, %s", err, out)
	}
	owner()
	h.expect(func() {}, h.old, 0, "while it is open")
}

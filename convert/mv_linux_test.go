package convert

import (
	"crypto/md5"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"rehome/formats"
	"rehome/formats/all"
	"rehome/golden"
	"rehome/internal/fsx"
	"rehome/testdata/ide"
	"rehome/testdata/kill"
)

// movedHome is the home folder of somebody who moved a project, with sessions of each
// client, and a disk or folder that it is on.
type movedHome struct {
	t                    *testing.T
	bin, dir, undo, work string
}

// oldProject is where the sessions of testdata/claude/config were.
const oldProject = "/home/ann/app"

func newMovedHome(t *testing.T) *movedHome {
	dir, err := filepath.EvalSymlinks(memory(t))
	if err != nil {
		t.Fatal(err)
	}
	h := &movedHome{t: t, bin: program(t), dir: filepath.Join(dir, "home"), undo: filepath.Join(dir, "state", "rehome", "undo"), work: filepath.Join(dir, "work")}
	if err := os.Mkdir(h.work, 0o700); err != nil {
		t.Fatal(err)
	}
	return h
}

// reset makes the home folder as it was before the move.
func (h *movedHome) reset() {
	h.t.Helper()
	hash := func(s string) string {
		sum := md5.Sum([]byte(s))
		return hex.EncodeToString(sum[:])
	}
	slug := func(s string) string {
		return strings.Trim(strings.NewReplacer("/", "-", ".", "-", "_", "-").Replace(s), "-")
	}
	b, err := os.ReadFile(sampleStore)
	store, e := filepath.Glob("../testdata/sdk/e2e-sqlite-hot-wal/projects/*/sdk-agent-store/*")
	err = errors.Join(err, e, os.RemoveAll(h.dir), os.RemoveAll(h.undo), os.MkdirAll(filepath.Join(h.dir, ".claude"), 0o700))
	err = errors.Join(err, os.CopyFS(filepath.Join(h.dir, ".claude"), os.DirFS("../testdata/claude/config")))
	if err != nil || len(store) != 1 {
		h.t.Fatal(err, store)
	}
	write(h.t, filepath.Join(h.dir, ".cursor", "chats", hash(oldProject), "10000000-0000-4000-8000-000000000001", "store.db"), string(b))
	at := filepath.Join(h.dir, ".cursor", "projects", slug(oldProject), "sdk-agent-store", hash(oldProject))
	if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o700), os.CopyFS(at, os.DirFS(store[0]))); err != nil {
		h.t.Fatal(err)
	}
	write(h.t, filepath.Join(h.work, "agents.ndjson"), `{"agentId":"a","cwd":"`+oldProject+`"}`+"\n")
	if err := ide.Build(filepath.Join(h.dir, ".config", "Cursor", "User"), strings.ReplaceAll(movedIDE, "NEW", h.work)); err != nil {
		h.t.Fatal(err)
	}
	// The SDK has made a store at the new place already.
	out, err := h.command("migrate", sampleStore, "--to", "cursor-sdk", "--cwd", h.work, "--quiet").CombinedOutput()
	if err := errors.Join(err, os.RemoveAll(h.undo)); err != nil {
		h.t.Fatalf("%v %s", err, out)
	}
}

// movedIDE is the user dir of an IDE that has opened the new folder once. Its database is
// large enough for a transaction to take several writes.
const movedIDE = `
-- file: workspaceStorage/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/workspace.json
{"folder":"file://` + oldProject + `"}
-- file: workspaceStorage/ffffffffffffffffffffffffffffffff/workspace.json
{"folder":"file://NEW"}
-- file: globalStorage/state.vscdb
PRAGMA journal_mode=wal;
CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
CREATE TABLE composerHeaders (composerId TEXT PRIMARY KEY, workspaceId TEXT, value TEXT);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<9) INSERT INTO composerHeaders
 SELECT 'c'||i, 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', json_object('composerId', 'c'||i, 'name', 'Session '||i, 'workspaceIdentifier', json_object('id', 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa')) FROM n;
INSERT INTO cursorDiskKV SELECT 'composerData:'||composerId, json_set(value, '$.text', hex(zeroblob(5000))) FROM composerHeaders;
`

// inIDE checks that all sessions of the IDE are whole, and in the same one of these folders.
func (h *movedHome) inIDE(what string, at int, cwds ...string) {
	h.t.Helper()
	l, err := formats.Locate(filepath.Join(h.dir, ".config", "Cursor", "User"))
	if err != nil {
		h.t.Fatal(err)
	}
	seen := map[string]int{}
	for s, err := range all.Registry().Lookup("cursor-ide").Sessions.Heads(h.t.Context(), l, formats.FullView(1)) {
		if err != nil {
			h.t.Fatalf("killed at write %d, %s: %v", at, what, err)
		}
		seen[s.Workspace]++
	}
	if !slices.ContainsFunc(cwds, func(cwd string) bool { return seen[cwd] == 9 }) {
		h.t.Errorf("killed at write %d, %s: the IDE's sessions are in %v", at, what, seen)
	}
}

func (h *movedHome) command(args ...string) *exec.Cmd {
	cmd := exec.Command(h.bin, args...)
	cmd.Env = []string{"HOME=" + h.dir, "XDG_STATE_HOME=" + filepath.Join(filepath.Dir(h.dir), "state"), "TMPDIR=" + os.Getenv("TMPDIR")}
	return cmd
}

func (h *movedHome) mv(flags ...string) *exec.Cmd {
	return h.command(append([]string{"mv", oldProject, h.work}, flags...)...)
}

func (h *movedHome) run(cmd *exec.Cmd) {
	h.t.Helper()
	if out, err := cmd.CombinedOutput(); err != nil {
		h.t.Fatalf("%q: %v\n%s", cmd.Args, err, out)
	}
}

// tree returns everything in the home folder but what only a killed run leaves, and the
// databases that change in place, whose bytes are another matter than their rows.
func (h *movedHome) tree() []string {
	return slices.DeleteFunc(tree(h.t, h.dir), func(s string) bool {
		return strings.Contains(s, formats.StagingMark) || strings.Contains(s, filepath.Base(h.work)+"/sdk-agent-store/") || strings.Contains(s, "/globalStorage/")
	})
}

// inProject checks that the store in the project is whole, and names the new path or the old one.
func (h *movedHome) inProject(what string, at int, cwds ...string) {
	h.t.Helper()
	list := tree(h.t, h.work)
	list = slices.DeleteFunc(list, func(s string) bool { return strings.Contains(s, formats.StagingMark) })
	b, err := os.ReadFile(filepath.Join(h.work, "agents.ndjson"))
	if err != nil || len(list) != 2 || !slices.ContainsFunc(cwds, func(cwd string) bool { return string(b) == `{"agentId":"a","cwd":"`+cwd+`"}`+"\n" }) {
		h.t.Errorf("killed at write %d, %s: %s, %v, %q", at, what, b, err, list)
	}
}

// originals returns what is in a tree of the old place.
func originals(tree []string) []string {
	return slices.DeleteFunc(slices.Clone(tree), func(s string) bool {
		return !strings.Contains(s, "-home-ann-app/") && !strings.Contains(s, "/home-ann-app/") && !strings.Contains(s, "chats/")
	})
}

func (h *movedHome) undoAll() {
	h.t.Helper()
	for {
		list, err := UndoRecords(h.undo)
		if err != nil {
			h.t.Fatal(err)
		}
		if len(list) == 0 {
			return
		}
		if done, err := Undo(h.t.Context(), all.Registry(), UndoOptions{Dir: h.undo}); err != nil || len(done.Kept) > 0 {
			h.t.Fatalf("undo: %+v, %v", done, err)
		}
	}
}

func (h *movedHome) is(what string, at int, got, want []string) {
	h.t.Helper()
	if slices.Equal(got, want) {
		return
	}
	for _, s := range got {
		if !slices.Contains(want, s) {
			h.t.Errorf("killed at write %d, %s: more: %s", at, what, s)
		}
	}
	for _, s := range want {
		if !slices.Contains(got, s) {
			h.t.Errorf("killed at write %d, %s: missing: %s", at, what, s)
		}
	}
}

// TestMvKilled kills mv, and mv --remove-old, at many writes: each session is at the old
// place or at both, or at the new one or at both; what was done can be undone, and the next
// run finishes it.
func TestMvKilled(t *testing.T) {
	h := newMovedHome(t)
	h.reset()
	old := h.tree()
	n, err := kill.AtWrite(h.mv(), 0)
	if errors.Is(err, unix.EPERM) {
		t.Log("tracing is not allowed here: TestMvOnFullDisk stands for it")
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	fresh := h.tree()
	states := map[string]int{}
	for at := n; at > 0; at = stepBefore(at, 1+(n-at)/3) {
		h.reset()
		if _, err := kill.AtWrite(h.mv(), at); err != nil {
			t.Fatal(err)
		}
		now := h.tree()
		states[pick(slices.Equal(now, fresh), "new", pick(slices.Equal(now, old), "old", "between"))]++
		for _, s := range old {
			if !slices.Contains(now, s) {
				t.Errorf("killed at write %d: missing or changed: %s", at, s)
			}
		}
		for _, s := range now {
			if !slices.Contains(fresh, s) && !strings.HasSuffix(s, "/") {
				t.Errorf("killed at write %d: half written: %s", at, s)
			}
		}
		h.inProject("killed", at, oldProject, h.work)
		h.inIDE("killed", at, oldProject, h.work)
		h.run(h.mv())
		h.is("run again", at, h.tree(), fresh)
		h.inProject("run again", at, h.work)
		h.inIDE("run again", at, h.work)
		h.undoAll()
		h.is("undone", at, h.tree(), old)
		h.inProject("undone", at, oldProject)
		h.inIDE("undone", at, oldProject)
	}
	t.Logf("%d writes: %v", n, states)
	if states["new"] == 0 || states["old"] == 0 || states["between"] == 0 && !testing.Short() {
		t.Errorf("states seen: %v", states)
	}

	h.reset()
	h.run(h.mv())
	n, err = kill.AtWrite(h.mv("--remove-old"), 0)
	if err != nil {
		t.Fatal(err)
	}
	removed := h.tree()
	if left := originals(removed); len(left) > len(originals(fresh))/2 {
		t.Errorf("not removed: %q", left)
	}
	for at := n; at > 0; at = stepBefore(at, 1+(n-at)/3) {
		h.reset()
		h.run(h.mv())
		if _, err := kill.AtWrite(h.mv("--remove-old"), at); err != nil {
			t.Fatal(err)
		}
		for _, s := range h.tree() {
			if !slices.Contains(fresh, s) {
				t.Errorf("killed at write %d of --remove-old: changed: %s", at, s)
			}
		}
		h.run(h.mv("--remove-old"))
		h.is("run again with --remove-old", at, h.tree(), removed)
		for _, s := range tree(t, h.dir) {
			if strings.Contains(s, formats.StagingMark) {
				t.Errorf("killed at write %d of --remove-old: left behind: %s", at, s)
			}
		}
		h.undoAll()
		h.is("all undone", at, h.tree(), old)
	}
	t.Logf("%d writes of --remove-old", n)
}

// TestMvOnFullDisk: where there is no room, everything is as it was.
func TestMvOnFullDisk(t *testing.T) {
	h := newMovedHome(t)
	disk := filepath.Dir(h.dir)
	moved, refused := 0, 0
	for pages := 64; pages < 2048; pages += golden.Every() * (pages / 4) {
		if err := unix.Mount("tmpfs", disk, "tmpfs", 0, fmt.Sprintf("size=%d", 2048*os.Getpagesize())); err != nil {
			t.Logf("no disk of our own (%v)", err)
			return
		}
		func() {
			defer unix.Unmount(disk, unix.MNT_DETACH)
			if err := os.Mkdir(h.work, 0o700); err != nil {
				t.Fatal(err)
			}
			h.reset()
			old := h.tree()
			var is unix.Statfs_t
			if err := unix.Statfs(disk, &is); err != nil {
				t.Fatal(err)
			}
			used := int(is.Blocks - is.Bfree)
			if err := unix.Mount("tmpfs", disk, "tmpfs", unix.MS_REMOUNT, fmt.Sprintf("size=%d", (used+pages)*os.Getpagesize())); err != nil {
				t.Fatal(err)
			}
			out, err := h.mv().CombinedOutput()
			if err == nil {
				moved++
				return
			}
			refused++
			h.inIDE("on a full disk", pages, oldProject)
			for _, s := range h.tree() {
				if !slices.Contains(old, s) && strings.Contains(string(out), "disk is full") && !strings.Contains(string(out), "Undo:") {
					t.Errorf("%d pages: %s: %s", pages, s, out)
				}
			}
			if !strings.Contains(string(out), "disk is full") {
				t.Errorf("%d pages: %v: %s", pages, err, out)
			}
			if err := unix.Mount("tmpfs", disk, "tmpfs", unix.MS_REMOUNT, fmt.Sprintf("size=%d", 2048*os.Getpagesize())); err != nil {
				t.Fatal(err)
			}
			h.undoAll()
			h.is("undone on a full disk", pages, h.tree(), old)
		}()
	}
	if moved == 0 || refused == 0 {
		t.Errorf("moved %d, refused %d: the sizes do not straddle the need", moved, refused)
	}
}

// TestMvInUse: nothing is written while a client has one of the stores open.
func TestMvInUse(t *testing.T) {
	h := newMovedHome(t)
	h.reset()
	one := func(pattern string) string {
		found, err := filepath.Glob(filepath.Join(h.dir, filepath.FromSlash(pattern)))
		if err != nil || len(found) == 0 {
			t.Fatal(found, err)
		}
		return found[0]
	}
	agent, chat := one(".cursor/projects/home-ann-app/sdk-agent-store/*/agents/*/store.db"), one(".cursor/chats/*/*/store.db")
	if err := os.Remove(chat); err != nil { // it is of a mode in which nobody can tell who has it open
		t.Fatal(err)
	}
	for _, side := range []string{"", "-wal"} {
		if err := fsx.Copy(agent+side, chat+side, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, open := range []string{agent, chat, one(".cursor/projects/home-ann-app/sdk-agent-store/*/index.db")} {
		owner := (&busyStore{t: t}).hold(open)
		old := h.tree()
		for _, flags := range [][]string{nil, {"--dry-run"}} {
			cmd := h.mv(flags...)
			out, err := cmd.CombinedOutput()
			if err == nil || cmd.ProcessState.ExitCode() != 5 || !strings.Contains(string(out), "in use") {
				t.Errorf("%v: %s", err, out)
			}
		}
		h.is("in use", 0, h.tree(), old)
		owner()
	}
	// The IDE keeps its own sessions to itself, and nobody else's.
	ide := one(".config/Cursor/User/globalStorage/state.vscdb")
	elsewhere := filepath.Join(h.dir, "elsewhere.vscdb")
	for _, prepare := range []func() error{
		func() error { return nil },
		func() error { return errors.Join(os.Rename(ide, elsewhere), os.Symlink(elsewhere, ide)) },
	} {
		if err := prepare(); err != nil {
			t.Fatal(err)
		}
		release := (&busyStore{t: t}).hold(ide)
		cmd := h.mv()
		if out, err := cmd.CombinedOutput(); err == nil || cmd.ProcessState.ExitCode() != 5 || !strings.Contains(string(out), "in use") {
			t.Errorf("%v: %s", err, out)
		}
		release()
		h.inIDE("in use", 0, oldProject)
	}
	h.run(h.mv())
	h.inIDE("no longer in use", 0, h.work)
	owner := (&busyStore{t: t}).hold(agent)
	if out, err := h.mv("--remove-old").CombinedOutput(); err == nil || !strings.Contains(string(out), "in use") {
		t.Errorf("--remove-old: %v: %s", err, out)
	}
	owner()
	if _, err := os.Stat(agent); err != nil {
		t.Error(err)
	}
	h.run(h.mv("--remove-old"))
	if _, err := os.Stat(agent); err == nil {
		t.Error("not removed")
	}
}

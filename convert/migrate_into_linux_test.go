package convert

import (
	"bufio"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"rehome/convert/internal/undo"
	"rehome/convert/sessions"
	"rehome/formats/all"
	"rehome/testdata/kill"
)

// busyStore is a state root of the SDK with agents of its own, to which a session is
// migrated.
type busyStore struct {
	t                         *testing.T
	home, cwd, undo, src, own string
	old, fresh                []string // the store as text
}

const intoSession = "20000000-0000-4000-8000-000000000001"

func newBusyStore(t *testing.T) *busyStore {
	t.Helper()
	dir, err := filepath.EvalSymlinks(memory(t))
	if err != nil {
		t.Fatal(err)
	}
	b := &busyStore{t: t, home: filepath.Join(dir, "home"), cwd: filepath.Join(dir, "work"), undo: filepath.Join(dir, "undo"), src: filepath.Join(dir, intoSession+".jsonl")}
	b.own = all.Registry().Lookup("cursor-sdk").Home.Store(b.home, b.cwd)
	if err := os.Mkdir(b.cwd, 0o700); err != nil {
		t.Fatal(err)
	}
	return b
}

// content is the session that is migrated.
func (b *busyStore) content() string {
	b.t.Helper()
	content, err := os.ReadFile("../testdata/claude/config/projects/-home-ann-app/" + intoSession + ".jsonl")
	if err != nil {
		b.t.Fatal(err)
	}
	return string(content)
}

// earlier returns, by name, what of the session was migrated before.
func (b *busyStore) earlier() map[string]string {
	lines := strings.SplitAfter(b.content(), "\n")
	return map[string]string{"new": "", "update": strings.Join(lines[:len(lines)/2], "")}
}

// reset makes the store as it was before the migration; earlier is a session that was
// migrated to it before, "" if there is none.
func (b *busyStore) reset(earlier string) {
	b.t.Helper()
	if err := errors.Join(os.RemoveAll(b.home), os.RemoveAll(b.undo)); err != nil {
		b.t.Fatal(err)
	}
	if err := os.CopyFS(b.own, os.DirFS("../testdata/sdk/gen/sqlite")); err != nil {
		b.t.Fatal(err)
	}
	if earlier != "" {
		write(b.t, b.src, earlier)
		b.run()
		if err := os.RemoveAll(b.undo); err != nil {
			b.t.Fatal(err)
		}
	}
	write(b.t, b.src, b.content())
}

// victim migrates the session; no file gets larger than limit, unless that is 0.
func (b *busyStore) victim(limit int) *exec.Cmd {
	return exec.Command(os.Args[0], "victim", b.src, b.home, "into", strconv.Itoa(limit), b.cwd, b.undo, "cursor-sdk")
}

func (b *busyStore) run() {
	b.t.Helper()
	if out, err := b.victim(0).CombinedOutput(); err != nil {
		b.t.Fatalf("%v\n%s", err, out)
	}
}

// text returns the store as text: every row, and the transcripts.
func (b *busyStore) text() []string {
	b.t.Helper()
	to := filepath.Join(b.t.TempDir(), "text")
	must(b.t, all.Registry(), filepath.Dir(filepath.Dir(b.own)), to, Options{To: "archive", Sidecar: "none", WithSecrets: true})
	return tree(b.t, to)
}

// undoAll undoes all migrations of a folder of records.
func undoAll(t *testing.T, dir string) {
	t.Helper()
	records, err := UndoRecords(dir)
	if err != nil {
		t.Fatal(err)
	}
	for range records {
		if done, err := Undo(t.Context(), all.Registry(), UndoOptions{Dir: dir}); err != nil || len(done.Kept) > 0 {
			t.Fatalf("undo: %+v, %v", done, err)
		}
	}
}

// TestIntoKilled kills a migration into a store in use at many of its writes: the
// session is there or not, no other row changes, undo restores the store, and the next
// run migrates it.
func TestIntoKilled(t *testing.T) {
	b := newBusyStore(t)
	for name, earlier := range b.earlier() {
		t.Run(name, func(t *testing.T) {
			b.t = t
			b.reset(earlier)
			b.old = b.text()
			n, err := kill.AtWrite(b.victim(0), 0)
			if errors.Is(err, unix.EPERM) {
				t.Log("tracing is not allowed here: TestIntoLimited stands for it")
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			b.fresh = b.text()
			if slices.Equal(b.old, b.fresh) {
				t.Fatal("nothing was migrated")
			}
			states := map[string]int{}
			for at := n; at > 0; at = stepBefore(at, 1+(n-at)/5) {
				states[b.killed(earlier, at)]++
			}
			t.Logf("%d writes: %v", n, states)
			if states["new"] == 0 || states["old"] == 0 {
				t.Errorf("states seen: %v", states)
			}
		})
	}
}

// killed kills one run and returns which state it left.
func (b *busyStore) killed(earlier string, at int) (state string) {
	b.t.Helper()
	b.reset(earlier)
	if _, err := kill.AtWrite(b.victim(0), at); err != nil {
		b.t.Fatal(err)
	}
	now := b.text()
	switch {
	case slices.Equal(now, b.old):
		state = "old"
	case slices.Equal(now, b.fresh):
		state = "new"
	default:
		state = "old, with files to which nothing refers"
	}
	if at%2 == 0 {
		undoAll(b.t, b.undo)
		if now := b.text(); !slices.Equal(now, b.old) {
			b.t.Errorf("killed at write %d (%s), undone: %s", at, state, firstDifference(now, b.old))
		}
	}
	b.run()
	if now := b.text(); !slices.Equal(now, b.fresh) {
		b.t.Errorf("killed at write %d (%s), run again: %s", at, state, firstDifference(now, b.fresh))
	}
	undoAll(b.t, b.undo)
	if now := b.text(); !slices.Equal(now, b.old) {
		b.t.Errorf("killed at write %d (%s), run again and undone: %s", at, state, firstDifference(now, b.old))
	}
	return state
}

func firstDifference(got, want []string) string {
	for i := range got {
		if i >= len(want) || got[i] != want[i] {
			return got[i]
		}
	}
	return "less than before"
}

// TestIntoLimited lets a migration meet a full disk: the store is as it was, and no undo
// record is left.
func TestIntoLimited(t *testing.T) {
	b := newBusyStore(t)
	for name, earlier := range b.earlier() {
		t.Run(name, func(t *testing.T) {
			b.t = t
			refused, migrated := 0, 0
			for limit := 20 << 10; migrated < 2; limit += limit / 4 {
				b.reset(earlier)
				b.old = b.text()
				out, err := b.victim(limit).CombinedOutput()
				if err == nil {
					migrated++
					undoAll(t, b.undo)
				} else {
					refused++
				}
				if now := b.text(); !slices.Equal(now, b.old) {
					t.Errorf("limit %d: %s\n%s", limit, firstDifference(now, b.old), out)
				}
				if left, err := UndoRecords(b.undo); err != nil || len(left) > 0 {
					t.Errorf("limit %d: %v, %v left", limit, err, left)
				}
			}
			if refused < 3 {
				t.Errorf("refused %d, migrated %d", refused, migrated)
			}
		})
	}
}

// TestIntoBusy: a store that its client is writing to is refused, and the error says by
// which sign; a run that ended with its process is none.
func TestIntoBusy(t *testing.T) {
	b := newBusyStore(t)
	b.reset("")
	index := filepath.Join(b.own, "index.db")
	db, err := sql.Open("sqlite", index)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	exec := func(statement string) {
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	refused := func(want string) {
		t.Helper()
		out, err := b.victim(0).CombinedOutput()
		if err == nil || !strings.Contains(string(out), want) {
			t.Errorf("%v: %s, want %s", err, out, want)
		}
	}
	db.SetMaxOpenConns(1)
	exec("BEGIN IMMEDIATE")
	refused("index.db: in use")
	exec("ROLLBACK")

	log, err := undo.Folder{Dir: b.undo}.Begin(undo.Record{})
	if err != nil {
		t.Fatal(err)
	}
	refused("undo: in use")
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}

	exec("UPDATE agents SET status='IDLE', active_run_id=NULL")
	exec("UPDATE agents SET status='RUNNING', active_run_id='run-1' WHERE rowid=1")
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	owner := b.hold(index)
	refused("is running (run run-1)")
	owner()
	b.run()
}

// hold lets another process have a database open until the result is called.
func (b *busyStore) hold(path string) func() {
	b.t.Helper()
	cmd := exec.Command(os.Args[0], "victim", "", path, "hold", "0")
	in, err := cmd.StdinPipe()
	if err != nil {
		b.t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		b.t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "<nil>\n" {
		b.t.Fatalf("%q, %v", line, err)
	}
	return func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			b.t.Error(err)
		}
	}
}

// TestIntoTwo runs several migrations to one store at once: each adds its session or says
// that the store is in use.
func TestIntoTwo(t *testing.T) {
	b := newBusyStore(t)
	b.reset("")
	const n = 4
	var wait sync.WaitGroup
	done := make([]bool, n)
	for i := range n {
		id := fmt.Sprintf("20000000-0000-4000-8000-00000000010%d", i)
		src := filepath.Join(filepath.Dir(b.src), id+".jsonl")
		write(t, src, strings.ReplaceAll(b.content(), intoSession, id))
		wait.Go(func() {
			out, err := exec.Command(os.Args[0], "victim", src, b.home, "into", "0", b.cwd, b.undo, "cursor-sdk").CombinedOutput()
			if done[i] = err == nil; err != nil && !strings.Contains(string(out), "in use") {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	wait.Wait()
	list, err := sessions.List(t.Context(), all.Registry(), sessions.Options{Paths: []string{b.own}})
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		id := fmt.Sprintf("agent-20000000-0000-4000-8000-00000000010%d", i)
		if listed := slices.ContainsFunc(list.All(), func(s *sessions.Listed) bool { return s.ID == id }); listed != done[i] {
			t.Errorf("%s: migrated %t, listed %t", id, done[i], listed)
		}
	}
	if !slices.Contains(done, true) {
		t.Error("none was migrated")
	}
}

// TestIntoUndoneInUse: an empty store stays where a client has it open.
func TestIntoUndoneInUse(t *testing.T) {
	b := newBusyStore(t)
	write(t, b.src, b.content())
	b.run()
	index := filepath.Join(b.own, "index.db")
	owner := b.hold(index)
	undoAll(t, b.undo)
	if _, err := os.Stat(index); err != nil {
		t.Error(err)
	}
	owner()
}

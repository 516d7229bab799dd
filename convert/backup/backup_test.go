package backup

import (
	"cmp"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"rehome/convert/sessions"
	"rehome/formats"
	"rehome/formats/all"
	"rehome/testdata/homes"
	"rehome/testdata/ide"
)

// start is when the first backup of a test runs.
func start() time.Time { return time.Date(2026, 11, 22, 17, 28, 3, 0, time.UTC) }

// world is a home folder with sessions of every client, and a folder for backups.
type world struct {
	t         *testing.T
	home, dir string
	now       time.Time
	o         Options
	notices   []string
	reg       *formats.Registry // nil: all formats
}

// formats returns the formats of a world.
func (w *world) formats() *formats.Registry { return cmp.Or(w.reg, all.Registry()) }

func newWorld(t *testing.T) *world {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, home: filepath.Join(top, "home"), dir: filepath.Join(top, "backup"), now: start()}
	if err := os.Mkdir(w.home, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := homes.Make(w.home, homes.Count{Chats: 2, Old: 1, Agents: 2, Moved: 1}); err != nil {
		t.Fatal(err)
	}
	for from, to := range map[string]string{"claude/config": ".claude", "codex/home": ".codex", "transcript/projects": ".cursor/projects"} {
		from = filepath.Join("../../testdata", filepath.FromSlash(from))
		err := filepath.WalkDir(from, func(p string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			b, err := os.ReadFile(p)
			rel, _ := filepath.Rel(from, p)
			w.write(filepath.Join(to, rel), string(b))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	w.write(".claude/settings.json", `{"env":{"KEY":"own"}}`)
	w.write(".codex/auth.json", `{"token":"own"}`)
	script, err := ide.Cases.ReadFile("cases/table.sql")
	if err != nil {
		t.Fatal(err)
	}
	user := formats.Machine{OS: runtime.GOOS, Home: w.home}
	for _, root := range all.Registry().Lookup("cursor-ide").Home.Roots(user) {
		if err := ide.Build(root, string(script)); err != nil {
			t.Fatal(err)
		}
	}
	w.o.Machine = user
	w.place("goose", keptStores()["goose"])
	w.o = Options{Machine: user, Program: "test", Now: func() time.Time { return w.now }, OnNotice: func(s string) { w.notices = append(w.notices, s) }}
	return w
}

func (w *world) write(rel, text string) {
	w.t.Helper()
	at := filepath.Join(w.home, filepath.FromSlash(rel))
	if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, []byte(text), 0o600)); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) remove(rel string) {
	w.t.Helper()
	if err := os.RemoveAll(filepath.Join(w.home, filepath.FromSlash(rel))); err != nil {
		w.t.Fatal(err)
	}
}

// age gives every file in the home folder a time that settles its mark.
func (w *world) age(by time.Duration) {
	w.t.Helper()
	then := time.Now().Add(-by)
	for _, p := range files(w.t, w.home) {
		if err := os.Chtimes(filepath.Join(w.home, p), then, then); err != nil {
			w.t.Fatal(err)
		}
	}
}

// run backs up, an hour after the last time.
func (w *world) run() *Report {
	w.t.Helper()
	w.now = w.now.Add(time.Hour)
	rep, err := Run(w.t.Context(), w.formats(), w.dir, w.o)
	if err != nil {
		w.t.Fatal(err)
	}
	return rep
}

func (w *world) restore(o RestoreOptions) *Restored {
	w.t.Helper()
	s, err := Open(w.formats(), w.dir)
	if err != nil {
		w.t.Fatal(err)
	}
	o.Machine = w.o.Machine
	got, err := Restore(w.t.Context(), s, o)
	if err != nil {
		w.t.Fatal(err)
	}
	return got
}

// wipe removes what the clients have.
func (w *world) wipe() {
	for _, rel := range []string{".claude", ".codex", ".cursor", ".config", ".local", "Library", "AppData"} {
		w.remove(rel)
	}
}

// files lists the files below a folder.
func files(t *testing.T, dir string) (out []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, p)
		out = append(out, rel)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func read(t *testing.T, parts ...string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(parts...))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// titles lists the sessions of the machine.
func (w *world) titles() (out []string) {
	w.t.Helper()
	list, err := sessions.List(w.t.Context(), all.Registry(), sessions.Options{Machine: formats.Machine{OS: w.o.Machine.OS, Home: w.home, Getenv: func(string) string { return "" }}})
	if err != nil {
		w.t.Fatal(err)
	}
	for _, u := range list.Unread {
		w.t.Errorf("%s: %v", u.Path, u.Err)
	}
	for _, s := range list.All() {
		out = append(out, s.Agent+" "+s.ID+" "+s.Title+" "+s.Workspace)
	}
	slices.Sort(out)
	return out
}

// TestRoundTrip: what the clients lose comes back as it was: files byte for byte, with
// their modes and times, stores record by record. Settings and keys are not part of it.
func TestRoundTrip(t *testing.T) {
	w := newWorld(t)
	before, was := w.titles(), map[string]string{}
	for _, rel := range files(t, w.home) {
		was[rel] = read(t, w.home, rel)
	}
	rep := w.run()
	if n := rep.Count(Added); n != len(rep.Stores) || n < 10 || rep.Snapshot == "" {
		t.Fatalf("%+v", rep)
	}
	clients := map[string]bool{}
	for _, s := range rep.Stores {
		clients[s.Client] = true
	}
	for _, c := range []string{"claude-code", "codex", "cursor-cli", "cursor-ide", "cursor-sdk", "cursor-transcript"} {
		if !clients[c] {
			t.Errorf("no store of %s", c)
		}
	}
	dry := w.restore(RestoreOptions{DryRun: true})
	if n := dry.Count(Unchanged); n != len(rep.Stores) {
		t.Errorf("%d of %d are equal before anything is lost: %+v", n, len(rep.Stores), dry.Stores)
	}
	w.wipe()
	dry = w.restore(RestoreOptions{DryRun: true})
	if n := dry.Count(Recovered); n != len(rep.Stores) || len(files(t, w.home)) > 0 {
		t.Errorf("a dry run restored something: %+v", dry.Stores)
	}
	got := w.restore(RestoreOptions{WithSettings: true})
	if n := got.Count(Recovered); n != len(rep.Stores) {
		t.Fatalf("%+v", got.Stores)
	}
	if now := w.titles(); !slices.Equal(now, before) {
		t.Errorf("sessions\n%s\nwant\n%s", strings.Join(now, "\n"), strings.Join(before, "\n"))
	}
	plain := 0
	for rel, text := range was {
		switch base := filepath.Base(rel); {
		case base == "settings.json" || base == "auth.json":
			if exists(filepath.Join(w.home, rel)) {
				t.Errorf("%s is part of the backup", rel)
			}
		case strings.HasSuffix(base, ".jsonl"):
			if plain++; read(t, w.home, rel) != text {
				t.Errorf("%s differs", rel)
			}
			if info, err := os.Stat(filepath.Join(w.home, rel)); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 && strings.HasPrefix(rel, ".claude") {
				t.Errorf("%s: %v %v", rel, info.Mode(), err)
			}
		}
	}
	if plain < 10 {
		t.Errorf("only %d plain files", plain)
	}
	got = w.restore(RestoreOptions{})
	if n := got.Count(Unchanged); n != len(rep.Stores) {
		t.Errorf("the second time: %+v", got.Stores)
	}
	if rep := w.run(); rep.Snapshot != "" || rep.Count(Unchanged) != len(rep.Stores) {
		t.Errorf("a backup of what was restored differs: %+v", rep.Stores)
	}
}

// TestNothingNew: a run in which nothing changed makes no snapshot, and reads no store
// again whose files are as they were.
func TestNothingNew(t *testing.T) {
	w := newWorld(t)
	w.age(time.Hour)
	if rep := w.run(); rep.Snapshot != "2026-11-22T182803Z" {
		t.Fatal(rep.Snapshot)
	}
	rep := w.run()
	if names, _ := Snapshots(w.dir); rep.Snapshot != "" || rep.Previous != "2026-11-22T182803Z" || len(names) != 1 {
		t.Errorf("%+v, %q", rep, names)
	}
	// A change that its mark covers is one that only reading would find.
	at := filepath.Join(w.home, ".codex", "sessions")
	name := filepath.Join(at, files(t, at)[0])
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	text := read(t, name)
	if err := errors.Join(os.WriteFile(name, []byte(strings.Repeat("x", len(text))), 0o600), os.Chtimes(name, info.ModTime(), info.ModTime())); err != nil {
		t.Fatal(err)
	}
	snapshot := filepath.Join(w.dir, rep.Previous)
	marks := readMarks(w.dir, snapshot)
	if info, err = os.Stat(name); err != nil || marks[name] == "" {
		t.Fatal(err, marks[name])
	}
	marks[name] = markOf(info, time.Now())
	if err := writeMarks(w.dir, snapshot, marks); err != nil {
		t.Fatal(err)
	}
	if rep := w.run(); rep.Snapshot != "" {
		t.Error("a file with an equal mark was read")
	}
	if err := os.Remove(filepath.Join(w.dir, marksName)); err != nil {
		t.Fatal(err)
	}
	if rep := w.run(); rep.Snapshot == "" {
		t.Error("without marks, not everything was read")
	}
}

// TestSharedFiles: a snapshot is complete, and what is equal is stored once.
func TestSharedFiles(t *testing.T) {
	w := newWorld(t)
	first := w.run().Snapshot
	name := filepath.Join(".claude", "projects", "-home-ann-app", "20000000-0000-4000-8000-000000000001.jsonl")
	w.write(name, read(t, w.home, name)+`{"type":"summary","summary":"more"}`+"\n")
	rep := w.run()
	if rep.Count(Updated) != 1 || rep.Snapshot == "" {
		t.Fatalf("%+v", rep)
	}
	a, b := filepath.Join(w.dir, first), filepath.Join(w.dir, rep.Snapshot)
	if !slices.Equal(files(t, a), files(t, b)) {
		t.Errorf("%q, %q", files(t, a), files(t, b))
	}
	for _, rel := range files(t, a) {
		x, _ := os.Stat(filepath.Join(a, rel))
		y, _ := os.Stat(filepath.Join(b, rel))
		if changed := rel == IndexName || strings.HasSuffix(rel, name); os.SameFile(x, y) == changed {
			t.Errorf("%s: changed %v, but the same file %v", rel, changed, !changed)
		}
	}
	if read(t, a, "claude-code", name) == read(t, b, "claude-code", name) {
		t.Error("the old snapshot changed")
	}
}

// TestInPlace: an edit that leaves size, time and inode of a file as they were is saved,
// and a file of which only the time changed makes no snapshot.
func TestInPlace(t *testing.T) {
	w := newWorld(t)
	w.age(time.Hour)
	w.run()
	name := filepath.Join(w.home, aSession)
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(name, info.ModTime().Add(-time.Hour), info.ModTime().Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	if rep := w.run(); rep.Snapshot != "" {
		t.Errorf("a new time is a change: %+v", rep.Stores)
	}
	text := read(t, name)
	w.write(aSession, strings.ToUpper(text[:1])+"x"+text[2:])
	if err := os.Chtimes(name, info.ModTime().Add(-time.Hour), info.ModTime().Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	if rep := w.run(); runtime.GOOS != "windows" && (rep.Snapshot == "" || read(t, w.dir, rep.Snapshot, "claude-code", aSession) != read(t, name)) {
		t.Errorf("an edit in place is not saved: %+v", rep.Stores)
	}
}

// TestKeep: of more snapshots than wanted, the oldest go.
func TestKeep(t *testing.T) {
	w := newWorld(t)
	w.o.Keep = 2
	var made []string
	for i := range 4 {
		w.write(".codex/history.jsonl", strings.Repeat("{}\n", i+1))
		made = append(made, w.run().Snapshot)
	}
	if names, _ := Snapshots(w.dir); !slices.Equal(names, made[2:]) {
		t.Errorf("%q, want %q", names, made[2:])
	}
	for _, name := range made[2:] {
		s, err := Open(all.Registry(), filepath.Join(w.dir, name))
		if err != nil {
			t.Fatal(err)
		}
		got, err := Restore(t.Context(), s, RestoreOptions{Machine: w.o.Machine, To: t.TempDir()})
		if err != nil || got.Count(Recovered) != len(got.Stores) {
			t.Errorf("%s: %v %+v", name, err, got)
		}
	}
}

// TestClockSetBack: names of snapshots follow each other whatever the clock says.
func TestClockSetBack(t *testing.T) {
	w := newWorld(t)
	w.run()
	w.now = w.now.Add(-48 * time.Hour)
	w.write(".codex/history.jsonl", "{}\n")
	if rep := w.run(); rep.Snapshot != "2026-11-22T182804Z" {
		t.Error(rep.Snapshot)
	}
}

// TestVanished: what a client deletes stays in the backup, until it is dropped.
func TestVanished(t *testing.T) {
	w := newWorld(t)
	w.run()
	all := len(w.restore(RestoreOptions{DryRun: true}).Stores)
	w.remove(".cursor/chats")
	w.remove(".claude/projects/-home-ann-app/20000000-0000-4000-8000-000000000001.jsonl")
	rep := w.run()
	if rep.Count(Kept) != 3 || rep.Count(Updated) != 1 {
		t.Errorf("%+v", rep.Stores)
	}
	if rep := w.run(); rep.Snapshot != "" {
		t.Errorf("nothing changed: %+v", rep.Stores)
	}
	got := w.restore(RestoreOptions{})
	if got.Count(Recovered) != 4 || len(got.Stores) != all {
		t.Errorf("%+v", got.Stores)
	}
	if rep = w.run(); rep.Count(Kept) != 0 || rep.Snapshot == "" {
		t.Errorf("it is back: %+v", rep.Stores)
	}
	w.remove(".cursor/chats")
	w.o.Delete = true
	if rep = w.run(); rep.Count(Kept) != 0 || len(rep.Stores) != all-3 || rep.Snapshot == "" {
		t.Errorf("%+v", rep.Stores)
	}
}

// TestUnreadable: a store that cannot be read stops no other, and its last good copy
// stays.
func TestUnreadable(t *testing.T) {
	w := newWorld(t)
	w.run()
	chats := filepath.Join(w.home, ".cursor", "chats")
	var db string
	for _, rel := range files(t, chats) {
		if filepath.Base(rel) == "store.db" {
			db = filepath.Join(chats, rel)
		}
	}
	good := read(t, db)
	for name, bad := range map[string]string{"torn": good[:len(good)/2], "no database": "nothing"} {
		if err := os.WriteFile(db, []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		w.write(".codex/history.jsonl", name)
		rep := w.run()
		if rep.Count(Failed) != 1 || rep.Snapshot == "" {
			t.Fatalf("%s: %+v", name, rep.Stores)
		}
		for _, s := range rep.Stores {
			if s.Status == Failed && (s.AsOf != "2026-11-22T182803Z" || s.Error == nil || s.Files == 0) {
				t.Errorf("%s: %+v", name, s)
			}
		}
		if err := os.Remove(db); err != nil {
			t.Fatal(err)
		}
		w.remove(strings.TrimPrefix(filepath.Dir(db), w.home))
		if got := w.restore(RestoreOptions{}); got.Count(Recovered) != 1 || got.Count(Failed) > 0 {
			t.Errorf("%s: %+v", name, got.Stores)
		}
	}
	if rep := w.run(); rep.Count(Failed) != 0 || rep.Snapshot == "" {
		t.Errorf("%+v", rep.Stores)
	}
}

// TestNothingFound: a machine without sessions is no error, and leaves nothing behind.
func TestNothingFound(t *testing.T) {
	w := newWorld(t)
	w.wipe()
	rep := w.run()
	if len(rep.Stores) > 0 || rep.Snapshot != "" || len(rep.Searched) < 5 || exists(w.dir) {
		t.Errorf("%+v", rep)
	}
}

// TestRefused: folders that must not hold a backup.
func TestRefused(t *testing.T) {
	w := newWorld(t)
	other := filepath.Join(t.TempDir(), "other")
	os.MkdirAll(filepath.Join(other, "something"), 0o755)
	repo := t.TempDir()
	os.MkdirAll(filepath.Join(repo, ".git"), 0o755)
	for dir, want := range map[string]string{
		other:                              "neither empty nor a folder of backups",
		filepath.Join(repo, "a", "b"):      "inside the git work tree",
		filepath.Join(w.home, ".claude/b"): "inside the folder of a client",
	} {
		_, err := Run(t.Context(), all.Registry(), dir, w.o)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", dir, err, want)
		}
		if exists(filepath.Join(dir, marksName)) || exists(filepath.Join(repo, "a")) {
			t.Errorf("%s: something was written", dir)
		}
	}
}

// TestInGit: in a work tree there is one copy without secrets, the same for the same
// content.
func TestInGit(t *testing.T) {
	w := newWorld(t)
	os.MkdirAll(filepath.Join(w.dir, ".git"), 0o755)
	w.dir, w.o.WithoutSecrets = filepath.Join(w.dir, "sessions"), true
	first := w.run()
	if !first.Git || first.Snapshot != "" || first.Count(Added) != len(first.Stores) {
		t.Fatalf("%+v", first)
	}
	was := map[string]string{}
	for _, rel := range files(t, w.dir) {
		was[rel] = read(t, w.dir, rel)
	}
	if rep := w.run(); rep.Count(Unchanged) != len(rep.Stores) {
		t.Errorf("%+v", rep.Stores)
	}
	name := ".claude/projects/-home-ann-app/20000000-0000-4000-8000-000000000001.jsonl"
	w.write(name, read(t, w.home, name)+`{"type":"summary","summary":"more"}`+"\n")
	w.run()
	var changed []string
	for _, rel := range files(t, w.dir) {
		if was[rel] != read(t, w.dir, rel) {
			changed = append(changed, filepath.ToSlash(rel))
		}
	}
	if want := []string{IndexName, "claude-code/" + name}; !slices.Equal(changed, want) {
		t.Errorf("%q changed, want %q", changed, want)
	}
	var ix Index
	if err := json.Unmarshal([]byte(read(t, w.dir, IndexName)), &ix); err != nil || ix.Secrets || ix.Time != "" {
		t.Errorf("%v %+v", err, ix)
	}
	w.wipe()
	if got := w.restore(RestoreOptions{}); got.Count(Recovered) != len(first.Stores) {
		t.Errorf("%+v", got.Stores)
	}
	w.remove(".codex")
	w.o.Delete = true
	if w.run(); exists(filepath.Join(w.dir, "codex", ".codex")) {
		t.Error("what was dropped is still there")
	}
}

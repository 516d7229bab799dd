package backup

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"rehome/formats"
	"rehome/formats/all"
	"rehome/internal/scratch"
)

const aSession = ".claude/projects/-home-ann-app/20000000-0000-4000-8000-000000000001.jsonl"

// only returns the result for a client's one store that has a status.
func only(t *testing.T, got *Restored, status string) RestoredStore {
	t.Helper()
	for _, s := range got.Stores {
		if s.Status == status {
			return s
		}
	}
	t.Fatalf("no store is %s: %+v", status, got.Stores)
	return RestoredStore{}
}

// TestNeverOverNewer: files and stores that differ from the backup stay, unless they
// are older and --replace is given; then the old ones are kept.
func TestNeverOverNewer(t *testing.T) {
	w := newWorld(t)
	w.age(time.Hour)
	w.run()
	name, good := filepath.Join(w.home, aSession), read(t, w.home, aSession)
	for _, c := range []struct {
		age       time.Duration
		replace   bool
		want      string
		overwrite bool
	}{
		{0, false, Newer, false}, {0, true, Newer, false}, {2 * time.Hour, false, Older, false}, {2 * time.Hour, true, Recovered, true},
	} {
		then := time.Now().Add(-c.age)
		if err := errors.Join(os.WriteFile(name, []byte("mine"), 0o600), os.Chtimes(name, then, then)); err != nil {
			t.Fatal(err)
		}
		s := only(t, w.restore(RestoreOptions{Replace: c.replace}), c.want)
		if s.Client != "claude-code" || s.Files[c.want] != 1 || !c.overwrite && !slices.Contains(s.Changed, strings.TrimPrefix(aSession, ".claude/")) {
			t.Errorf("%+v: %+v", c, s)
		}
		if now := read(t, name); (now == good) != c.overwrite || now != good && now != "mine" {
			t.Errorf("%+v: %.80q", c, now)
		}
	}
	if read(t, name+".bak-1") != "mine" {
		t.Error("the old file is not kept")
	}

	w = newWorld(t)
	w.age(time.Hour)
	w.run()
	root := all.Registry().Lookup("cursor-ide").Home.Roots(w.o.Machine)[0]
	db := filepath.Join(root, "globalStorage", "state.vscdb")
	other := newWorld(t)
	for _, p := range files(t, root) { // an IDE that has lost its sessions
		if filepath.Base(p) == "state.vscdb" {
			os.WriteFile(filepath.Join(root, p), []byte(read(t, other.home, ".cursor", "chats", firstChat(t, other), "store.db")), 0o600)
		}
	}
	_ = db
	s := only(t, w.restore(RestoreOptions{}), Newer)
	if len(s.Missing) == 0 || s.Client != "cursor-ide" {
		t.Errorf("the lost sessions are not listed: %+v", s)
	}
	w.age(3 * time.Hour)
	only(t, w.restore(RestoreOptions{}), Older)
	s = only(t, w.restore(RestoreOptions{Replace: true}), Recovered)
	if s.Backup == "" || !exists(s.Backup) {
		t.Errorf("%+v", s)
	}
	if got := w.restore(RestoreOptions{}); got.Count(Unchanged) != len(got.Stores) {
		t.Errorf("%+v", got.Stores)
	}
}

func firstChat(t *testing.T, w *world) string {
	t.Helper()
	for _, rel := range files(t, filepath.Join(w.home, ".cursor", "chats")) {
		if filepath.Base(rel) == "store.db" {
			return filepath.Dir(rel)
		}
	}
	t.Fatal("no chat")
	return ""
}

// TestIntoOtherThings: the folder of a store may hold other things of its client. They
// stay, and the store is restored next to them.
func TestIntoOtherThings(t *testing.T) {
	w := newWorld(t)
	w.run()
	root := all.Registry().Lookup("cursor-ide").Home.Roots(w.o.Machine)[0]
	rel, _ := filepath.Rel(w.home, root)
	w.remove(rel)
	w.write(filepath.Join(rel, "settings.json"), "{}")
	if got := w.restore(RestoreOptions{Client: "cursor-ide", DryRun: true}); got.Count(Recovered) != 1 || len(files(t, root)) != 1 {
		t.Errorf("%+v", got.Stores)
	}
	if got := w.restore(RestoreOptions{Client: "cursor-ide"}); got.Count(Recovered) != 1 {
		t.Errorf("%+v", got.Stores)
	}
	if read(t, root, "settings.json") != "{}" {
		t.Error("the settings changed")
	}
	if got := w.restore(RestoreOptions{}); got.Count(Unchanged) != len(got.Stores) {
		t.Errorf("%+v", got.Stores)
	}
	w.remove(rel)
	for _, p := range []string{"workspaceStorage/ws/state.vscdb", "globalStorage/other"} {
		w.write(filepath.Join(rel, p), "mine")
	}
	if got := w.restore(RestoreOptions{Client: "cursor-ide"}); got.Count(Failed) == 1 && exists(filepath.Join(root, "globalStorage", "state.vscdb")) {
		t.Errorf("half of a store: %+v", got.Stores)
	}
	if read(t, root, "globalStorage", "other") != "mine" {
		t.Error("a file was overwritten")
	}
}

// TestSelection: by client, project and session.
func TestSelection(t *testing.T) {
	w := newWorld(t)
	w.run()
	w.wipe()
	to := func(o RestoreOptions) []string {
		t.Helper()
		o.To = t.TempDir()
		if got := w.restore(o); got.Count(Recovered) != len(got.Stores) {
			t.Errorf("%+v: %+v", o, got.Stores)
		}
		return files(t, o.To)
	}
	for _, f := range to(RestoreOptions{Client: "codex"}) {
		if !strings.HasPrefix(f, ".codex") {
			t.Errorf("codex: %s", f)
		}
	}
	s, err := Open(all.Registry(), w.dir)
	if err != nil {
		t.Fatal(err)
	}
	id := "20000000-0000-4000-8000-000000000001"
	if got := s.Listing().Find(id); len(got) != 1 {
		t.Errorf("%d sessions have the id", len(got))
	}
	if got, want := to(RestoreOptions{IDs: []string{id}}), []string{filepath.FromSlash(aSession)}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	got := to(RestoreOptions{Project: "/home/ann/app", Client: "claude-code"})
	if len(got) < 3 || slices.ContainsFunc(got, func(f string) bool { return !strings.HasPrefix(filepath.ToSlash(f), ".claude/projects/-home-ann-app") }) {
		t.Errorf("%q", got)
	}
	if _, err := Restore(t.Context(), s, RestoreOptions{Machine: w.o.Machine, Client: "codex", Project: "/nowhere"}); err == nil {
		t.Error("nothing was selected, and no error says so")
	}
}

// TestOtherHome: paths below the home folder follow it. What was outside of it goes
// back to its place only if a client looks there.
func TestOtherHome(t *testing.T) {
	w := newWorld(t)
	apart := filepath.Join(t.TempDir(), "claude")
	if err := os.Rename(filepath.Join(w.home, ".claude"), apart); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"CLAUDE_CONFIG_DIR": apart}
	w.o.Machine.Getenv = func(name string) string { return env[name] }
	all := len(w.run().Stores)
	if err := os.RemoveAll(apart); err != nil {
		t.Fatal(err)
	}
	w.wipe()
	w.o.Machine.Home = filepath.Join(t.TempDir(), "other")
	delete(env, "CLAUDE_CONFIG_DIR")
	if got := w.restore(RestoreOptions{}); got.Count(Failed) != 1 || got.Count(Recovered) != all-1 || exists(apart) {
		t.Errorf("%+v", got.Stores)
	}
	env["CLAUDE_CONFIG_DIR"] = apart
	if got := w.restore(RestoreOptions{}); got.Count(Recovered) != 1 || got.Count(Unchanged) != all-1 || !exists(filepath.Join(apart, "projects")) {
		t.Errorf("%+v", got.Stores)
	}
	to := t.TempDir()
	if got := w.restore(RestoreOptions{To: to}); got.Count(Recovered) != all || !exists(filepath.Join(to, "outside-home")) {
		t.Errorf("%+v", got.Stores)
	}
}

// TestOldFilesShowAYoungerAge: Claude Code deletes files of sessions that are older
// than 30 days when it starts, so a restored one must not look so.
func TestOldFilesShowAYoungerAge(t *testing.T) {
	w := newWorld(t)
	w.age(100 * 24 * time.Hour)
	w.run()
	w.wipe()
	w.restore(RestoreOptions{})
	info, err := os.Stat(filepath.Join(w.home, aSession))
	if err != nil || time.Since(info.ModTime()) > 20*24*time.Hour {
		t.Errorf("%v %v", info.ModTime(), err)
	}
	info, err = os.Stat(filepath.Join(w.home, ".codex", "sessions"))
	if err != nil || !info.IsDir() {
		t.Error(err)
	}
}

// TestDamaged: a snapshot from which anything is missing, or in which a bit is flipped,
// restores nothing of that store, and everything else.
func TestDamaged(t *testing.T) {
	w := newWorld(t)
	rep := w.run()
	snap := filepath.Join(w.dir, rep.Snapshot)
	list := files(t, snap)
	w.wipe()
	for i, rel := range list {
		if rel == IndexName || i%7 > 0 {
			continue
		}
		text := read(t, snap, rel)
		at := filepath.Join(snap, rel)
		for _, how := range []string{"flipped", "removed", "link"} {
			os.Remove(at)
			switch {
			case how == "flipped" && text != "":
				os.WriteFile(at, []byte(text[:len(text)-1]+string(text[len(text)-1]^1)), 0o600)
			case how == "link" && runtime.GOOS != "windows":
				outside := filepath.Join(w.home, "outside")
				os.WriteFile(outside, []byte(text), 0o600)
				os.Symlink(outside, at)
			}
			if how == "flipped" && text == "" {
				os.WriteFile(at, nil, 0o600)
				continue
			}
			got := w.restore(RestoreOptions{DryRun: true})
			if got.Count(Failed) != 1 || got.Count(Recovered) != len(got.Stores)-1 {
				t.Fatalf("%s %s: %+v", rel, how, got.Stores)
			}
		}
		os.Remove(at)
		os.WriteFile(at, []byte(text), 0o600)
	}
}

// TestSettings: files that hold no session are restored only on request, whatever put
// them where a client keeps its sessions, and are listed either way.
func TestSettings(t *testing.T) {
	w := newWorld(t)
	project := ".claude/projects/-home-ann-app/"
	session := project + "20000000-0000-4000-8000-000000000004/"
	planted := []string{
		project + "memory/MEMORY.md", project + "memory/x.jsonl", project + "CLAUDE.md", project + "AGENTS.md", project + "settings.json", project + "settings.local.json",
		project + ".mcp.json", project + ".claude/commands/x.md", project + ".claude/agents/x.md", project + "hooks/x.sh",
		session + "CLAUDE.md", session + "memory/MEMORY.md", session + "subagents/CLAUDE.md", session + "tool-results/CLAUDE.md", session + ".mcp.json",
		".claude/todos/CLAUDE.md", ".claude/file-history/CLAUDE.md", ".claude/tasks/x/settings.md",
		".cursor/projects/home-ann-app/agent-transcripts/rules.mdc", ".cursor/projects/home-ann-app/agent-transcripts/mcp.json",
		".codex/sessions/AGENTS.md", ".codex/sessions/config.toml",
	}
	for _, rel := range planted {
		w.write(rel, "do as I say")
	}
	kept := []string{
		aSession, session + "subagents/agent-a1.jsonl", session + "subagents/agent-a1.meta.json", session + "tool-results/b1.txt", ".claude/history.jsonl",
		".claude/file-history/20000000-0000-4000-8000-000000000001/abc@v1", ".claude/todos/x.json", ".claude/tasks/x/1.json", ".codex/history.jsonl",
	}
	for _, rel := range kept[4:] {
		w.write(rel, "{}")
	}
	w.run()
	listed := func(got *Restored) (out []string) {
		for _, s := range got.Stores {
			for _, f := range s.Settings {
				out = append(out, strings.TrimPrefix(s.Path, "~/")+"/"+f)
			}
		}
		slices.Sort(out)
		return out
	}
	want := slices.Sorted(slices.Values(append(planted, ".cursor/projects/home-ann-app/agent-transcripts/stray.json")))
	w.wipe()
	for _, dry := range []bool{true, false} {
		if got := listed(w.restore(RestoreOptions{DryRun: dry})); !slices.Equal(got, want) {
			t.Errorf("dry run %v: listed %q, want %q", dry, got, want)
		}
	}
	for _, rel := range want {
		if exists(filepath.Join(w.home, filepath.FromSlash(rel))) {
			t.Errorf("restored: %s", rel)
		}
	}
	for _, rel := range kept {
		if !exists(filepath.Join(w.home, filepath.FromSlash(rel))) {
			t.Errorf("not restored: %s", rel)
		}
	}
	if got := listed(w.restore(RestoreOptions{WithSettings: true})); !slices.Equal(got, want) {
		t.Errorf("on request: listed %q", got)
	}
	for _, rel := range want {
		if !exists(filepath.Join(w.home, filepath.FromSlash(rel))) {
			t.Errorf("not restored on request: %s", rel)
		}
	}
	if got := w.restore(RestoreOptions{}); len(listed(got)) > 0 || got.Count(Unchanged) != len(got.Stores) {
		t.Errorf("what is there is listed: %+v", got.Stores)
	}
}

// TestSweptWhereverStaged: what killed runs left of any store of a snapshot is removed, in
// every folder above its place, even if all stores are restored already. What a living run
// or another program has stays, and a dry run removes nothing.
func TestSweptWhereverStaged(t *testing.T) {
	w := newWorld(t)
	w.run()
	var left []string
	s, err := Open(all.Registry(), w.dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range s.Index.Stores {
		at := one.absolute(w.home)
		for dir := filepath.Dir(at); dir != filepath.Dir(w.home); dir = filepath.Dir(dir) {
			root := filepath.Join(dir, "."+filepath.Base(at)+formats.StagingMark+"0123456789abcdef")
			w.write(strings.TrimPrefix(root, w.home)+"/lock", "")
			w.write(strings.TrimPrefix(root, w.home)+"/tree/store.db", "a token")
			left = append(left, root)
		}
	}
	other := filepath.Join(w.home, ".other"+formats.StagingMark+"0123456789abcdef")
	w.write(strings.TrimPrefix(other, w.home)+"/lock", "")
	w.restore(RestoreOptions{DryRun: true})
	for _, root := range left {
		if !exists(root) {
			t.Fatalf("a dry run removed %s", root)
		}
	}
	living, err := scratch.Make(w.home, ".store.db"+formats.StagingMark)
	if err != nil {
		t.Fatal(err)
	}
	defer living.Remove()
	if got := w.restore(RestoreOptions{}); got.Count(Unchanged) != len(got.Stores) {
		t.Errorf("%+v", got.Stores)
	}
	for _, root := range left {
		if exists(root) {
			t.Errorf("left behind: %s", root)
		}
	}
	if !exists(other) || !exists(living.Path) {
		t.Error("removed what is not the backup's, or of a run that lives")
	}
}

// TestHostileIndex: an index that somebody sends leads nowhere but where clients keep
// sessions.
func TestHostileIndex(t *testing.T) {
	w := newWorld(t)
	rep := w.run()
	at := filepath.Join(w.dir, rep.Snapshot, IndexName)
	good := read(t, at)
	w.wipe()
	before := files(t, w.home)
	edit := func(change func(s *Store)) string {
		var ix Index
		if err := json.Unmarshal([]byte(good), &ix); err != nil {
			t.Fatal(err)
		}
		for i := range ix.Stores {
			change(&ix.Stores[i])
		}
		text, err := json.Marshal(ix)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	first := func(f func(file *File)) func(*Store) {
		return func(s *Store) {
			if len(s.List) > 0 {
				f(&s.List[0])
			}
		}
	}
	for name, text := range map[string]string{
		"path up":        edit(func(s *Store) { s.Path = "~/../" + s.Client }),
		"path here":      edit(func(s *Store) { s.Path = "~/." }),
		"text up":        edit(func(s *Store) { s.Text = "../" + s.Text }),
		"text absolute":  edit(func(s *Store) { s.Text = "/etc" }),
		"same text":      edit(func(s *Store) { s.Text = "codex" }),
		"file up":        edit(first(func(f *File) { f.Path = "../../x" })),
		"file absolute":  edit(first(func(f *File) { f.Path = "/etc/passwd" })),
		"file twice":     edit(func(s *Store) { s.List = append(s.List, s.List...) }),
		"kind":           edit(func(s *Store) { s.Kind = "links" }),
		"not JSON":       good[:len(good)/2],
		"something else": `{"rehome":"sidecar","version":1}`,
		"newer":          strings.Replace(good, `"version": 1`, `"version": 9`, 1),
		"empty":          "",
	} {
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(all.Registry(), w.dir); err == nil {
			t.Errorf("%s: opened", name)
		}
	}
	for name, text := range map[string]string{
		"home itself":      edit(func(s *Store) { s.Path = "~/x" }),
		"shell":            edit(func(s *Store) { s.Path = "~/.bashrc" }),
		"client's config":  edit(first(func(f *File) { f.Path = "settings.json" })),
		"absolute":         edit(func(s *Store) { s.Path = filepath.ToSlash(filepath.Join(w.home, "..", "x")) }),
		"another's format": edit(func(s *Store) { s.Format = "canonical" }),
		"unknown format":   edit(func(s *Store) { s.Format = "none" }),
		"another kind": edit(func(s *Store) {
			s.Kind = map[string]string{archiveKind: filesKind, filesKind: archiveKind}[s.Kind]
		}),
	} {
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		got := w.restore(RestoreOptions{DryRun: name == "client's config"})
		if n := got.Count(Failed); n == 0 || name != "client's config" && n != len(got.Stores) {
			t.Errorf("%s: %+v", name, got.Stores)
		}
		if now := files(t, w.home); !slices.Equal(now, before) {
			t.Fatalf("%s: wrote %q", name, now)
		}
	}
	if runtime.GOOS == "windows" {
		return
	}
	os.WriteFile(at, []byte(good), 0o600)
	os.Rename(filepath.Join(w.dir, rep.Snapshot, "codex"), filepath.Join(w.dir, "codex"))
	os.Symlink(filepath.Join(w.dir, "codex"), filepath.Join(w.dir, rep.Snapshot, "codex"))
	if got := w.restore(RestoreOptions{DryRun: true}); got.Count(Failed) != 1 {
		t.Errorf("a folder that is a link: %+v", got.Stores)
	}
}

package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rehome/testdata/homes"
)

// TestOneOfMany: of a store that holds several, a session is taken where
// sessions can be written one by one, and not where stores are only carried whole.
func TestOneOfMany(t *testing.T) {
	home := t.TempDir()
	if err := homes.Make(home, homes.Count{Agents: 60}); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"HOME": home, "USERPROFILE": home}
	name, out := homes.ID(7)[:8], filepath.Join(home, "out")
	_, stderr, code := callWith(t, t.Context(), env, "convert", name, out, "--to", "archive")
	if code != 2 || !strings.Contains(stderr, "copies whole stores, not single sessions") {
		t.Errorf("exit %d: %s", code, stderr)
	}
	if _, err := os.Lstat(out); err == nil {
		t.Error("something was placed")
	}
	if _, stderr, code := callWith(t, t.Context(), env, "convert", name, out, "--to", "canonical", "--allow", "unreadable"); code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	got, err := filepath.Glob(filepath.Join(out, "*", "*"))
	if err != nil || len(got) != 1 || !strings.Contains(got[0], homes.ID(7)) {
		t.Errorf("placed: %q, %v", got, err)
	}
	text := filepath.Join(home, "text")
	if _, stderr, code := callWith(t, t.Context(), env, "convert", name, text, "--to", "cursor-ndjson", "--flat", "--allow",
		"unreadable"); code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	if b, err := os.ReadFile(filepath.Join(text, "agents.ndjson")); err != nil || strings.Count(string(b), "\n") != 1 ||
		!strings.Contains(string(b), homes.ID(7)) {
		t.Errorf("%v %s", err, b)
	}
}

// TestNamedAsItsFolder: a name finds what the folder finds, transcripts included.
func TestNamedAsItsFolder(t *testing.T) {
	home := t.TempDir()
	if err := homes.Make(home, homes.Count{Agents: 20}); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"HOME": home, "USERPROFILE": home}
	projects, err := filepath.Glob(filepath.Join(home, ".cursor", "projects", "*"))
	if err != nil || len(projects) != 20 {
		t.Fatal(projects, err)
	}
	said := func(name string) string {
		out, stderr, code := callWith(t, t.Context(), env, "show", name)
		if code != 0 || !strings.Contains(out, "> ") {
			t.Errorf("%s: exit %d, no prompt: %s%s", name, code, out, stderr)
		}
		return out
	}
	for _, p := range projects {
		list, err := filepath.Glob(filepath.Join(p, "agent-transcripts", "*"))
		if err != nil || len(list) != 1 {
			t.Fatal(list, err)
		}
		if id := filepath.Base(list[0]); said(id) != said(p+"#"+id) {
			t.Errorf("%s: a name finds\n%s\nthe folder\n%s", id, said(id), said(p+"#"+id))
		}
	}
}

// TestNewerHome: agents that newer versions of the SDK keep outside of their
// projects are listed, named, shown with their prompts, checked and converted.
func TestNewerHome(t *testing.T) {
	home := t.TempDir()
	if err := homes.Make(home, homes.Count{Chats: 1, Agents: 3, Moved: 5}); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"HOME": home, "USERPROFILE": home}
	run := func(args ...string) string {
		stdout, stderr, code := callWith(t, t.Context(), env, args...)
		if code != 0 {
			t.Errorf("%q: exit %d: %s", args, code, stderr)
		}
		return stdout
	}
	data := filepath.Join(home, ".cursor")
	for _, args := range [][]string{{"ls"}, {"ls", data}} {
		if out := run(args...); strings.Count(out, "\tcursor-sdk\t") != 8 {
			t.Errorf("%q:\n%s", args, out)
		}
	}
	for n := 4; n < 9; n++ {
		if out := run("show", homes.ID(n)); !strings.Contains(out, "> "+homes.Title(n)) {
			t.Errorf("no prompt in\n%s", out)
		}
	}
	if out, _, _ := callWith(t, t.Context(), env, "check", data); strings.Contains(out, "RH310") ||
		!strings.Contains(out, filepath.Join(data, "sdk-agent-store", "store-04")) {
		t.Error(out)
	}
	out := filepath.Join(t.TempDir(), "out")
	run("convert", data, out, "--to", "canonical", "--allow", "unreadable")
	var placed strings.Builder
	err := filepath.WalkDir(out, func(path string, _ os.DirEntry, err error) error {
		placed.WriteString(path + "\n")
		return err
	})
	for n := 1; n < 9; n++ {
		if err != nil || !strings.Contains(placed.String(), homes.ID(n)) {
			t.Errorf("%s is not in\n%s%v", homes.ID(n), placed.String(), err)
		}
	}
}

// TestShortName: a beginning of an id that is too short to name anything is told
// from one that names nothing.
func TestShortName(t *testing.T) {
	home := t.TempDir()
	if err := homes.Make(home, homes.Count{Chats: 3}); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"HOME": home, "USERPROFILE": home}
	t.Chdir(t.TempDir())
	const why = "id prefixes need at least 4 characters"
	for name, want := range map[string]bool{"fff": true, home + "#fff": true, "zzzz": false, home + "#zzzz": false} {
		_, stderr, code := callWith(t, t.Context(), env, "show", name)
		if code == 0 || strings.Contains(stderr, why) != want {
			t.Errorf("%s: exit %d: %s", name, code, stderr)
		}
	}
}

// TestLast: the newest session of the folder, also from folders below it.
func TestLast(t *testing.T) {
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := homes.Make(home, homes.Count{Chats: 50}); err != nil {
		t.Fatal(err)
	}
	deep := filepath.Join(home, "src", "project-07", "a", "b")
	if err := os.MkdirAll(deep, 0o777); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"HOME": home, "USERPROFILE": home}
	for dir, want := range map[string]int{filepath.Dir(filepath.Dir(deep)): 47, deep: 47, filepath.Join(home, "src"): 49} {
		t.Chdir(dir)
		out := filepath.Join(t.TempDir(), "out")
		stdout, stderr, code := callWith(t, t.Context(), env, "convert", "--last", out, "--to", "archive")
		if code != 0 || !strings.Contains(stdout, homes.ID(want)) {
			t.Errorf("%s: exit %d: %s%s", dir, code, stdout, stderr)
		}
	}
	t.Chdir(t.TempDir())
	if _, stderr, code := callWith(t, t.Context(), env, "convert", "--last", "out", "--to", "archive"); code != 1 ||
		!strings.Contains(stderr, "no session belongs to this folder") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}

// TestNameNeedsAHome: without one a name is just a path that leads nowhere.
func TestNameNeedsAHome(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, args := range [][]string{{"convert", "flaky", "out", "--to", "archive"}, {"ls"}} {
		if _, stderr, code := call(t, args...); code != 1 || !strings.Contains(stderr, "no such file") &&
			!strings.Contains(stderr, "$HOME: not set") {
			t.Errorf("%q: exit %d: %s", args, code, stderr)
		}
	}
}

// TestCopiesGiveWay: a chat and what migrate made of it have one title, and a
// name of both is that of the chat; a store that was converted to where a client
// looks holds the same id, and the one of the working directory is meant.
func TestCopiesGiveWay(t *testing.T) {
	home, app, lib := oldHome(t)
	env := map[string]string{"HOME": home}
	t.Chdir(app)
	for _, again := range [][]string{nil, {"--again"}, {"--again"}} {
		if res, code := migrating(t, home, append([]string{chatID(0)}, again...)...); code != 0 || res.Migrated[0].Status != "placed" {
			t.Fatalf("exit %d, %+v", code, res.Migrated)
		}
	}
	stdout, stderr, code := callWith(t, t.Context(), env, "show", "Chat 0")
	if code != 0 || !strings.Contains(stdout, chatID(0)) {
		t.Errorf("exit %d, %s%s", code, stdout, stderr)
	}
	// The same id in two folders of one client: two copies of a session of Claude Code.
	res, code := migrating(t, home, chatID(1))
	if code != 0 {
		t.Fatal(res)
	}
	id := res.Migrated[0].Session
	if res, code = migrating(t, home, id, "--cwd", lib); code != 0 || res.Migrated[0].Status != "placed" {
		t.Fatalf("exit %d, %+v", code, res.Migrated)
	}
	for _, dir := range []string{app, lib} {
		t.Chdir(dir)
		stdout, stderr, code := callWith(t, t.Context(), env, "show", id[:8])
		if code != 0 || !strings.Contains(stdout, "  folder   "+dir+"\n") || !strings.Contains(stderr, "2 sessions have this id") {
			t.Errorf("%s: exit %d, %s\n%s", dir, code, stderr, stdout)
		}
		named := map[string]string{app: chatID(1), lib: id}[dir] // the copy only where the original is not
		if stdout, stderr, code := callWith(t, t.Context(), env, "show", "Chat 1"); code != 0 || !strings.Contains(stdout, named) {
			t.Errorf("%s: exit %d, %s\n%s", dir, code, stderr, stdout)
		}
		if res, code := migrating(t, home, id[:8]); code != 0 || len(res.Migrated) != 1 || res.Migrated[0].Status != "same" ||
			!strings.HasPrefix(res.Migrated[0].Continue, "cd "+dir+" && claude --resume "+id) {
			t.Errorf("%s: exit %d, %+v", dir, code, res.Migrated)
		}
	}
}

// TestWhichIsAsked: a name of several sessions is answered with names that mean
// one each, in JSON as a list; one of the working directory alone is meant.
func TestWhichIsAsked(t *testing.T) {
	home, app, _ := oldHome(t)
	env := map[string]string{"HOME": home}
	t.Chdir(t.TempDir())
	stdout, _, code := callWith(t, t.Context(), env, "show", "chat", "--json")
	checkJSON(t, []string{"show"}, []byte(stdout))
	var got struct {
		Error struct {
			Message    string
			Candidates []struct{ Name, ID, Path, Project string }
		}
	}
	if err := json.Unmarshal([]byte(stdout), &got); err != nil || code != 2 {
		t.Fatal(code, err, stdout)
	}
	if len(got.Error.Candidates) != 5 || strings.Contains(got.Error.Message, "\n") {
		t.Fatalf("%+v", got.Error)
	}
	for _, c := range got.Error.Candidates {
		if stdout, stderr, code := callWith(t, t.Context(), env, "show", c.Name); code != 0 || !strings.Contains(stdout, c.ID) {
			t.Errorf("%s: exit %d, %s", c.Name, code, stderr)
		}
	}
	t.Chdir(app) // two of the five are of this folder
	if stdout, _, code = callWith(t, t.Context(), env, "show", "chat", "--json"); code != 2 {
		t.Errorf("exit %d", code)
	}
	if err := json.Unmarshal([]byte(stdout), &got); err != nil || got.Error.Candidates[0].Project != app ||
		got.Error.Candidates[1].Project != app {
		t.Errorf("%v, %+v", err, got.Error.Candidates)
	}
	if err := os.RemoveAll(got.Error.Candidates[1].Path); err != nil {
		t.Fatal(err)
	}
	if stdout, stderr, code := callWith(t, t.Context(), env, "show", "chat"); code != 0 ||
		!strings.Contains(stdout, got.Error.Candidates[0].ID) {
		t.Errorf("exit %d, %s", code, stderr)
	}
}

// TestNoWayToThatClient: what cannot be written from a session is said with what
// can.
func TestNoWayToThatClient(t *testing.T) {
	home, app, _ := oldHome(t)
	env := map[string]string{"HOME": home}
	t.Chdir(app)
	res, code := migrating(t, home, chatID(0))
	if code != 0 {
		t.Fatal(res)
	}
	for _, src := range []string{res.Migrated[0].Session, res.Migrated[0].File} {
		_, stderr, code := callWith(t, t.Context(), env, "convert", src, "out", "--to", "sqlite")
		if code != 1 || !strings.Contains(stderr, "claude-code") || !strings.Contains(stderr, "hint: pass --to with one of archive, canonical") {
			t.Errorf("%s: exit %d, %s", src, code, stderr)
		}
	}
}

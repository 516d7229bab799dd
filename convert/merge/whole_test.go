package merge

import (
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"rehome/convert"
	"rehome/convert/check"
	"rehome/formats"
	"rehome/formats/all"
	"rehome/formats/rule"
	"rehome/formats/session"
	"rehome/testdata/chat"
)

const chatFolder = "0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a/5d0b2b7e-1111-4000-8000-000000000000"

// chats is a folder with a chat, to which words were added as blobs.
func chats(t *testing.T, words ...string) string {
	t.Helper()
	dir := t.TempDir()
	at := filepath.Join(dir, filepath.FromSlash(chatFolder), "store.db")
	b, err := chat.Stores.ReadFile("before.db")
	if err = errors.Join(err, os.MkdirAll(filepath.Dir(at), 0o777), os.WriteFile(at, b, 0o666)); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", at)
	for _, w := range words {
		if err == nil {
			_, err = db.Exec("INSERT INTO blobs VALUES (?, ?)", fmt.Sprintf("%x", sha256.Sum256([]byte(w))), []byte(w))
		}
	}
	if err == nil {
		_, err = db.Exec("PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode = DELETE")
	}
	if err = errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	return dir
}

// titles are the titles of the sessions in the stores of a folder, by their ids.
func titles(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for f, err := range convert.Stores(t.Context(), all.Registry(), dir, "", nil) {
		if err != nil {
			t.Fatal(err)
		}
		for s, err := range f.Detected[0].Format.Sessions.Decode(t.Context(), f.Loc, formats.FullView(1), session.Selection{}) {
			if err != nil {
				t.Fatal(err)
			}
			out[s.ID] = s.Title
		}
	}
	return out
}

// TestChats merges chats of the Cursor CLI, as databases and as archives of them.
func TestChats(t *testing.T) {
	base, a, b := chats(t), chats(t, "left", "more"), chats(t, "right")
	join := func(sources ...string) string {
		t.Helper()
		out := filepath.Join(t.TempDir(), "out")
		if _, err := Run(t.Context(), all.Registry(), sources, out, Options{}); err != nil {
			t.Fatal(err)
		}
		return out
	}
	text := func(dir string) string {
		t.Helper()
		out := filepath.Join(t.TempDir(), "text")
		if rep, err := convert.Convert(t.Context(), all.Registry(), dir, out, convert.Options{To: "archive"}); err != nil || rep.Failed() > 0 {
			t.Fatal(err, rep)
		}
		return out
	}
	out := join(a, b)
	got := titles(t, out)
	if len(got) != 2 || got[filepath.Base(chatFolder)] != "Golden demo" || !strings.Contains(fmt.Sprint(got), "Golden demo (fork)") {
		t.Errorf("%v", got)
	}
	same(t, "another order", tree(t, join(b, a)), tree(t, out))
	same(t, "again", tree(t, join(out, base, b)), tree(t, out))
	same(t, "a longer one", tree(t, text(join(base, a))), tree(t, text(a)))
	texts := join(text(a), text(b))
	same(t, "the order of archives", tree(t, join(text(b), text(a))), tree(t, texts))
	same(t, "archives again", tree(t, join(texts, text(a))), tree(t, texts))
	same(t, "an archive with itself", tree(t, join(text(a), text(a))), tree(t, text(a)))
	same(t, "an archive and its store", tree(t, join(text(a), base)), tree(t, text(join(a, base))))
	back := filepath.Join(t.TempDir(), "back")
	if _, err := convert.Convert(t.Context(), all.Registry(), texts, back, convert.Options{}); err != nil || fmt.Sprint(titles(t, back)) != fmt.Sprint(got) {
		t.Errorf("%v, %v", titles(t, back), err)
	}
}

// TestPlain: of a folder in a format of which nothing is known but its lines, only these
// are merged.
func TestPlain(t *testing.T) {
	home, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	sessions := tree(t, filepath.Join(home, "..", "..", "testdata", "codex", "home"))
	more := sessions.clone()
	more["auth.json"] = "{}"
	out := merged(t, sessions, more)
	for name := range sessions {
		if !strings.HasSuffix(name, ".jsonl") {
			delete(sessions, name)
		}
	}
	same(t, "the result", out, sessions)
}

// TestFolders merges folders with several stores each, as private as the most private one.
func TestFolders(t *testing.T) {
	c := clients()["cursor-ndjson"]
	a, b := person{}, person{}
	for _, folder := range []string{"x", "y"} {
		one := person{}
		c.say(one, c.id(1), "base")
		for i, p := range []person{a, b} {
			own := one.clone()
			c.say(own, c.id(2+i), "own")
			for name, text := range own {
				p[folder+"/"+name] = text
			}
		}
	}
	from, to := a.save(t), b.save(t)
	if err := os.Chmod(filepath.Join(to, "x", c.id(1), "runs.ndjson"), 0o600); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "out")
	res, err := Run(t.Context(), all.Registry(), []string{from, to}, out, Options{})
	if err != nil || len(res.Sessions) != 6 || len(tree(t, out)) < 26 {
		t.Errorf("%+v, %v", res, err)
	}
	info, err := os.Stat(filepath.Join(out, "y", c.id(2), "runs.ndjson"))
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// TestRefused: what cannot be united is an error, and nothing is written.
func TestRefused(t *testing.T) {
	c := clients()["claude-code"]
	folder := person{}
	c.say(folder, c.id(1), "a")
	lines := func(word string) string {
		return person{"s.jsonl": `{"type":"session","version":1,"id":"s","agent":"cursor-cli"}` + "\n" +
			`{"type":"message","id":"m","role":"user","parts":[{"type":"text","text":"` + word + `"}]}` + "\n"}.save(t)
	}
	missing := filepath.Join(t.TempDir(), "none")
	for _, r := range []struct {
		sources []string
		want    string
	}{
		{[]string{folder.save(t), lines("a")}, "some sources are stores"},
		{[]string{folder.save(t), chats(t)}, "some sources are stores"},
		{[]string{folder.save(t), (person{"rehome.json": `{"rehome":"cursor-ndjson","version":1}` + "\n"}).save(t)}, "is cursor-ndjson, but"},
		{[]string{folder.save(t), missing}, "no such file"},
		{[]string{t.TempDir(), t.TempDir()}, "no known format"},
	} {
		dir := t.TempDir()
		_, err := Run(t.Context(), all.Registry(), r.sources, filepath.Join(dir, "out"), Options{})
		if err == nil || !strings.Contains(err.Error(), r.want) || formats.Hint(err) == "" && r.want != "no such file" {
			t.Errorf("%q: %v, hint %q", r.want, err, formats.Hint(err))
		}
		same(t, "the folder of the target", tree(t, dir), person{})
	}
}

// TestAgents merges stores of the Cursor SDK in which two people added a run to one agent,
// as databases and as archives of them.
func TestAgents(t *testing.T) {
	as := func(src, format string) string {
		t.Helper()
		out := filepath.Join(t.TempDir(), "out")
		if rep, err := convert.Convert(t.Context(), all.Registry(), src, out, convert.Options{To: format}); err != nil || rep.Failed() > 0 {
			t.Fatal(err, rep)
		}
		return out
	}
	var stores, archives []string
	text := tree(t, as("../../testdata/sdk/gen/sqlite", "cursor-ndjson"))
	for _, word := range []string{"left", "right"} {
		own := text.clone()
		for name, lines := range text {
			if !strings.HasPrefix(name, "agent-86") || filepath.Base(name) != "runs.ndjson" {
				continue
			}
			_, last, _ := strings.Cut(strings.TrimSuffix(lines, "\n"), "\n")
			last = strings.NewReplacer("run-532fab86-304f-4e62-81e5-c04b502c04d6", "run-"+word, `"turnNumber":2`, `"turnNumber":3`).Replace(last)
			own[name] += last + "\n"
		}
		stores = append(stores, as(own.save(t), "cursor-sdk"))
		archives = append(archives, as(stores[len(stores)-1], "archive"))
	}
	join := func(sources ...string) string {
		t.Helper()
		out := filepath.Join(t.TempDir(), "out")
		if _, err := Run(t.Context(), all.Registry(), sources, out, Options{}); err != nil {
			t.Fatal(err)
		}
		return out
	}
	for _, sources := range [][]string{stores, archives} {
		out := join(sources...)
		same(t, "another order", tree(t, join(sources[1], sources[0])), tree(t, out))
		same(t, "again", tree(t, join(out, sources[1])), tree(t, out))
		rep, err := check.Check(t.Context(), all.Registry(), check.Options{Paths: []string{out}})
		if err != nil || rep.Count(rule.Error) > 0 {
			t.Errorf("%+v, %v", rep, err)
		}
	}
	if got := titles(t, join(stores...)); len(got) != 3 {
		t.Errorf("%v", got)
	}
	same(t, "an archive with itself", tree(t, join(archives[0], archives[0])), tree(t, archives[0]))
}

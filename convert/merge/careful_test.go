package merge

import (
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rehome/convert"
	"rehome/formats"
	"rehome/formats/all"
)

// TestHostileID merges chats whose id is a path: nothing is written beside the target.
func TestHostileID(t *testing.T) {
	var sources []string
	for _, words := range [][]string{{"a"}, {"a", "b"}} {
		at := filepath.Join(chats(t, words...), filepath.FromSlash(chatFolder))
		db, err := sql.Open("sqlite", filepath.Join(at, "store.db"))
		meta := ""
		if err == nil {
			err = db.QueryRow("SELECT value FROM meta").Scan(&meta)
		}
		b, e := hex.DecodeString(meta)
		meta = hex.EncodeToString([]byte(strings.ReplaceAll(string(b), filepath.Base(chatFolder), "../../../evil")))
		if err = errors.Join(err, e); err == nil {
			_, err = db.Exec("UPDATE meta SET value = ?", meta)
		}
		if err = errors.Join(err, db.Close()); err != nil {
			t.Fatal(err)
		}
		named := filepath.Join(filepath.Dir(at), "chat")
		if err := os.Rename(at, named); err != nil {
			t.Fatal(err)
		}
		sources = append(sources, named)
	}
	dir := t.TempDir()
	res, err := Run(t.Context(), all.Registry(), sources, filepath.Join(dir, "x", "y", "out"), Options{})
	if err != nil || len(res.Sessions) != 1 || res.Sessions[0].ID != "../../../evil" {
		t.Errorf("%+v, %v", res, err)
	}
	for name := range tree(t, dir) {
		if !strings.HasPrefix(name, "x/y/out/") || strings.Contains(name, "evil") {
			t.Errorf("wrote %s", name)
		}
	}
}

// TestFlatSubagents: a subagent beside the sessions is continued by one, or kept twice, and
// its last line can be torn.
func TestFlatSubagents(t *testing.T) {
	c := clients()["claude-code"]
	base := person{"agent-1.jsonl": "{\"n\":1}\n", "history.jsonl": "{\"h\":1}\n"}
	c.say(base, c.id(1), "base")
	torn, left, right := base.clone(), base.clone(), base.clone()
	torn["agent-1.jsonl"] += `{"n":`
	left["agent-1.jsonl"] += "{\"n\":2}\n"
	right["agent-1.jsonl"] += "{\"n\":3}\n"
	left["history.jsonl"] += "{\"h\":2}\n"
	same(t, "the longer one", merged(t, torn, left, base), left)
	out := merged(t, left, right)
	same(t, "another order", merged(t, right, left), out)
	same(t, "again", merged(t, out, left, right), out)
	found := map[string]bool{}
	for name, text := range out {
		found[text] = found[text] || strings.HasPrefix(name, "agent-1")
	}
	if !found[left["agent-1.jsonl"]] || !found[right["agent-1.jsonl"]] || out["history.jsonl"] != left["history.jsonl"] {
		t.Errorf("%q", out)
	}
}

// TestTimes: clients list sessions by the times of their files.
func TestTimes(t *testing.T) {
	c := clients()["claude-code"]
	p := person{}
	c.say(p, c.id(1), "base")
	name, at := c.id(1)+".jsonl", time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	dirs := []string{p.save(t), p.save(t)}
	for i, dir := range dirs {
		when := at.Add(-time.Duration(i) * time.Hour)
		if err := os.Chtimes(filepath.Join(dir, name), when, when); err != nil {
			t.Fatal(err)
		}
	}
	for _, sources := range [][]string{dirs, {dirs[1], dirs[0]}} {
		out := filepath.Join(t.TempDir(), "out")
		_, err := Run(t.Context(), all.Registry(), sources, out, Options{})
		info, e := os.Stat(filepath.Join(out, name))
		if err = errors.Join(err, e); err != nil || !info.ModTime().Equal(at) {
			t.Errorf("%v, %v", info, err)
		}
	}
}

// TestLeftOut: text gets no database with its secrets, and what is left out is said.
func TestLeftOut(t *testing.T) {
	a, b := chats(t, "left"), chats(t, "right")
	text := filepath.Join(t.TempDir(), "text")
	if _, err := convert.Convert(t.Context(), all.Registry(), a, text, convert.Options{To: "archive"}); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(b, path.Dir(chatFolder)+".bak-1"), os.DirFS(a)); err != nil {
		t.Fatal(err)
	}
	for _, at := range []string{filepath.Join(b, filepath.FromSlash(chatFolder), "notes.txt"), text + formats.SidecarSuffix} {
		if err := os.WriteFile(at, []byte("x"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, sources := range [][]string{{text, b}, {b, text}} {
		out := filepath.Join(t.TempDir(), "out")
		res, err := Run(t.Context(), all.Registry(), sources, out, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for name, text := range tree(t, out) {
			if strings.HasSuffix(name, ".db") || strings.Contains(text, `"blobEncryptionKey":"0`) {
				t.Errorf("%s: a database, or a secret", name)
			}
		}
		said := fmt.Sprint(res.Remarks)
		for _, want := range []string{"L401", "L314", "text.sidecar.ndjson is left out", ".bak-1 skipped: a backup"} {
			if !strings.Contains(said, want) {
				t.Errorf("no %s in %s", want, said)
			}
		}
	}
}

package cli

import (
	"crypto/md5"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rehome/formats/loss"
)

// oldChat makes the database of a chat whose store does not say which folder it
// belongs to: only the first prompt does, if said is not empty.
func oldChat(t *testing.T, path, id, title, said string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(path))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	run := func(statement string, args ...any) {
		if _, err := db.Exec(statement, args...); err != nil {
			t.Fatal(err)
		}
	}
	run("CREATE TABLE blobs (id TEXT PRIMARY KEY, data BLOB)")
	run("CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT)")
	run("PRAGMA user_version=1")
	blob := func(data []byte) []byte {
		sum := sha256.Sum256(data)
		run("INSERT INTO blobs VALUES(?, ?)", hex.EncodeToString(sum[:]), data)
		return sum[:]
	}
	info := "OS Version: linux 6.1\n\nShell: bash\n"
	if said != "" {
		info += "\nWorkspace Path: " + said + "\n"
	}
	var root []byte
	for _, m := range []map[string]any{
		{"role": "system", "content": "You are a good agent."},
		{"role": "user", "content": "<user_info>\n" + info + "</user_info>"},
		{"role": "user", "content": []map[string]any{{"type": "text", "text": "<user_query>\nsay hello\n</user_query>"}}},
		{"role": "assistant", "id": "a1", "content": []map[string]any{{"type": "text", "text": "hello"}}},
	} {
		b, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		root = append(append(root, 0x0a, 32), blob(b)...)
	}
	meta, err := json.Marshal(map[string]any{"agentId": id, "latestRootBlobId": hex.EncodeToString(blob(root)), "name": title, "mode": "default", "createdAt": 1_780_000_000_000})
	if err != nil {
		t.Fatal(err)
	}
	run("INSERT INTO meta VALUES('0', ?)", hex.EncodeToString(meta))
}

func chatID(n int) string { return fmt.Sprintf("%08x-1111-4000-8000-000000000000", 0xa0000000+n) }

// oldHome is a home folder with chats of the folder app, which only the name of
// the folder that they lie in tells, of lib, which their first prompts tell as
// well, and of a folder of which nobody knows the name.
func oldHome(t *testing.T) (home, app, lib string) {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	app, lib = filepath.Join(home, "app"), filepath.Join(home, "lib")
	for _, dir := range []string{app, lib} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for i, c := range []struct{ folder, said string }{{app, ""}, {app, ""}, {lib, lib}, {lib, ""}, {"/nobody/knows", ""}} {
		sum := md5.Sum([]byte(c.folder))
		oldChat(t, filepath.Join(home, ".cursor", "chats", hex.EncodeToString(sum[:]), chatID(i), "store.db"), chatID(i), fmt.Sprintf("Chat %d", i), c.said)
	}
	return home, app, lib
}

// TestChatOfAMovedFolder: a chat that states one folder and lies with the chats of
// another belongs to that one for all commands. Its client looks there.
func TestChatOfAMovedFolder(t *testing.T) {
	home, app, _ := oldHome(t)
	sum := md5.Sum([]byte(app))
	at := filepath.Join(home, ".cursor", "chats", hex.EncodeToString(sum[:]), "5d0b2b7e-1111-4000-8000-00000000000a", "store.db")
	data, err := os.ReadFile("../../../testdata/chat/after.db")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at, data, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Chdir(app)
	env := map[string]string{"HOME": home}
	stdout, stderr, code := callWith(t, t.Context(), env, "show", "5d0b2b7e")
	if code != 0 || !strings.Contains(stdout, "  folder   "+app+"\n") {
		t.Errorf("show: exit %d, %s\n%.600s", code, stderr, stdout)
	}
	stdout, stderr, code = callWith(t, t.Context(), env, "migrate", "5d0b2b7e", "--dry-run", "-v")
	if code != 0 || !strings.Contains(stdout, "("+string(loss.FolderMoved)+")") {
		t.Errorf("migrate: exit %d, %s\n%s", code, stderr, stdout)
	}
	if res, code := migrating(t, home, "5d0b2b7e"); code != 0 || len(res.Migrated) != 1 || res.Migrated[0].Cwd != app {
		t.Errorf("migrate: exit %d, %+v", code, res.Migrated)
	}
}

// TestOneFolderForAll: ls, show, migrate and convert know the same folder of a
// chat whose store does not say it.
func TestOneFolderForAll(t *testing.T) {
	home, app, lib := oldHome(t)
	env := map[string]string{"HOME": home}
	t.Chdir(app)
	stdout, stderr, code := callWith(t, t.Context(), env, "ls", "--json")
	if code != 0 {
		t.Fatal(stderr)
	}
	var ls lsResult
	if err := json.Unmarshal([]byte(stdout), &ls); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range ls.Sessions {
		got = append(got, s.Title+" in "+s.Project)
	}
	slices.Sort(got)
	want := []string{"Chat 0 in " + app, "Chat 1 in " + app, "Chat 2 in " + lib, "Chat 3 in " + lib, "Chat 4 in "}
	if !slices.Equal(got, want) {
		t.Errorf("ls: %q", got)
	}
	for n, folder := range []string{app, app, lib, lib} {
		id := chatID(n)
		if stdout, stderr, code = callWith(t, t.Context(), env, "show", id); code != 0 || !strings.Contains(stdout, "  folder   "+folder+"\n") {
			t.Errorf("show %d: exit %d, %s\n%s", n, code, stderr, stdout)
		}
		res, code := migrating(t, home, id)
		if code != 0 || len(res.Migrated) != 1 || res.Migrated[0].Cwd != folder {
			t.Errorf("migrate %d: exit %d, %+v", n, code, res.Migrated)
		}
	}
	if res, code := migrating(t, home, chatID(4)); code != 1 {
		t.Errorf("exit %d, %+v: nobody knows its folder", code, res.Migrated)
	}
	for _, args := range [][]string{{"show", "--last"}, {"migrate", "--last", "--dry-run"}} {
		if _, stderr, code := callWith(t, t.Context(), env, args...); code != 0 {
			t.Errorf("%q: exit %d, %s", args, code, stderr)
		}
	}
	t.Chdir(t.TempDir())
	if res, code := migrating(t, home, "--project", app, "--all", "--again"); code != 0 || len(res.Migrated) != 2 {
		t.Errorf("all of app: exit %d, %+v", code, res.Migrated)
	}
	// A store by its path tells what it says, and what its place does.
	at := filepath.Join(home, ".cursor", "chats")
	for flag, n := range map[string]int{app: 2, lib: 2, home: 1} {
		out := filepath.Join(t.TempDir(), "out")
		_, stderr, code := callWith(t, t.Context(), env, "convert", at, out, "--to", "canonical", "--workspace", flag)
		files, err := filepath.Glob(filepath.Join(out, "cursor-cli", "*.jsonl"))
		if err != nil || code != 0 || len(files) != n {
			t.Errorf("convert of %s: exit %d, %q, %v, %s", flag, code, files, err, stderr)
		}
		for _, f := range files {
			if b, err := os.ReadFile(f); err != nil || !strings.Contains(string(b), `"workspace":"`+home) {
				t.Errorf("%s: %v %.300s", f, err, b)
			}
		}
	}
}

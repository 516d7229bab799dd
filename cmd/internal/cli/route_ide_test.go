package cli

import (
	"bytes"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"rehome/cmd/internal/clitest"
	"rehome/golden"
	"rehome/testdata/ide"
)

// ideHome builds a small user dir of the IDE from SQL text, and returns a
// function that adds a turn to it.
func ideHome(t *testing.T, dir string) (turn func()) {
	t.Helper()
	script := func(name string) string {
		b, err := os.ReadFile(golden.Path(t, "../testdata/ide/"+name))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	exec := func(file, text string) {
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(file))
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if _, err := db.Exec(text); err != nil {
			t.Fatal(err)
		}
	}
	global := filepath.Join(dir, "globalStorage", "state.vscdb")
	space := filepath.Join(dir, "workspaceStorage", "0123456789abcdef0123456789abcdef")
	exec(global, script("global.sql"))
	exec(filepath.Join(space, "state.vscdb"), script("workspace.sql"))
	for name, text := range map[string]string{
		filepath.Join(space, "workspace.json"):                    `{"folder":"file:///home/u/demo"}`,
		filepath.Join(dir, "globalStorage", "state.vscdb.backup"): "not carried",
		filepath.Join(dir, "settings.json"):                       "{}",
	} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	more := script("turn.sql")
	return func() { exec(global, more) }
}

// ideCase builds the user dir of a case below a folder, and returns its path.
func ideCase(t *testing.T, dir, name string) string {
	t.Helper()
	script, err := ide.Cases.ReadFile("cases/" + name + ".sql")
	user := filepath.Join(dir, "User")
	if err == nil {
		err = ide.Build(user, string(script))
	}
	if err != nil {
		t.Fatal(err)
	}
	return user
}

// TestIDEToArchive compares the text of a user dir, and of the same one turn
// later, with what is checked in.
func TestIDEToArchive(t *testing.T) {
	dir := t.TempDir()
	turn := ideHome(t, filepath.Join(dir, "User"))
	for _, name := range []string{"before", "after"} {
		if _, stderr, code := call(t, "convert", filepath.Join(dir, "User"), filepath.Join(dir, name), "--to", "archive", "--quiet"); code != 0 {
			t.Fatalf("exit %d: %s", code, stderr)
		}
		golden.Tree(t, "cursor-ide-to-archive/"+name, filepath.Join(dir, name))
		turn()
		turn = func() {}
	}
	d, err := clitest.PlainDiff(filepath.Join(dir, "before"), filepath.Join(dir, "after"), "before", "after")
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains([]byte(d.Text), []byte("planted-token")) {
		t.Error("a secret is in the text")
	}
	grown, err := treeSize(filepath.Join(dir, "after"))
	if err != nil {
		t.Fatal(err)
	}
	golden.Bytes(t, "cursor-ide-to-archive/one-turn.txt", fmt.Appendf(nil,
		"%s\n%d lines added, %d removed: %d bytes of difference in %d bytes of text\n", d.Text, d.Added, d.Removed, len(d.Text), grown))
}

// TestIDEThereAndBack: text, store, text with the sidecar of the store
// gives the same bytes, and no secret is anywhere but in the source.
func TestIDEThereAndBack(t *testing.T) {
	dir := t.TempDir()
	ideHome(t, filepath.Join(dir, "User"))
	for _, args := range [][]string{{"User", "text", "--to", "archive"}, {"text", "Back"}, {"Back", "again", "--to", "archive"}} {
		args[0], args[1] = filepath.Join(dir, args[0]), filepath.Join(dir, args[1])
		if _, stderr, code := call(t, append([]string{"convert", "--json"}, args...)...); code != 0 {
			t.Fatalf("exit %d: %s", code, stderr)
		}
	}
	if same, err := clitest.SameTrees(filepath.Join(dir, "text"), filepath.Join(dir, "again")); err != nil || !same {
		t.Errorf("the text changed on its way through a store (%v)", err)
	}
	for _, place := range []string{"text", "Back", "again"} {
		tree, err := clitest.ReadTree(filepath.Join(dir, place))
		if err != nil {
			t.Fatal(err)
		}
		for name, b := range tree {
			if bytes.Contains(b, []byte("planted-token")) {
				t.Errorf("%s/%s holds a secret", place, name)
			}
		}
	}
	if b, err := os.ReadFile(filepath.Join(dir, "Back.sidecar.ndjson")); err != nil || bytes.Contains(b, []byte("planted-token")) {
		t.Errorf("the sidecar is missing or holds a secret (%v)", err)
	}
}

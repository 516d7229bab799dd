package main

import (
	"crypto/md5"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rehome/golden"
	"rehome/testdata/chat"
)

// TestMigrateRecipe does what the README says of going on in Claude Code, line
// by line, in the home of somebody with a chat of the CLI's.
func TestMigrateRecipe(t *testing.T) {
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	app := filepath.Join(home, "app")
	sum := md5.Sum([]byte(app))
	b, err := chat.Stores.ReadFile("after.db")
	if err != nil {
		t.Fatal(err)
	}
	at := filepath.Join(home, ".cursor", "chats", hex.EncodeToString(sum[:]), "5d0b2b7e-1111-4222-8333-444455556666")
	told := fmt.Sprintf(`{"schemaVersion":1,"createdAtMs":1772355600000,"updatedAtMs":1772355630000,"hasConversation":true,"title":"Golden demo","cwd":%q,"isSubagent":false}`, app)
	for name, content := range map[string][]byte{filepath.Join(at, "store.db"): b, filepath.Join(at, "meta.json"): []byte(told), filepath.Join(app, "go.mod"): nil} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	readme, err := os.ReadFile(filepath.Join(filepath.Dir(golden.Path(t, "")), "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, recipe, _ := strings.Cut(string(readme), "\n## Go on in Claude Code")
	_, recipe, _ = strings.Cut(recipe, "```sh\n")
	recipe, _, _ = strings.Cut(recipe, "```")
	t.Chdir(app)
	commands := 0
	for line := range strings.Lines(recipe) {
		args := strings.Fields(line)
		if len(args) < 2 || args[0] != "rehome" || args[1] != "migrate" {
			t.Errorf("no migration: %s", line)
			continue
		}
		commands++
		stdout, stderr, code := callWith(t, t.Context(), map[string]string{homeVariable(): home}, args[1:]...)
		if code != 0 {
			t.Errorf("%s: exit %d: %s%s", strings.TrimSpace(line), code, stdout, stderr)
		}
		end := "cd " + app + " && claude --resume "
		if !strings.Contains(line, "--dry-run") && !strings.Contains(stdout, end) {
			t.Errorf("%s: it does not say %s…:\n%s", strings.TrimSpace(line), end, stdout)
		}
	}
	if commands != 3 {
		t.Errorf("%d commands in the recipe", commands)
	}
	if res, code := migrating(t, home, "--project", ".", "--all"); code != 0 || len(res.Migrated) != 1 || res.Migrated[0].Status != "same" {
		t.Errorf("all of the folder: exit %d, %+v", code, res.Migrated)
	}
	files, err := filepath.Glob(filepath.Join(home, ".claude", "projects", "*", "*.jsonl"))
	if err != nil || len(files) != 1 {
		t.Errorf("placed: %q, %v", files, err)
	}
}

package main

import (
	"crypto/md5"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rehome/golden"
	"rehome/testdata/chat"
	"rehome/testdata/sdk"
)

// furnishHome lays a chat of the Cursor CLI where the client keeps it, and the
// folder that it belongs to.
func furnishHome(t *testing.T, home string) {
	t.Helper()
	app := filepath.Join(home, "app")
	sum := md5.Sum([]byte(app))
	b, err := chat.Demo.ReadFile("login.db")
	if err != nil {
		t.Fatal(err)
	}
	at := filepath.Join(home, ".cursor", "chats", hex.EncodeToString(sum[:]), "5d0b2b7e-2222-4000-8000-00000000106e")
	meta := fmt.Sprintf(`{"schemaVersion":1,"createdAtMs":1791792000000,"updatedAtMs":1791792030000,"hasConversation":true,"title":"Fix the flaky login test","cwd":%q,"isSubagent":false}`, app)
	for name, content := range map[string][]byte{filepath.Join(at, "store.db"): b, filepath.Join(at, "meta.json"): []byte(meta), filepath.Join(app, "go.mod"): nil} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestReadmeRuns runs every rehome command in the README's shell blocks, in
// order, in the home of somebody with a chat and agents of the SDK.
func TestReadmeRuns(t *testing.T) {
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	furnishHome(t, home)
	project, err := fs.Sub(sdk.Stores, sdk.Project)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(home, ".cursor", "projects", "home-ann-app"), project); err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile(filepath.Join(filepath.Dir(golden.Path(t, "")), "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(filepath.Join(home, "app"))
	ran := 0
	for _, block := range strings.Split(string(readme), "```sh\n")[1:] {
		block, _, _ = strings.Cut(block, "```")
		for line := range strings.Lines(block) {
			line, found := strings.CutPrefix(strings.TrimSpace(line), "rehome ")
			if !found {
				continue
			}
			line, _, _ = strings.Cut(line, "  #")
			args := shellWords(strings.ReplaceAll(line, "~", home))
			ran++
			if stdout, stderr, code := callWith(t, t.Context(), map[string]string{homeVariable(): home}, args...); code != 0 {
				t.Errorf("rehome %s: exit %d: %s%s", line, code, stdout, stderr)
			}
		}
	}
	if ran < 5 {
		t.Errorf("only %d commands found", ran)
	}
}

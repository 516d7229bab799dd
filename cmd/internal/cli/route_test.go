package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rehome/cmd/internal/clitest"
	"rehome/golden"
)

// TestChatToArchive compares the text of a chat store, and of the same store
// one turn later, with what is checked in, and with it what one turn costs in
// git.
func TestChatToArchive(t *testing.T) {
	dir := t.TempDir()
	furnish(t, dir)
	for place, name := range map[string]string{"chat": "before", "later": "after"} {
		if _, stderr, code := call(t, "convert", filepath.Join(dir, place, "store.db"), filepath.Join(dir, name), "--to", "archive",
			"--quiet"); code != 0 {
			t.Fatalf("exit %d: %s", code, stderr)
		}
		golden.Tree(t, "cursor-chat-to-archive/"+name, filepath.Join(dir, name))
	}
	d, err := clitest.PlainDiff(filepath.Join(dir, "before"), filepath.Join(dir, "after"), "before", "after")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(golden.Path(t, "../docs/performance.md"))
	if err != nil {
		t.Fatal(err)
	}
	if claim := fmt.Sprintf("%d lines added and %d removed", d.Added, d.Removed); !strings.Contains(string(page), claim) {
		t.Errorf("docs/performance.md does not say %q of one turn", claim)
	}
	grown, err := treeSize(filepath.Join(dir, "after"))
	if err != nil {
		t.Fatal(err)
	}
	golden.Bytes(t, "cursor-chat-to-archive/one-turn.txt", fmt.Appendf(nil,
		"%s\n%d lines added, %d removed: %d bytes of difference in %d bytes of text\n", d.Text, d.Added, d.Removed, len(d.Text), grown))
}

func treeSize(dir string) (n int, err error) {
	tree, err := clitest.ReadTree(dir)
	for _, data := range tree {
		n += len(data)
	}
	return n, err
}

// TestWorkersDoNotShow: the text is the same for any number of workers.
func TestWorkersDoNotShow(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	furnish(t, dir)
	for _, how := range []string{"none", "gzip", "zstd"} {
		for _, jobs := range []string{"1", "2", "8"} {
			out := how + jobs
			if _, stderr, code := call(t, "convert", "chat/store.db", out, "--to", "archive", "--compress", how, "--jobs", jobs); code != 0 {
				t.Fatalf("exit %d: %s", code, stderr)
			}
			if same, err := clitest.SameTrees(how+"1", out); err != nil || !same {
				t.Errorf("%s: %s workers wrote other bytes than one (%v)", how, jobs, err)
			}
		}
	}
}

// TestSourceStaysAsItIs: not even a file beside it comes or goes.
func TestSourceStaysAsItIs(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	furnish(t, dir)
	before, err := clitest.ReadTree("chat")
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat("chat/store.db")
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"detect", "chat"}, {"convert", "chat/store.db", "text", "--to", "archive"},
		{"convert", "chat", "copy", "--to", "sqlite", "--from", "sqlite"}, {"convert", "chat/store.db", "x", "--to", "archive", "--dry-run"},
		{"convert", "chat", "updated", "--to", "canonical", "--update"}, {"show", "chat"}, {"ls", "chat"}, {"check", "chat", "--secrets"},
		{"doctor", "chat"}, {"search", "--path", "chat", "hello"}, {"diff", "chat", "text"}, {"redact", "chat", "redacted"},
		{"repair", "chat", "repaired"}, {"merge", "chat", "copy", "merged"}, {"migrate", "chat", "--home", "home", "--cwd", "/work"},
	} {
		if _, stderr, code := call(t, args...); code != 0 {
			t.Errorf("%q: exit %d: %s", args, code, stderr)
		}
	}
	after, err := clitest.ReadTree("chat")
	if err != nil {
		t.Fatal(err)
	}
	now, err := os.Stat("chat/store.db")
	if err != nil {
		t.Fatal(err)
	}
	if len(before) != len(after) || string(before["store.db"]) != string(after["store.db"]) || !now.ModTime().Equal(info.ModTime()) {
		t.Error("the source changed")
	}
}

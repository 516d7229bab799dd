package worktree

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// repository returns an empty repository.
func repository(t *testing.T) (dir string, git func(stdin string, args ...string) string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	git = func(stdin string, args ...string) string {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@b.invalid"}, args...)...)
		cmd.Dir, cmd.Stdin = dir, strings.NewReader(stdin)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %q: %v: %s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	git("", "init", "-q")
	return dir, git
}

// TestExtract: files are written as the commit has them, links are left out, and no name
// leads out of the folder.
func TestExtract(t *testing.T) {
	dir, git := repository(t)
	blob := git("text\r\n", "hash-object", "-w", "--stdin")
	tree := git("100644 blob "+blob+"\tb\n120000 blob "+blob+"\tlink\n", "mktree")
	up := git("100644 blob "+blob+"\tescaped\n", "mktree")
	whole := git("040000 tree "+tree+"\ta\n100755 blob "+blob+"\tab\n", "mktree")
	for _, c := range []struct {
		tree, at string
		files    string
		fails    bool
	}{
		{whole, "a", "a/b", false}, {whole, ".", "a/b ab", false}, {whole, "a/b", "a/b", false}, {whole, "none", "", false}, {whole, "a/link", "", false},
		{git("040000 tree "+up+"\t..\n", "mktree"), ".", "", true},
		{git("100644 blob "+strings.Repeat("1", 40)+"\tlost\n", "mktree", "--missing"), ".", "", true},
	} {
		r, err := Open(t.Context(), dir, git("", "commit-tree", "-m", "one", c.tree))
		if err != nil {
			t.Fatal(err)
		}
		parent := t.TempDir()
		to := filepath.Join(parent, "to")
		if err := os.Mkdir(to, 0o777); err != nil {
			t.Fatal(err)
		}
		some, err := r.Extract(to, c.at)
		if (err != nil) != c.fails || !c.fails && some != (c.files != "") {
			t.Errorf("%s: %v, %v", c.at, some, err)
		}
		for name := range strings.FieldsSeq(c.files) {
			if text, err := os.ReadFile(filepath.Join(to, name)); err != nil || string(text) != "text\r\n" {
				t.Errorf("%s: %q, %v", name, text, err)
			}
		}
		var found []string
		_ = filepath.WalkDir(parent, func(path string, e os.DirEntry, err error) error {
			if err == nil && !e.IsDir() {
				rel, _ := filepath.Rel(to, path)
				found = append(found, filepath.ToSlash(rel))
			}
			return err
		})
		if got := strings.Join(found, " "); got != c.files {
			t.Errorf("%s: wrote %q", c.at, got)
		}
	}
}

// TestTracked: what git tracks is copied as it is in the work tree, with the logs of
// databases; of the rest, what can be a part of a store is counted.
func TestTracked(t *testing.T) {
	dir, git := repository(t)
	for _, name := range []string{"a/x.jsonl", "a/deep/s.db", "arch/manifest.json", "arch/rows.txt", "gone.jsonl", "top.jsonl"} {
		put(t, dir, name)
	}
	git("", "add", ".")
	for _, name := range []string{"a/deep/s.db-wal", "a/s.db-wal", "a/notes.md", "a/y.jsonl", "arch/more.txt", "b/manifest.json", "node_modules/z.jsonl", "inside/.git", "inside/z.jsonl"} {
		put(t, dir, name)
	}
	if err := os.Remove(filepath.Join(dir, "gone.jsonl")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		at                 string
		files              string
		untracked, modules int
	}{
		{".", "a/deep/s.db a/deep/s.db-wal a/x.jsonl arch/manifest.json arch/rows.txt top.jsonl", 3, 1},
		{"a", "a/deep/s.db a/deep/s.db-wal a/x.jsonl", 1, 0}, {"top.jsonl", "top.jsonl", 0, 0}, {"gone.jsonl", "", 0, 0}, {"inside", "", 0, 1}, {"none", "", 0, 0},
	} {
		r, err := Index(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		var got Tracked
		if err := r.Tracked(c.at, &got); err != nil || strings.Join(got.Files, " ") != c.files || got.Untracked != c.untracked || got.Modules != c.modules {
			t.Errorf("%s: %+v, %v", c.at, got, err)
		}
		to := t.TempDir()
		if err := r.Copy(to, got.Files); err != nil {
			t.Error(err)
		}
		for _, name := range got.Files {
			if text, err := os.ReadFile(filepath.Join(to, name)); err != nil || string(text) != name {
				t.Errorf("%s: %q, %v", name, text, err)
			}
		}
	}
}

// put writes a file with its name as text.
func put(t *testing.T, dir, name string) {
	t.Helper()
	at := filepath.Join(dir, filepath.FromSlash(name))
	if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o777), os.WriteFile(at, []byte(name), 0o666)); err != nil {
		t.Fatal(err)
	}
}

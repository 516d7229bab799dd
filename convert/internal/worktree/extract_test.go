package worktree

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestExtract: files are written as the commit has them, links are left out, and no name
// leads out of the folder.
func TestExtract(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	git := func(stdin string, args ...string) string {
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

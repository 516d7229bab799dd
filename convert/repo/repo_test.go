package repo_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rehome/convert/repo"
	"rehome/formats/all"
)

const session = `{"type":"session","version":1,"id":"1","agent":"cursor-cli"}` + "\n"

// repository is a repository with files, all of them staged.
func repository(t *testing.T, files ...string) (dir string, git func(args ...string) string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	git = func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@b.invalid"}, args...)...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %q: %v: %s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	git("init", "-q")
	for _, name := range files {
		text := session
		if strings.HasSuffix(name, ".txt") {
			text = "words\n"
		}
		at := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o777), os.WriteFile(at, []byte(text), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	git("add", ".")
	return dir, git
}

func changes(list []repo.Change, err error) string {
	var out []string
	for _, c := range list {
		out = append(out, c.Change+" "+c.Place+" "+c.Text)
	}
	if err != nil {
		out = append(out, "error "+err.Error())
	}
	return strings.Join(out, "\n")
}

// TestPatterns: attributes name what holds sessions, however its path is spelled.
func TestPatterns(t *testing.T) {
	dir, git := repository(t, "a/b/x.jsonl", "a b/[c]*.jsonl", "top.jsonl", "other/notes.txt")
	r, err := repo.Open(t.Context(), filepath.Join(dir, "a"))
	if err != nil {
		t.Fatal(err)
	}
	got := changes(r.Setup(all.Registry(), nil, "rehome", false))
	want := "added diff.rehome.textconv rehome git textconv --\nadded merge.rehome.name sessions of coding agents\nadded merge.rehome.driver rehome git merge-driver -- %O %A %B %P\nadded merge.rehome.recursive binary\n" +
		"added .gitattributes \"/a b/**/*.jsonl\" diff=rehome\n\"/a b/**/*.jsonl\" merge=rehome\n/a/**/*.jsonl diff=rehome\n/a/**/*.jsonl merge=rehome\n/top.jsonl diff=rehome\n/top.jsonl merge=rehome\n" +
		"added .git/hooks/pre-commit rehome git pre-commit\nadded .git/hooks/pre-merge-commit rehome git pre-commit"
	if got != want {
		t.Errorf("%s", got)
	}
	for name, value := range map[string]string{"a/b/x.jsonl": "rehome", "a b/[c]*.jsonl": "rehome", "top.jsonl": "rehome", "other/notes.txt": "unspecified"} {
		if out := git("check-attr", "diff", "--", name); !strings.HasSuffix(out, ": diff: "+value) {
			t.Errorf("%s", out)
		}
	}
	if got := changes(r.Setup(all.Registry(), []string{filepath.Join(dir, "top.jsonl")}, "rehome", false)); got != "" {
		t.Errorf("the second time: %s", got)
	}
	if got := changes(r.Unset(true)); strings.Count(got, "removed ") != 7 {
		t.Errorf("%s", got)
	}
	if got := changes(r.Unset(false)); strings.Count(got, "removed ") != 7 {
		t.Errorf("%s", got)
	}
	if got := changes(r.Unset(false)); got != "" {
		t.Errorf("the second time: %s", got)
	}
	if _, err := os.Stat(filepath.Join(dir, ".gitattributes")); err == nil {
		t.Error(".gitattributes is left")
	}
}

// TestStaged: the stores with staged changes are checked out to a private folder, as they
// are staged.
func TestStaged(t *testing.T) {
	dir, git := repository(t, "a/x.jsonl", "same.jsonl", "arch/manifest.json", "arch/rows.ndjson", "arch/other.json", "arch/.rehomeignore", "arch/deep/z.jsonl", "nd/runs.ndjson", "go.mod", ".rehomeignore", "b/y.jsonl", "b/y.jsonl.sidecar.ndjson", "arch.sidecar.ndjson")
	git("commit", "-qm", "one")
	r, err := repo.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if d, paths, err := r.Staged(all.Registry()); d != nil || paths != nil || err != nil {
		t.Errorf("nothing is staged: %q, %v", paths, err)
	}
	for _, name := range []string{"a/x.jsonl", "arch/other.json", "arch/deep/z.jsonl", "nd/runs.ndjson", "go.mod", "b/y.jsonl.sidecar.ndjson", "arch.sidecar.ndjson"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("staged"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	git("add", ".")
	if err := os.WriteFile(filepath.Join(dir, "a/x.jsonl"), []byte("not staged"), 0o666); err != nil {
		t.Fatal(err)
	}
	d, paths, err := r.Staged(all.Registry())
	if err != nil || !slices.Equal(paths, []string{"a/x.jsonl", "arch", "b/y.jsonl", "nd"}) {
		t.Fatalf("%q, %v", paths, err)
	}
	for name, want := range map[string]string{"a/x.jsonl": "staged", "arch/rows.ndjson": session, ".rehomeignore": session, "b/y.jsonl": session, "b/y.jsonl.sidecar.ndjson": "staged", "arch.sidecar.ndjson": "staged", "nd/runs.ndjson": "staged"} {
		if text, err := os.ReadFile(filepath.Join(d.Path, name)); err != nil || string(text) != want {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
	if err := d.Remove(); err != nil {
		t.Error(err)
	}
	git("reset", "-q", "--hard")
	for _, step := range []struct{ remove, want string }{{"a/x.jsonl", ""}, {"arch/rows.ndjson", "arch"}} {
		git("rm", "-q", step.remove)
		d, paths, err := r.Staged(all.Registry())
		if got := strings.Join(paths, " "); err != nil || got != step.want || (d != nil) != (got != "") {
			t.Errorf("%s is removed: %q, %v", step.remove, got, err)
		}
		if err := d.Remove(); err != nil {
			t.Error(err)
		}
	}
}

// TestSetupAgrees: a folder of text gets the same lines, named or found.
func TestSetupAgrees(t *testing.T) {
	dir, _ := repository(t, "other/notes.txt")
	agents := filepath.Join(dir, "agents")
	if err := os.CopyFS(agents, os.DirFS("../../testdata/sdk/gen/jsonl")); err != nil {
		t.Fatal(err)
	}
	r, err := repo.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	found, named := changes(r.Setup(all.Registry(), nil, "rehome", true)), changes(r.Setup(all.Registry(), []string{agents}, "rehome", true))
	if found != named || !strings.Contains(found, "/agents/** diff=rehome\n/agents/** merge=rehome\n") {
		t.Errorf("found:\n%s\nnamed:\n%s", found, named)
	}
}

package worktree

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestRevision: files are read as the commit has them, up to a limit, and nothing that
// the repository configures is run.
func TestRevision(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	ran := filepath.Join(t.TempDir(), "ran")
	for _, args := range [][]string{
		{"init", "-q"}, {"config", "core.fsmonitor", "touch " + ran}, {"config", "filter.x.smudge", "touch " + ran}, {"config", "diff.x.textconv", "touch " + ran},
		{"add", "a/b", ".gitattributes"}, {"-c", "user.name=a", "-c", "user.email=a@b.invalid", "commit", "-qm", "one"}, {"tag", "one"},
	} {
		if args[0] == "add" {
			for name, text := range map[string]string{"a/b": strings.Repeat("x", 100_000), ".gitattributes": "* filter=x diff=x\n"} {
				at := filepath.Join(dir, filepath.FromSlash(name))
				if err := os.MkdirAll(filepath.Dir(at), 0o777); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(at, []byte(text), 0o666); err != nil {
					t.Fatal(err)
				}
			}
		}
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v: %s", args, err, out)
		}
	}
	_ = os.Remove(ran)
	file := filepath.Join(dir, "a", "b")
	if err := os.WriteFile(file, []byte("changed"), 0o666); err != nil {
		t.Fatal(err)
	}
	if top := Top(filepath.Join(dir, "a")); top != dir {
		t.Errorf("the root is %q", top)
	}
	r, err := Open(t.Context(), dir, "one")
	if err != nil {
		t.Fatal(err)
	}
	if text, err := r.Read(file, 100_000); err != nil || string(text) != strings.Repeat("x", 100_000) {
		t.Errorf("%v, %d bytes", err, len(text))
	}
	if text, err := r.Read(file, 99_999); err == nil {
		t.Errorf("%d bytes are read beyond the limit", len(text))
	}
	if text, err := r.Read(filepath.Join(dir, "none"), 1); text != nil || err != nil {
		t.Errorf("a file that is missing: %q, %v", text, err)
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("a program of the repository's configuration ran")
	}
}

// TestAddRunsNothing: what the configuration names does not run when files are staged, and
// they are staged as they are.
func TestAddRunsNothing(t *testing.T) {
	dir, git := repository(t)
	ran := filepath.ToSlash(filepath.Join(t.TempDir(), "ran"))
	for name, value := range map[string]string{
		"core.fsmonitor": "touch " + ran, "filter.a=b.clean": "touch " + ran + "; cat", "filter.a=b.required": "true", "filter.p.process": "touch " + ran,
	} {
		git("", "config", name, value)
	}
	for name, text := range map[string]string{".gitattributes": "a filter=a=b\nb filter=p\n", "a": "one\n", "b": "two\n", ".git/hooks/post-index-change": "#!/bin/sh\ntouch " + ran + "\n"} {
		if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(name)), []byte(text), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	names := []string{"a", "b"}
	ids, err := Blobs(t.Context(), dir, names)
	if err == nil {
		err = Add(t.Context(), dir, names...)
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("a program of the repository's configuration ran")
	}
	for i, want := range []string{"one", "two"} {
		if got := git("", "cat-file", "blob", ids[i]); got != want {
			t.Errorf("%s: staged %q, want %q", names[i], got, want)
		}
	}
}

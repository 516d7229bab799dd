package faults

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// conflict makes a folder a work tree of git, in which a merge has stopped at a file.
func conflict(dir, name string) error {
	git := func(in string, args ...string) (string, error) {
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@b.invalid"}, args...)...)
		cmd.Stdin = strings.NewReader(in)
		out, err := cmd.CombinedOutput()
		if err != nil {
			err = fmt.Errorf("git %v: %w: %s", args, err, out)
		}
		return strings.TrimSpace(string(out)), err
	}
	if _, err := git("", "init", "-q"); err != nil {
		return err
	}
	id, err := git("", "hash-object", "-w", "--", name)
	if err != nil {
		return err
	}
	entries := ""
	for stage := 1; stage <= 3; stage++ {
		entries += fmt.Sprintf("100644 %s %d\t%s\n", id, stage, name)
	}
	if _, err := git(entries, "update-index", "--index-info"); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, ".git", "MERGE_HEAD"), []byte(strings.Repeat("0", len(id))+"\n"), 0o666)
}

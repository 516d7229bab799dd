package worktree

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
)

// Find returns the root of the work tree that holds a resolved path, "" if none does. It
// is an error if the environment names another repository, or another work tree: a hook
// of the same one may run this.
func Find(path string) (top string, err error) {
	top = Top(path)
	for _, one := range [][2]string{{"GIT_DIR", gitDir(top)}, {"GIT_WORK_TREE", top}} {
		name, named := one[0], os.Getenv(one[0])
		if named == "" {
			continue
		}
		a, aerr := os.Stat(named)
		b, berr := os.Stat(one[1])
		if top == "" || aerr != nil || berr != nil || !os.SameFile(a, b) {
			return "", errors.New(name + " names a repository or a work tree elsewhere")
		}
	}
	return top, nil
}

// gitDir returns the folder of the repository that a work tree names: .git, or the
// one in its text.
func gitDir(top string) string {
	at := filepath.Join(top, ".git")
	text, err := os.ReadFile(at)
	dir, ok := strings.CutPrefix(string(text), "gitdir: ")
	if err != nil || !ok {
		return at
	}
	if dir = strings.TrimSpace(dir); !filepath.IsAbs(dir) {
		dir = filepath.Join(top, dir)
	}
	return dir
}

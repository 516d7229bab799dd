package worktree

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"rehome/internal/fsx"
)

// Tracked are the files of a folder that git tracks.
type Tracked struct {
	Files     []string // slash paths below the root of the work tree
	Untracked int      // files that git does not track, and that can be parts of stores
	Modules   int      // submodules, and other work trees inside of this one
}

// Tracked adds what git tracks at and below a slash path, as it is in the work tree, and
// the logs of databases among it.
func (r *Revision) Tracked(at string, t *Tracked) error {
	return fs.WalkDir(os.DirFS(r.top), at, func(name string, e fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist) && name == at:
			return nil
		case err != nil:
			return err
		case e.IsDir() && (path.Base(name) == ".git" || path.Base(name) == "node_modules"):
			return fs.SkipDir
		case e.IsDir():
			if _, err := os.Lstat(filepath.Join(r.top, filepath.FromSlash(name), ".git")); err == nil && name != "." {
				t.Modules++
				return fs.SkipDir
			}
		case !e.Type().IsRegular():
		case r.ids[name] != "" || r.isLog(name):
			t.Files = append(t.Files, name)
		case r.Store(name) != "" || slices.Contains(markers[:], path.Base(name)):
			t.Untracked++
		}
		return nil
	})
}

// isLog reports whether a file is a log of a database that git tracks.
func (r *Revision) isLog(name string) bool {
	return slices.ContainsFunc([]string{"-wal", "-journal"}, func(end string) bool {
		of, ok := strings.CutSuffix(name, end)
		return ok && r.ids[of] != ""
	})
}

// Copy copies files of the work tree to the same paths below a folder.
func (r *Revision) Copy(dir string, files []string) error {
	for _, name := range files {
		if err := r.ctx.Err(); err != nil {
			return err
		}
		to := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			return err
		}
		if err := fsx.Copy(filepath.Join(r.top, filepath.FromSlash(name)), to, 0o600); err != nil {
			return err
		}
	}
	return nil
}

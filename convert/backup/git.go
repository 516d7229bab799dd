package backup

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"rehome/convert/internal/stage"
	"rehome/formats"
)

// placeInGit updates the folder in a git work tree: archives are up to date already,
// the files follow one by one, and the index is last. It is the same for the same
// content, whatever the time and the version of rehome.
func (r *run) placeInGit(ctx context.Context, ix *Index, changed bool) error {
	if !changed {
		return nil
	}
	if err := stage.SyncTree(r.tree); err != nil {
		return err
	}
	for i := range ix.Stores {
		if err := ctx.Err(); err != nil {
			return err
		}
		if s := &ix.Stores[i]; s.Kind == filesKind && s.Text != "" {
			if err := r.replaceFiles(s); err != nil {
				return err
			}
		}
	}
	if err := r.removeDropped(ix); err != nil {
		return err
	}
	ix.Time, ix.Program = "", ""
	if err := ix.write(r.tree); err != nil {
		return err
	}
	return r.replace(filepath.Join(r.tree, IndexName), filepath.Join(r.dir, IndexName))
}

// inPlace reports whether the folder itself is updated, and not a snapshot made.
func (r *run) inPlace() bool { return r.rep.Git && !r.o.DryRun }

// removeDropped removes the stores that are no longer in the index.
func (r *run) removeDropped(ix *Index) error {
	if r.prev == nil {
		return nil
	}
	root, err := os.OpenRoot(r.dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, old := range r.prev.Stores {
		if old.Text != "" && ix.find(old.Client, old.Path) == nil {
			err = errors.Join(err, root.RemoveAll(old.Text), root.RemoveAll(old.Text+formats.SidecarSuffix))
		}
	}
	return err
}

// replaceFiles moves the new files of a store to the work tree, and removes those
// that the store no longer lists.
func (r *run) replaceFiles(s *Store) error {
	if err := checkFolders(r.dir, s.Text); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	text, listed, saved := filepath.FromSlash(s.Text), map[string]bool{}, map[string]string{}
	old := r.prev.find(s.Client, s.Path)
	if old != nil {
		for _, f := range old.List {
			saved[f.Path] = f.Digest
		}
	}
	for _, f := range s.List {
		listed[f.Path] = true
		from, to := filepath.Join(r.tree, text, filepath.FromSlash(f.Path)), filepath.Join(r.dir, text, filepath.FromSlash(f.Path))
		if !exists(from) {
			continue
		}
		if there, err := fileDigest(to); err == nil && there != saved[f.Path] && there != f.Digest {
			return &formats.Error{At: to, Err: errors.New("edited since the last backup"), Hint: "commit your version under another name, and remove this file"}
		}
		if err := r.replace(from, to); err != nil {
			return err
		}
	}
	for path := range saved {
		if !listed[path] {
			if err := os.Remove(filepath.Join(r.dir, text, filepath.FromSlash(path))); err != nil && !errors.Is(err, os.ErrNotExist) {
				return err
			}
		}
	}
	return nil
}

// replace moves a file over the one of the last run.
func (r *run) replace(from, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
		return err
	}
	if err := os.Rename(from, to); err != nil {
		return &formats.Error{At: to, Err: formats.Cause(err)}
	}
	return stage.SyncFolder(filepath.Dir(to))
}

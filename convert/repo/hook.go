package repo

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"rehome/convert/internal/stage"
	"rehome/convert/internal/worktree"
	"rehome/formats"
	"rehome/internal/scratch"
	"rehome/internal/shell"
)

// hooks are the names of the hooks. git runs the second one, and not the first, before it
// commits a merge without conflicts.
var hooks = [...]string{"pre-commit", "pre-merge-commit"}

// hook is a hook of the repository.
type hook struct {
	path, text string
	other      bool // it is where the configuration says, which other repositories can share
}

func (r *Repo) hook(name string) (h hook, err error) {
	dir, other, err := worktree.Hooks(r.ctx, r.top)
	if err != nil {
		return h, err
	}
	h = hook{path: filepath.Join(dir, name), other: other}
	b, err := os.ReadFile(h.path)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	h.text = string(b)
	return h, err
}

func (r *Repo) shown(path string) string {
	if rel, err := filepath.Rel(r.top, path); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return path
}

func (r *Repo) addHooks(command string, dry bool) (out []Change, err error) {
	for _, name := range hooks {
		list, err := r.addHook(name, command, dry)
		if out = append(out, list...); err != nil {
			return out, err
		}
	}
	return out, nil
}

func (r *Repo) addHook(name, command string, dry bool) ([]Change, error) {
	h, err := r.hook(name)
	text, ours := "#!/bin/sh\n"+hookMark+"\nexec "+command+"\n", strings.Contains(h.text, hookMark)
	add := "; add this line to it: " + command + " || exit"
	switch {
	case err != nil || h.text == text || strings.Contains(h.text, " git pre-commit") && !ours:
		return nil, err
	case h.other:
		return []Change{{r.shown(h.path), Left, "core.hooksPath is set" + add}}, nil
	case h.text != "" && !ours:
		return []Change{{r.shown(h.path), Left, "there is a hook already" + add}}, nil
	case !dry:
		if err = os.MkdirAll(filepath.Dir(h.path), 0o777); err == nil {
			err = stage.Overwrite(h.path, []byte(text), 0o777)
		}
	}
	return []Change{{r.shown(h.path), Added, command}}, err
}

func (r *Repo) removeHooks(dry bool) (out []Change, err error) {
	for _, name := range hooks {
		list, err := r.removeHook(name, dry)
		if out = append(out, list...); err != nil {
			return out, err
		}
	}
	return out, nil
}

func (r *Repo) removeHook(name string, dry bool) ([]Change, error) {
	h, err := r.hook(name)
	lines := strings.Split(h.text, "\n")
	if err != nil || !strings.Contains(h.text, hookMark) {
		return nil, err
	}
	if len(lines) != 4 {
		return []Change{{r.shown(h.path), Left, "it was edited; remove the line that runs rehome"}}, nil
	}
	if !dry {
		err = os.Remove(h.path)
	}
	return []Change{{r.shown(h.path), Removed, strings.TrimPrefix(lines[2], "exec ")}}, err
}

// Staged writes the sessions that are to be committed to a temporary folder, and returns
// it with their paths below it. Files that did not change are left out, except those of
// a store that did, also by the removal of a file. The folder is nil if there is nothing to check.
func (r *Repo) Staged(reg *formats.Registry) (dir *scratch.Dir, paths []string, err error) {
	index, err := worktree.Index(r.ctx, r.top)
	if err != nil {
		return nil, nil, err
	}
	head := worktree.List(r.ctx, r.top)
	if err := r.lost(reg, index.Lost(head)); err != nil {
		return nil, nil, err
	}
	stores := map[string]bool{}
	for _, name := range index.Changed(head) {
		at, beside := strings.CutSuffix(name, formats.SidecarSuffix)
		if store := index.Store(at); store != "" || !beside {
			at = store
		}
		if at != "" {
			stores[at] = true
		}
	}
	within := func(p string) bool { return worktree.Within(stores, p) } // another one
	paths = slices.DeleteFunc(slices.Sorted(maps.Keys(stores)), within)
	if len(paths) == 0 {
		return nil, nil, nil
	}
	if dir, err = scratch.New("", "staged"); err != nil {
		return nil, nil, err
	}
	files := slices.DeleteFunc(index.Ignores(), within)
	for _, p := range paths {
		files = append(files, p, p+formats.SidecarSuffix)
	}
	if _, err = index.Extract(dir.Path, files...); err != nil {
		return nil, nil, errors.Join(err, dir.Remove())
	}
	paths = slices.DeleteFunc(paths, func(p string) bool { // a store that was removed
		_, err := os.Lstat(filepath.Join(dir.Path, filepath.FromSlash(p)))
		return err != nil
	})
	if len(paths) == 0 {
		return nil, nil, dir.Remove()
	}
	return dir, paths, nil
}

// IsStore reports whether some format recognizes a path.
func (r *Repo) IsStore(reg *formats.Registry, path string) bool {
	l, err := formats.Locate(path)
	if err != nil {
		return false
	}
	found, err := reg.Detect(r.ctx, l)
	return err == nil && len(found) > 0
}

// lost returns an error for each file without which the rest of its folder is no longer
// recognized as the store that it is in the current commit.
func (r *Repo) lost(reg *formats.Registry, names []string) error {
	if len(names) == 0 {
		return nil
	}
	head, err := worktree.Open(r.ctx, r.top, "HEAD")
	if err != nil {
		return err
	}
	dir, err := scratch.New("", "staged")
	if err != nil {
		return err
	}
	var folders []string
	for _, name := range names {
		folders = append(folders, path.Dir(name))
	}
	_, err = head.Extract(dir.Path, folders...)
	for _, name := range names {
		if r.IsStore(reg, filepath.Join(dir.Path, filepath.FromSlash(path.Dir(name)))) {
			err = errors.Join(err, &formats.Error{At: name, Err: errors.New("removed, but not the rest of its store"), Hint: "remove the folder " + path.Dir(name) + ", or restore the file: " + shell.Command("git", "restore", "--staged", "--worktree", "--", name)})
		}
	}
	return errors.Join(err, dir.Remove())
}

package backup

import (
	"context"
	"errors"
	"os"
	"path"
	"path/filepath"
	"time"

	"rehome/convert/internal/filetx"
	"rehome/convert/internal/stage"
	"rehome/convert/internal/undo"
	"rehome/formats"
	"rehome/internal/fsx"
)

// restoreFiles restores the files of a store one by one, each unless something newer
// is there. All are copied and verified before the first gets its name.
func (r *restore) restoreFiles(ctx context.Context, f *formats.Format, root string, c *choice, out *RestoredStore) error {
	out.Files = map[string]int{}
	var todo []File
	for _, one := range c.files {
		if err := ctx.Err(); err != nil {
			return err
		}
		state, err := r.compareFile(c, one)
		if err != nil {
			return err
		}
		if (state == Recovered || state == Older) && root != "" && !f.Home.IsSessionFile(root, below(root, c, one)) {
			if out.Settings = append(out.Settings, one.Path); !r.o.WithSettings {
				continue
			}
		}
		switch state {
		case Recovered:
			todo = append(todo, one)
		case Older, Newer:
			out.Changed = append(out.Changed, one.Path)
		}
		out.Files[state]++
	}
	out.Status = Unchanged
	for _, s := range []string{Newer, Recovered, Older} { // the last counts
		if out.Files[s] > 0 {
			out.Status = s
		}
	}
	if r.o.DryRun || len(todo) == 0 {
		return nil
	}
	return r.copyFiles(ctx, f, c, todo)
}

// compareFile returns what is to happen to a file. A dry run verifies it in the
// snapshot, too; otherwise that is done when it is copied.
func (r *restore) compareFile(c *choice, one File) (string, error) {
	src, dst := r.source(c, one), filepath.Join(c.dest, filepath.FromSlash(one.Path))
	if err := checkFolders(r.snap.Dir, path.Dir(c.store.Text+"/"+one.Path)); err != nil {
		return "", err
	}
	if info, err := os.Lstat(src); err != nil {
		return "", &formats.Error{At: src, Err: formats.Cause(err), Hint: damagedHint}
	} else if !info.Mode().IsRegular() {
		return "", &formats.Error{At: src, Err: errors.New("not a regular file"), Hint: damagedHint}
	}
	if r.o.DryRun {
		if digest, err := fileDigest(src); err != nil || digest != one.Digest {
			return "", errors.Join(err, differs(src))
		}
	}
	info, err := os.Stat(dst)
	if err != nil {
		return Recovered, nil
	}
	digest := ""
	if info.Mode().IsRegular() && info.Size() == one.Bytes {
		digest, err = fileDigest(dst)
	}
	switch {
	case err != nil:
		return "", err
	case digest == one.Digest:
		return Unchanged, nil
	case info.ModTime().UnixMilli() > one.Modified:
		return Newer, nil
	case r.o.Replace:
		return Recovered, nil
	}
	return Older, nil
}

func (r *restore) source(c *choice, one File) string {
	return filepath.Join(r.snap.Dir, filepath.FromSlash(c.store.Text), filepath.FromSlash(one.Path))
}

// below returns the slash path of a file below a folder that it goes to.
func below(root string, c *choice, one File) string {
	rel, err := filepath.Rel(root, filepath.Join(c.dest, filepath.FromSlash(one.Path)))
	if err != nil {
		return ""
	}
	return filepath.ToSlash(rel)
}

func differs(at string) error {
	return &formats.Error{At: at, Err: errors.New("differs from what was saved"), Hint: damagedHint}
}

// stage makes the folder in which a store is staged, next to where it belongs.
func (r *restore) stage(c *choice) (*stage.Folder, error) {
	dest, err := stage.Resolve(c.dest)
	if err != nil {
		return nil, err
	}
	return stage.New(dest)
}

// sweep removes what killed runs left of any store of the snapshot, even one that needs
// no restoring now.
func (r *restore) sweep() {
	if r.o.DryRun {
		return
	}
	var all []stage.Target
	for i := range r.snap.Index.Stores {
		if dest, err := stage.Resolve(r.dest(&r.snap.Index.Stores[i])); err == nil {
			all = append(all, dest)
		}
	}
	stage.Sweep(r.say, all...)
}

// copyFiles copies files next to their store, and then gives them their names.
func (r *restore) copyFiles(ctx context.Context, f *formats.Format, c *choice, todo []File) error {
	private, err := r.stage(c)
	if err != nil {
		return err
	}
	defer private.Remove()
	for _, one := range todo {
		src, dst := r.source(c, one), filepath.Join(private.Tree, filepath.FromSlash(one.Path))
		if err := errors.Join(ctx.Err(), os.MkdirAll(filepath.Dir(dst), 0o700)); err != nil {
			return err
		}
		info, digest, err := copyStable(src, dst)
		if err == nil && digest != one.Digest {
			err = differs(src)
		}
		if err == nil {
			err = os.Chtimes(dst, time.Time{}, f.Home.ShownTime(info.ModTime(), time.Now()))
		}
		if err != nil {
			return err
		}
	}
	if err := stage.SyncTree(private.Tree); err != nil {
		return err
	}
	tx := &filetx.Tx{Synced: true}
	for _, one := range todo {
		if err = ctx.Err(); err == nil {
			name := filepath.FromSlash(one.Path)
			err = placeFile(tx, filepath.Join(private.Tree, name), filepath.Join(c.dest, name))
		}
		if err != nil {
			break
		}
	}
	return errors.Join(err, tx.End(nil))
}

// placeFile gives a file its name. What has it already is older, and kept.
func placeFile(tx *filetx.Tx, from, to string) error {
	m := &stage.Renames{Rename: fsx.Move}
	t, err := stage.Resolve(to)
	if err == nil && t.Exists() {
		_, err = m.Backup(t)
	}
	if err == nil {
		err = tx.Do([]*filetx.Step{{File: undo.File{Path: to}, Staged: from}})
	}
	if err != nil {
		return errors.Join(err, m.Undo())
	}
	return nil
}

package backup

import (
	"context"
	"errors"
	"os"
	"path"
	"path/filepath"
	"time"

	"rehome/convert/internal/stage"
	"rehome/formats"
)

// restoreFiles restores the files of a store one by one, each unless something newer
// is there. All are copied and verified before the first gets its name.
func (r *restore) restoreFiles(ctx context.Context, f *formats.Format, c *choice, out *RestoredStore) error {
	dest, err := stage.Resolve(c.dest)
	if err != nil {
		return err
	}
	var private *stage.Folder
	if r.o.DryRun {
		private, err = stage.NewDryRun(dest)
	} else {
		stage.Sweep(dest, r.say)
		private, err = stage.New(dest)
	}
	if err != nil {
		return err
	}
	defer private.Remove()
	out.Files = map[string]int{}
	var todo []File
	for _, one := range c.files {
		if err := ctx.Err(); err != nil {
			return err
		}
		state, err := r.stageFile(f, c, one, private.Tree)
		if err != nil {
			return err
		}
		if state == Older && r.o.Replace {
			state = Recovered
		}
		switch state {
		case Recovered:
			todo = append(todo, one)
		case Older, Newer:
			out.Changed = append(out.Changed, one.Path)
		}
		out.Files[state]++
	}
	for _, s := range []string{Older, Recovered, Newer, Unchanged} { // the first counts
		if out.Status == "" && out.Files[s] > 0 {
			out.Status = s
		}
	}
	if out.Status == "" {
		out.Status = Unchanged
	}
	if r.o.DryRun || len(todo) == 0 {
		return nil
	}
	if err := stage.SyncTree(private.Tree); err != nil {
		return err
	}
	for _, one := range todo {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := r.placeFile(filepath.Join(private.Tree, filepath.FromSlash(one.Path)), filepath.Join(c.dest, filepath.FromSlash(one.Path))); err != nil {
			return err
		}
	}
	return nil
}

// stageFile compares a file with the one that exists, and copies it if it may be
// needed.
func (r *restore) stageFile(f *formats.Format, c *choice, one File, tree string) (string, error) {
	src := filepath.Join(r.snap.Dir, filepath.FromSlash(c.store.Text), filepath.FromSlash(one.Path))
	if err := checkFolders(r.snap.Dir, path.Dir(c.store.Text+"/"+one.Path)); err != nil {
		return "", err
	}
	if info, err := os.Lstat(src); err != nil {
		return "", &formats.Error{At: src, Err: formats.Cause(err), Hint: damagedHint}
	} else if !info.Mode().IsRegular() {
		return "", &formats.Error{At: src, Err: errors.New("not a regular file"), Hint: damagedHint}
	}
	state := Recovered
	if info, err := os.Stat(filepath.Join(c.dest, filepath.FromSlash(one.Path))); err == nil {
		digest := ""
		if info.Mode().IsRegular() && info.Size() == one.Bytes {
			digest, err = fileDigest(filepath.Join(c.dest, filepath.FromSlash(one.Path)))
		}
		switch {
		case err != nil:
			return "", err
		case digest == one.Digest:
			return Unchanged, nil
		case info.ModTime().UnixMilli() > one.Modified:
			return Newer, nil
		}
		state = Older
	}
	dst := filepath.Join(tree, filepath.FromSlash(one.Path))
	if err := os.MkdirAll(filepath.Dir(dst), 0o700); err != nil {
		return "", err
	}
	info, digest, err := copyStable(src, dst)
	if err != nil {
		return "", err
	}
	if digest != one.Digest {
		return "", &formats.Error{At: src, Err: errors.New("differs from what was saved"), Hint: damagedHint}
	}
	return state, os.Chtimes(dst, time.Time{}, f.Home.ShownTime(info.ModTime(), time.Now()))
}

// placeFile gives a file its name. What has it already is older, and kept.
func (r *restore) placeFile(from, to string) error {
	if t, err := stage.Resolve(to); err != nil {
		return err
	} else if t.Exists() {
		kept, err := t.Backup()
		if err != nil {
			return err
		}
		if err := stage.Move(t.Path(), kept.Path()); err != nil {
			return &formats.Error{At: to, Op: "back up", Err: formats.Cause(err)}
		}
	}
	return place(from, to)
}

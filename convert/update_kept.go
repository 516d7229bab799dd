package convert

import (
	"context"
	"errors"
	"os"
	"path"
	"path/filepath"

	"rehome/formats"
	"rehome/formats/loss"
	"rehome/internal/fsx"
)

// verifyKept reads the staged text of a store together with the files that are kept: it
// has to be valid as a whole. Kept files of an earlier layout are brought to the present
// one first.
func (c *storeChanges) verifyKept(ctx context.Context) error {
	var kept []string
	for _, f := range c.files {
		if f.Change == Kept {
			kept = append(kept, c.above(f.Path))
		}
	}
	if len(kept) == 0 || c.rep.Lane == SessionConversion {
		return nil
	}
	for _, name := range kept {
		if err := c.stageCopy(c.currentPath(name), name); err != nil {
			return err
		}
	}
	root := path.Join(c.base, c.store)
	err := c.readAgain(ctx, root)
	if err == nil || ctx.Err() != nil {
		return err
	}
	old, e := c.renew(ctx, root)
	if e == nil {
		e = c.takeKept(old, root, kept)
	}
	if e == nil {
		e = c.readAgain(ctx, root)
	}
	if e == nil {
		e = c.editedError()
	}
	if e == nil || ctx.Err() != nil || len(c.edited) > 0 {
		return e
	}
	err = formats.ReplacePath(err, c.stagedPath(root), filepath.Join(c.dest.Display, c.store))
	return &formats.Error{Op: "keep what is no longer in the source", Err: err, Hint: "pass --delete to remove what an earlier update wrote, or move the file out of DST"}
}

// stageCopy gives a file a name in the staged tree, so that it can be read with the rest.
func (c *storeChanges) stageCopy(from, name string) error {
	to := c.stagedPath(name)
	if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
		return err
	}
	if os.Link(from, to) == nil {
		return nil
	}
	return fsx.Copy(from, to, 0o666)
}

// readAgain reads a staged store to its end.
func (c *storeChanges) readAgain(ctx context.Context, root string) (err error) {
	l, err := formats.Locate(c.stagedPath(root))
	if err != nil {
		return err
	}
	r, err := c.to.Records.Open(ctx, l, formats.FullView(1))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	for b, err := range r.Batches(ctx) {
		if err != nil {
			return err
		}
		b.Release()
	}
	return ctx.Err()
}

// renew converts the text of the target to the same format, which writes the present
// layout, and returns where.
func (c *storeChanges) renew(ctx context.Context, root string) (string, error) {
	at := filepath.Join(c.stage.Root, "renewed", filepath.FromSlash(root))
	if err := os.MkdirAll(filepath.Dir(at), 0o777); err != nil {
		return "", err
	}
	o := Options{From: c.to.Name, To: c.to.Name, Allow: loss.Unreadable, Sidecar: "none", WithSecrets: true, Compress: c.opts.Compress, Jobs: c.opts.Jobs}
	_, err := convertWith(ctx, c.reg, c.currentPath(root), at, o, fsx.Move)
	return at, err
}

// takeKept replaces what is kept by what a renewed text has of it: files that the new
// text lacks.
func (c *storeChanges) takeKept(old, root string, kept []string) error {
	files := c.files[:0]
	for _, f := range c.files {
		if f.Change != Kept {
			files = append(files, f)
		}
	}
	c.files = files
	for _, name := range kept {
		if err := os.Remove(c.stagedPath(name)); err != nil {
			return err
		}
	}
	err := filepath.WalkDir(old, func(at string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		rel, err := filepath.Rel(old, at)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		name := path.Join(root, rel)
		if _, err := os.Lstat(c.stagedPath(name)); err == nil || !c.to.Records.Keeps(old, c.stagedPath(root), rel) {
			return nil
		}
		if err := c.stageCopy(at, name); err != nil {
			return err
		}
		return c.compare(name)
	})
	for _, name := range kept {
		if _, staged := c.staged[name]; err != nil || staged {
			continue
		}
		var digest string
		if digest, err = fsx.Digest(c.currentPath(name)); err == nil {
			c.moveAside(name, digest)
			c.add(name, Removed)
		}
	}
	return err
}

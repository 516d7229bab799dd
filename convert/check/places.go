package check

import (
	"context"
	"errors"
	"path/filepath"
	"slices"

	"rehome/convert"
	"rehome/convert/internal/ignore"
	"rehome/convert/internal/walk"
	"rehome/convert/internal/worktree"
	"rehome/formats"
	"rehome/internal/shell"
)

// findAll looks for stores below the paths of the options or, without any, where
// clients keep them.
func (c *checker) findAll(ctx context.Context) error {
	places := c.o.Paths
	if len(places) == 0 {
		places = c.existingHomes()
	}
	for _, place := range places {
		tree, err := c.tree(ctx, place)
		if err != nil {
			return err
		}
		c.find(ctx, place, tree)
	}
	if len(c.o.Paths) == 0 && !slices.ContainsFunc(c.found, func(one *storeCheck) bool { return !one.pathOnly }) {
		machine := &storeCheck{pathOnly: true, store: Store{Path: c.o.Machine.Home}}
		machine.noSessions(c.o.Require)
		c.found = append(c.found, machine)
	}
	return nil
}

// existingHomes returns those of the homes that exist, each once, without those in
// another one.
func (c *checker) existingHomes() (out []string) {
	found, _ := walk.Places(c.reg, c.o.Machine)
	for _, home := range found {
		if !slices.ContainsFunc(found, func(o walk.Place) bool { return o != home && walk.AtOrBelow(home.Real, o.Real) }) {
			out = append(out, home.Path)
		}
	}
	return out
}

// tree returns what decides which paths below a place are skipped. No ignore file
// counts where clients keep their stores, unless the user names the place.
func (c *checker) tree(ctx context.Context, place string) (*ignore.Tree, error) {
	if t := c.trees[place]; t != nil {
		return t, nil
	}
	o := ignore.Options{Exclude: c.o.Exclude, NoFiles: c.o.NoIgnore || len(c.o.Paths) == 0}
	homes, _ := walk.Places(c.reg, c.o.Machine)
	for _, home := range homes {
		o.Homes = append(o.Homes, home.Real)
	}
	if c.o.Base != "" && !o.NoFiles {
		base, err := c.base(ctx, walk.ResolvedPath(place))
		if err != nil {
			return nil, err
		}
		o.Read = func(path string) ([]byte, error) { return base.Read(path, ignore.MaxSize) }
	}
	t, err := ignore.New(place, o)
	if err != nil {
		return nil, convert.Misuse{Err: err}
	}
	if c.trees == nil {
		c.trees = map[string]*ignore.Tree{}
	}
	c.trees[place] = t
	return t, nil
}

// skips reports whether a path was skipped.
func (c *checker) skips(path string) bool {
	for place, tree := range c.trees {
		if abs, err := filepath.Abs(place); err == nil && walk.AtOrBelow(path, abs) && tree.Covers(relPath(abs, path), false) {
			return true
		}
	}
	return false
}

func relPath(dir, path string) string {
	rel, err := filepath.Rel(dir, path)
	if err != nil {
		return "."
	}
	return filepath.ToSlash(rel)
}

// base returns the commit from which the ignore files of a work tree are read.
func (c *checker) base(ctx context.Context, place string) (*worktree.Revision, error) {
	top := worktree.Top(place)
	if base := c.bases[top]; base != nil {
		return base, nil
	}
	base, err := openBase(ctx, place, c.o.Base)
	if err != nil {
		return nil, err
	}
	if c.bases == nil {
		c.bases = map[string]*worktree.Revision{}
	}
	c.bases[top] = base
	return base, nil
}

// openBase opens a commit of the work tree that holds a resolved path.
func openBase(ctx context.Context, place, commit string) (*worktree.Revision, error) {
	refuse := func(err error, hint string) error {
		return convert.Misuse{Err: &formats.Error{At: "--base " + commit, Err: err, Hint: hint}}
	}
	top := worktree.Top(place)
	if top == "" {
		return nil, refuse(errors.New(place+" is not in a git work tree"), "omit --base")
	}
	base, err := worktree.Open(ctx, top, commit)
	if err != nil {
		return nil, refuse(err, "fetch it first: "+shell.Command("git", "fetch", "--depth", "1", "origin", commit))
	}
	return base, nil
}

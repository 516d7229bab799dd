package diff

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"rehome/convert/internal/walk"
	"rehome/convert/internal/worktree"
	"rehome/formats"
	"rehome/internal/scratch"
)

// Commit returns the side of some paths of a work tree as they are in a git commit, or, if
// rev is "", as they are now: the files that git tracks. say receives how many others are
// left out. A path that is not there is left out, too. The function removes what was read;
// it can always be called.
func Commit(ctx context.Context, rev string, paths []string, say func(string)) (s Side, remove func() error, err error) {
	c := &commit{ctx: ctx, rev: rev, say: say}
	remove = func() error { return c.dir.Remove() }
	if strings.HasPrefix(rev, "-") {
		return s, remove, c.fail(errors.New("not a commit"), "name a commit, such as HEAD~1")
	}
	if c.dir, err = scratch.New("", "commit"); err != nil {
		return s, remove, c.fail(err, "")
	}
	rels, err := c.open(paths)
	if err == nil {
		s, err = c.side(rels)
	}
	return s, remove, err
}

// commit reads files of a commit, or of a work tree.
type commit struct {
	ctx   context.Context
	rev   string
	say   func(string)
	dir   *scratch.Dir
	top   string // root of the work tree
	files *worktree.Revision
}

func (c *commit) fail(err error, hint string) error {
	return &formats.Error{At: c.rev, Err: err, Hint: hint}
}

// open finds the work tree of some paths, and returns their slash paths in it. Those that
// are below another one are left out.
func (c *commit) open(paths []string) (rels []string, err error) {
	for _, path := range paths {
		at, err := walk.RealAbove(path)
		if err != nil {
			return nil, c.fail(err, "")
		}
		top, err := worktree.Find(at)
		switch {
		case err != nil:
			return nil, c.fail(err, "unset it")
		case top == "":
			return nil, c.fail(errors.New(path+": not in a git work tree"), "")
		case c.top != "" && c.top != top:
			return nil, c.fail(errors.New(path+": in another git work tree"), "compare one work tree at a time")
		default:
			c.top = top
		}
		rel, err := filepath.Rel(c.top, at)
		if err != nil {
			return nil, c.fail(err, "")
		}
		rels = append(rels, filepath.ToSlash(rel))
	}
	if c.rev == "" {
		c.files, err = worktree.Index(c.ctx, c.top)
	} else if c.files, err = worktree.Open(c.ctx, c.top, c.rev); err != nil {
		err = c.fail(err, "run `git log` to list commits")
	}
	all := map[string]bool{}
	for _, rel := range rels {
		all[rel] = true
	}
	rels = slices.DeleteFunc(rels, func(rel string) bool { return worktree.Within(all, rel) })
	slices.Sort(rels)
	return slices.Compact(rels), err
}

// side reads the files into the folder. Those of a work tree are read where they are,
// unless there are others among them.
func (c *commit) side(rels []string) (s Side, err error) {
	s = Side{Real: c.dir.Path, Shown: c.rev + ":", Top: c.dir.Path}
	if c.rev != "" {
		_, err = c.files.Extract(c.dir.Path, rels...)
	} else {
		var t worktree.Tracked
		for _, rel := range rels {
			if err == nil {
				err = c.files.Tracked(rel, &t)
			}
		}
		if s.Shown = c.shown(); err == nil && t.Untracked+t.Modules > 0 {
			c.say(leftOut(t))
			err = c.files.Copy(c.dir.Path, t.Files)
		} else {
			s.Real, s.Top = c.top, c.top
		}
	}
	if err != nil {
		return s, c.fail(err, "")
	}
	for _, rel := range rels {
		at := filepath.Join(s.Real, filepath.FromSlash(rel))
		if _, err := os.Stat(at); !errors.Is(err, os.ErrNotExist) {
			s.Paths = append(s.Paths, at)
		}
	}
	return s, nil
}

// shown returns how users know the root of the work tree: as a prefix of paths.
func (c *commit) shown() string {
	cwd, err := walk.RealAbove(".")
	if err != nil {
		return ""
	}
	rel, err := filepath.Rel(cwd, c.top)
	switch {
	case err != nil:
		return filepath.ToSlash(c.top) + "/"
	case rel == ".":
		return ""
	}
	return filepath.ToSlash(rel) + "/"
}

func leftOut(t worktree.Tracked) string {
	var parts []string
	for _, one := range []struct {
		n    int
		what string
	}{{t.Untracked, "files that git does not track"}, {t.Modules, "submodules"}} {
		if one.n > 0 {
			parts = append(parts, fmt.Sprintf("%s: %d", one.what, one.n))
		}
	}
	return "left out " + strings.Join(parts, ", ")
}

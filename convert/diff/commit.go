package diff

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"rehome/convert/internal/worktree"
	"rehome/formats"
	"rehome/internal/scratch"
)

// Commit returns the side of some paths of a work tree as they are in a git commit. A
// path that the commit lacks is left out. The function removes what was read; it can
// always be called.
func Commit(ctx context.Context, rev string, paths []string) (s Side, remove func() error, err error) {
	remove = func() error { return nil }
	fail := func(err error, hint string) (Side, func() error, error) {
		return Side{}, remove, &formats.Error{At: rev, Err: err, Hint: hint}
	}
	if strings.HasPrefix(rev, "-") {
		return fail(errors.New("not a commit"), "name a commit, such as HEAD~1")
	}
	dir, err := scratch.New("", "commit")
	if err != nil {
		return fail(err, "")
	}
	remove = dir.Remove
	s.Real, s.Shown, s.Top = dir.Path, rev+":", dir.Path
	var commit *worktree.Revision
	top := ""
	var done []string
	for _, path := range slices.Sorted(slices.Values(paths)) { // folders before what is in them
		at, err := resolved(path)
		if err != nil {
			return fail(err, "")
		}
		switch in := worktree.Top(at); {
		case in == "":
			return fail(errors.New(path+": not in a git work tree"), "")
		case top == "":
			if commit, err = worktree.Open(ctx, in, rev); err != nil {
				return fail(err, "run `git log` to list commits")
			}
			top = in
		case in != top:
			return fail(errors.New(path+": in another git work tree"), "compare one work tree at a time")
		}
		rel, err := filepath.Rel(top, at)
		if err != nil {
			return fail(err, "")
		}
		if slices.ContainsFunc(done, func(dir string) bool { return at == dir || strings.HasPrefix(at, dir+string(filepath.Separator)) }) {
			continue
		}
		done = append(done, at)
		some, err := commit.Extract(dir.Path, filepath.ToSlash(rel))
		if err != nil {
			return fail(err, "")
		}
		if some {
			s.Paths = append(s.Paths, filepath.Join(dir.Path, rel))
		}
	}
	return s, remove, nil
}

// WorkTree completes the sides that are not of commits: paths that do not exist are left
// out. It is an error if no side has any.
func WorkTree(paths []string, sides []Side) error {
	found := 0
	for i := range sides {
		s := &sides[i]
		if s.Real == "" {
			if at, err := resolved(paths[0]); err == nil {
				s.Top = worktree.Top(at)
			}
			var there []string
			for _, p := range s.Paths {
				if _, err := os.Stat(p); !errors.Is(err, os.ErrNotExist) {
					there = append(there, p)
				}
			}
			s.Paths = there
		}
		found += len(s.Paths)
	}
	if found == 0 {
		return &formats.Error{At: strings.Join(paths, ", "), Err: errors.New("not found on either side"), Hint: "paths are relative to the current directory"}
	}
	return nil
}

// resolved returns an absolute path without links. The path need not exist any more.
func resolved(path string) (string, error) {
	at, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	if real, err := filepath.EvalSymlinks(at); err == nil {
		return real, nil
	}
	parent, err := resolved(filepath.Dir(at))
	if err != nil || filepath.Dir(at) == at {
		return at, err
	}
	return filepath.Join(parent, filepath.Base(at)), nil
}

package repo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"rehome/convert/internal/worktree"
	"rehome/convert/sessions"
	"rehome/formats"
)

// What Setup writes.
const (
	driver     = "rehome"
	textconv   = "diff." + driver + ".textconv"
	attributes = ".gitattributes"
	begin      = "# rehome git setup: sessions as text in git diff"
	end        = "# rehome git setup: end"
	noNewline  = "# rehome git setup: the line before these had no newline"
	hookMark   = "# Made by `rehome git setup`; `rehome git unset` removes it."
)

// Repo is the repository of a folder.
type Repo struct {
	ctx context.Context
	top string // root of the work tree
}

// Open finds the repository of a folder.
func Open(ctx context.Context, dir string) (*Repo, error) {
	at, err := filepath.Abs(dir)
	if err == nil {
		at, err = filepath.EvalSymlinks(at)
	}
	if err != nil {
		return nil, err
	}
	top, err := worktree.Find(at)
	if err != nil {
		return nil, &formats.Error{At: dir, Err: err, Hint: "unset it; a work tree with a file .git can have its repository elsewhere: git init --separate-git-dir"}
	}
	if top == "" {
		return nil, &formats.Error{At: dir, Err: errors.New("not in a git work tree"), Hint: "run `git init` first"}
	}
	return &Repo{ctx, top}, nil
}

// Change is a change of a place.
type Change struct {
	Place  string // the file, or the name in git's configuration
	Change string // Added, Removed or Left
	Text   string // the lines, or why it was left as it is
}

// Kinds of changes.
const (
	Added   = "added"
	Removed = "removed"
	Left    = "left"
)

// Setup adds the driver, attributes for the stores in the repository or for paths, and
// the hook. command runs the program. It returns what it changed, nothing the second time.
func (r *Repo) Setup(reg *formats.Registry, paths []string, command string, dryRun bool) ([]Change, error) {
	patterns, err := r.patterns(reg, paths)
	if err != nil {
		return nil, err
	}
	if len(patterns) == 0 {
		return nil, &formats.Error{At: r.top, Err: errors.New("no files that each hold sessions"), Hint: "name the folder that will hold them: rehome git setup sessions"}
	}
	var out []Change
	for _, step := range []func(bool) ([]Change, error){
		func(dry bool) ([]Change, error) { return r.addConfig(command+" git textconv --", dry) },
		func(dry bool) ([]Change, error) { return r.addAttributes(patterns, dry) },
		func(dry bool) ([]Change, error) { return r.addHook(command+" git pre-commit", dry) },
	} {
		list, err := step(dryRun)
		out = append(out, list...)
		if err != nil {
			return out, err
		}
	}
	return out, nil
}

// Unset removes what Setup added.
func (r *Repo) Unset(dryRun bool) (out []Change, err error) {
	for _, step := range []func(bool) ([]Change, error){r.removeConfig, r.removeAttributes, r.removeHook} {
		list, err := step(dryRun)
		out = append(out, list...)
		if err != nil {
			return out, err
		}
	}
	return out, nil
}

func (r *Repo) config() (string, error) {
	out, err := worktree.Config(r.ctx, r.top, "--get", textconv)
	return strings.TrimSpace(out), err
}

func (r *Repo) addConfig(command string, dry bool) ([]Change, error) {
	was, err := r.config()
	switch {
	case err != nil || was == command:
		return nil, err
	case was != "" && !ours(was):
		return []Change{{textconv, Left, "is already set, to " + was}}, nil
	case !dry:
		_, err = worktree.Config(r.ctx, r.top, textconv, command)
	}
	return []Change{{textconv, Added, command}}, err
}

// ours reports whether a textconv is one that Setup has set.
func ours(command string) bool { return strings.HasSuffix(command, " git textconv --") }

func (r *Repo) removeConfig(dry bool) ([]Change, error) {
	was, err := r.config()
	if err != nil || !ours(was) {
		return nil, err
	}
	if !dry {
		if _, err = worktree.Config(r.ctx, r.top, "--unset", textconv); err != nil {
			return nil, err
		}
		// git leaves an empty section behind. It fails if another value is in it.
		if list, lerr := worktree.Config(r.ctx, r.top, "--get-regexp", `^diff\.`+driver+`\.`); lerr == nil && list == "" {
			_, err = worktree.Config(r.ctx, r.top, "--remove-section", "diff."+driver)
			if err != nil {
				err = nil // newer versions of git remove it by themselves
			}
		}
	}
	return []Change{{textconv, Removed, was}}, err
}

// single are the names of databases that are a whole store.
var single = [...]string{"store.db", "state.vscdb"}

// patterns returns the attribute patterns of files that each hold sessions, sorted.
func (r *Repo) patterns(reg *formats.Registry, paths []string) ([]string, error) {
	var out []string
	for _, p := range paths {
		at, err := filepath.Abs(p)
		if err == nil {
			at, err = r.below(at)
		}
		if err != nil {
			return nil, err
		}
		if info, err := os.Stat(p); err == nil && !info.IsDir() {
			out = append(out, pattern(at))
			continue
		}
		if at != "." {
			at = escape(at) + "/**/"
		} else {
			at = ""
		}
		for _, name := range []string{"*.jsonl", "*.db", "*.vscdb"} {
			out = append(out, quote("/"+at+name))
		}
	}
	if len(paths) > 0 {
		return unique(out), nil
	}
	stores, _, err := sessions.Stores(r.ctx, reg, sessions.Options{Paths: []string{r.top}})
	if err != nil {
		return nil, err
	}
	for _, s := range stores {
		info, err := os.Stat(s.Path)
		if err != nil || s.Format.Sessions == nil {
			continue // text of many files: git shows their lines
		}
		rel, err := r.below(s.Path)
		switch {
		case err != nil:
		case !info.IsDir():
			out = append(out, pattern(rel))
		default:
			list, err := inner(s.Path)
			if err != nil {
				return nil, err
			}
			for _, name := range list {
				out = append(out, pattern(path.Join(rel, name)))
			}
		}
	}
	return unique(out), nil
}

// inner returns the files in the folder of a store that each hold sessions.
func inner(dir string) (out []string, err error) {
	for _, name := range single {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			out = append(out, name)
		}
	}
	err = fs.WalkDir(os.DirFS(dir), ".", func(name string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() && path.Ext(name) == ".jsonl" {
			out = append(out, name)
		}
		return err
	})
	return out, err
}

// below returns a path as a slash path below the root of the work tree.
func (r *Repo) below(path string) (string, error) {
	at := path
	if real, err := filepath.EvalSymlinks(path); err == nil {
		at = real
	}
	rel, err := filepath.Rel(r.top, at)
	if err != nil || !filepath.IsLocal(rel) {
		return "", &formats.Error{At: path, Err: fmt.Errorf("not in the work tree %s", r.top)}
	}
	return filepath.ToSlash(rel), nil
}

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
	attributes = ".gitattributes"
	begin      = "# rehome git setup: sessions as text in git diff"
	end        = "# rehome git setup: end"
	noNewline  = "# rehome git setup: the line before these had no newline"
	mixing     = "runs.ndjson merge=union" // in the attributes of agents that earlier versions wrote
	hookMark   = "# Made by `rehome git setup`; `rehome git unset` removes it."
)

// Repo is the repository of a folder.
type Repo struct {
	ctx context.Context
	top string // root of the work tree

	left []Change // what patterns found that people should change
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
		return nil, &formats.Error{At: dir, Err: errors.New("not in a git work tree"), Hint: "change to a repository, or run `git init` first"}
	}
	return &Repo{ctx: ctx, top: top}, nil
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

// setting is a value in the configuration of the repository: its name, what it is made of
// with the program, and how one of ours ends.
type setting struct{ name, before, after string }

// settings are what Setup sets. In merges of common ancestors, git keeps one side.
var settings = [...]setting{
	{"diff." + driver + ".textconv", "", " git textconv --"},
	{"merge." + driver + ".name", "sessions of coding agents", ""},
	{"merge." + driver + ".driver", "", " git merge-driver -- %O %A %B %P"},
	{"merge." + driver + ".recursive", "binary", ""},
}

// value returns the value of a setting for a program.
func (s setting) value(program string) string {
	if s.before != "" {
		return s.before
	}
	return program + s.after
}

// ours reports whether a value is one that Setup has set.
func (s setting) ours(value string) bool {
	return value != "" && (value == s.before || s.after != "" && strings.HasSuffix(value, s.after))
}

// Setup adds the drivers, attributes for the stores in the repository or for paths, and
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
		func(dry bool) ([]Change, error) { return r.addConfig(command, dry) },
		func(dry bool) ([]Change, error) { return r.addAttributes(patterns, dry) },
		func(dry bool) ([]Change, error) { return r.addHooks(command+" git pre-commit", dry) },
	} {
		list, err := step(dryRun)
		out = append(out, list...)
		if err != nil {
			return out, err
		}
	}
	return append(out, r.left...), nil
}

// Unset removes what Setup added.
func (r *Repo) Unset(dryRun bool) (out []Change, err error) {
	for _, step := range []func(bool) ([]Change, error){r.removeConfig, r.removeAttributes, r.removeHooks} {
		list, err := step(dryRun)
		out = append(out, list...)
		if err != nil {
			return out, err
		}
	}
	return out, nil
}

func (r *Repo) config(name string) (string, error) {
	out, err := worktree.Config(r.ctx, r.top, "--get", name)
	return strings.TrimSpace(out), err
}

func (r *Repo) addConfig(command string, dry bool) (out []Change, err error) {
	for _, s := range settings {
		was, err := r.config(s.name)
		value := s.value(command)
		switch {
		case err != nil:
			return out, err
		case was == value:
			continue
		case was != "" && !s.ours(was):
			out = append(out, Change{s.name, Left, "is already set, to " + was})
			continue
		case !dry:
			if _, err = worktree.Config(r.ctx, r.top, s.name, value); err != nil {
				return out, err
			}
		}
		out = append(out, Change{s.name, Added, value})
	}
	return out, nil
}

func (r *Repo) removeConfig(dry bool) (out []Change, err error) {
	for _, s := range settings {
		was, err := r.config(s.name)
		if err != nil {
			return out, err
		}
		if !s.ours(was) {
			continue
		}
		if !dry {
			if _, err = worktree.Config(r.ctx, r.top, "--unset", s.name); err != nil {
				return out, err
			}
			// git leaves an empty section behind, which newer versions remove by themselves.
			// It is kept if another value is in it.
			section := s.name[:strings.LastIndex(s.name, ".")]
			if list, err := worktree.Config(r.ctx, r.top, "--get-regexp", "^"+strings.ReplaceAll(section, ".", `\.`)+`\.`); err == nil && list == "" {
				_, _ = worktree.Config(r.ctx, r.top, "--remove-section", section)
			}
		}
		out = append(out, Change{s.name, Removed, was})
	}
	return out, nil
}

// single are the names of databases that are a whole store.
var single = [...]string{"store.db", "state.vscdb"}

// patterns returns the lines of attributes for files of sessions, sorted: all are compared
// as text, and text is merged by sessions.
func (r *Repo) patterns(reg *formats.Registry, paths []string) ([]string, error) {
	if len(paths) == 0 {
		out, _, err := r.storePatterns(reg, r.top)
		return unique(out), err
	}
	var out []string
	for _, p := range paths {
		at, err := filepath.Abs(p)
		if err == nil {
			at, err = r.below(at)
		}
		if err != nil {
			return nil, err
		}
		info, err := os.Stat(p)
		if err == nil && !info.IsDir() {
			out = append(out, compared(pattern(at), at)...)
			continue
		}
		if err == nil {
			list, many, err := r.storePatterns(reg, p)
			if err != nil {
				return nil, err
			}
			if many {
				out = append(out, list...)
				continue
			}
		}
		if at != "." {
			at = escape(at) + "/**/"
		} else {
			at = ""
		}
		for _, name := range []string{"*.jsonl", "*.ndjson", "*.db", "*.vscdb"} {
			out = append(out, compared(quote("/"+at+name), name)...)
		}
	}
	return unique(out), nil
}

// compared returns the lines for the files of a pattern, which are named like one.
func compared(pattern, name string) []string {
	out := []string{pattern + " diff=" + driver}
	if ext := path.Ext(name); ext != ".db" && ext != ".vscdb" {
		out = append(out, pattern+" merge="+driver)
	}
	return out
}

// storePatterns returns the lines for the stores in a folder, and whether one of them is
// text of many files.
func (r *Repo) storePatterns(reg *formats.Registry, dir string) (out []string, many bool, err error) {
	stores, _, err := sessions.Stores(r.ctx, reg, sessions.Options{Paths: []string{dir}})
	if err != nil {
		return nil, false, err
	}
	for _, s := range stores {
		info, err := os.Stat(s.Path)
		if err != nil {
			continue
		}
		rel, err := r.below(s.Path)
		switch {
		case err != nil:
		case info.IsDir() && s.Format.Text && (s.Format.Sessions == nil || s.Format.Merge != nil && s.Format.Merge.Via == s.Format.Name):
			many = true
			out = append(out, whole(rel)...)
			if text, err := os.ReadFile(filepath.Join(s.Path, attributes)); err == nil && strings.Contains(string(text), mixing) {
				r.left = append(r.left, Change{path.Join(rel, attributes), Left, "it is from an earlier version, and lets git mix the turns of two people; make it one line: * -text"})
			}
		case !info.IsDir():
			out = append(out, compared(pattern(rel), rel)...)
			if _, err := os.Stat(s.Path + formats.SidecarSuffix); err == nil {
				out = append(out, compared(pattern(rel+formats.SidecarSuffix), rel+formats.SidecarSuffix)...)
			}
		default:
			list, err := inner(s.Path)
			if err != nil {
				return nil, false, err
			}
			for _, name := range list {
				out = append(out, compared(pattern(path.Join(rel, name)), name)...)
			}
		}
	}
	return out, many, nil
}

// inner returns the files in the folder of a store that each hold sessions, and sidecars.
func inner(dir string) (out []string, err error) {
	for _, name := range single {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			out = append(out, name)
		}
	}
	err = fs.WalkDir(os.DirFS(dir), ".", func(name string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() && (path.Ext(name) == ".jsonl" || formats.IsSidecar(name)) {
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

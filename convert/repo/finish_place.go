package repo

import (
	"bufio"
	"bytes"
	"errors"
	"hash/maphash"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"rehome/convert/internal/filetx"
	"rehome/convert/internal/stage"
	"rehome/convert/internal/undo"
	"rehome/convert/internal/worktree"
	"rehome/convert/merge"
	"rehome/formats"
	"rehome/internal/fsx"
	"rehome/internal/shell"
)

// stage creates the private folder for a result, beside the store that it replaces.
func (f *finisher) stage(u *unit) (*stage.Folder, error) {
	var at []stage.Target
	for _, e := range u.entries {
		to, err := stage.Resolve(f.at(u.parent, e))
		if err != nil {
			return nil, err
		}
		at = append(at, to)
	}
	return stage.NewFor(f.o.DryRun, f.o.OnNotice, at...)
}

// at returns the path of an entry of a folder in the work tree.
func (f *finisher) at(parent, entry string) string {
	return filepath.Join(f.top, filepath.FromSlash(parent), filepath.FromSlash(entry))
}

// keep adds the files of a unit whose names begin with a dot to the result, such as
// .gitattributes, and returns an error if anything else is missing from it.
func (f *finisher) keep(u *unit, dir, out string) error {
	for _, p := range u.paths() {
		for _, name := range f.index.Names(p) {
			rel, err := filepath.Rel(filepath.FromSlash(u.parent), filepath.FromSlash(name))
			if err != nil {
				return err
			}
			to := filepath.Join(out, rel)
			_, lost := os.Lstat(to)
			if strings.HasPrefix(path.Base(name), ".") && f.files[name] == (worktree.Sides{}) {
				if err := os.MkdirAll(dir, 0o777); err != nil {
					return err
				}
				if _, err := f.index.Extract(dir, name); err != nil {
					return err
				}
				if err := errors.Join(os.MkdirAll(filepath.Dir(to), 0o777), os.Rename(filepath.Join(dir, filepath.FromSlash(name)), to)); err != nil {
					return err
				}
				continue
			}
			ours, theirs := f.sides[1].ID(name), f.sides[2].ID(name)
			if lost != nil && ours == "" && theirs == "" {
				return &formats.Error{At: name, Err: errors.New("staged, but in neither commit, and would be lost"), Hint: "move it elsewhere, run git add on its old path, and add it back after the merge"}
			}
			removed := u.base != nil && u.base.ID(name) != "" && u.base.ID(name) == ours+theirs // on one side, and not changed on the other
			if lost != nil && !(u.folder && removed) && !u.inFork(rel, out) && !formats.IsSidecar(path.Base(name)) {
				return &formats.Error{At: name, Err: errors.New("not a part of the store, and would be lost"), Hint: "move it elsewhere on both branches, or resolve the conflict by hand"}
			}
		}
	}
	return nil
}

// inFork reports whether a fork in the result has what was a file of the session.
func (u *unit) inFork(rel, out string) bool {
	return slices.ContainsFunc(u.sessions, func(s merge.Session) bool {
		to := strings.ReplaceAll(rel, s.Of, s.ID)
		_, err := os.Lstat(filepath.Join(out, to))
		return s.Of != "" && to != rel && err == nil
	})
}

// place puts the result of a unit into the work tree, forks first, and stages it. Each
// entry is the old one or the new one at every moment, and nothing that git lacks is replaced.
func (f *finisher) place(u *unit, out string, remove func() error) error {
	for at := u.parent; at != "."; at = path.Dir(at) {
		if info, err := os.Lstat(f.at(at, ".")); err == nil && !info.IsDir() {
			return &formats.Error{At: at, Err: errors.New("not a folder"), Hint: "restore it: " + shell.Command("git", "checkout", "--", at)}
		}
	}
	list, err := os.ReadDir(out)
	if err != nil {
		return err
	}
	var names []string
	for _, e := range list {
		names = append(names, e.Name())
	}
	order := append(slices.DeleteFunc(slices.Clone(names), func(e string) bool { return slices.Contains(u.entries, e) }), u.entries...)
	order = slices.DeleteFunc(order, func(e string) bool {
		_, err := os.Lstat(f.at(u.parent, e))
		old, made := err == nil, slices.Contains(names, e)
		return !old && !made || old && made && fsx.SameTree(filepath.Join(out, e), f.at(u.parent, e))
	})
	for _, e := range order {
		if err := f.recoverable(path.Join(u.parent, e)); err != nil {
			return err
		}
	}
	if err := errors.Join(stage.SyncTree(out), os.MkdirAll(f.at(u.parent, "."), 0o777)); err != nil {
		return err
	}
	var steps []*filetx.Step
	for _, e := range order {
		s := &filetx.Step{File: undo.File{Path: f.at(u.parent, e)}, Ready: f.ctx.Err}
		_, err := os.Lstat(s.Path)
		s.Replaces = err == nil
		if slices.Contains(names, e) {
			s.Staged = filepath.Join(out, e)
			info, err := os.Lstat(s.Staged)
			s.Folder = err == nil && info.IsDir()
		}
		steps = append(steps, s)
	}
	tx := &filetx.Tx{Synced: true}
	if err := errors.Join(tx.Do(steps), tx.End(nil)); err != nil {
		return &formats.Error{At: path.Join(u.parent, u.entries[0]), Err: formats.Cause(err), Hint: "none of it was changed: run it again"}
	}
	var paths []string
	for _, e := range append(names, u.entries...) {
		p := path.Join(u.parent, e)
		if _, err := os.Lstat(f.at(u.parent, e)); (err == nil || len(f.index.Names(p)) > 0 || f.files[p] != (worktree.Sides{})) && !slices.Contains(paths, p) {
			paths = append(paths, p)
		}
	}
	slices.Sort(paths)
	// As long as the index has the conflict, the next run removes what a killed one left.
	if err := remove(); err != nil {
		return err
	}
	if err := worktree.Add(f.ctx, f.top, paths...); err != nil {
		return &formats.Error{At: path.Join(u.parent, u.entries[0]), Op: "merged, but not staged", Err: err, Hint: shell.Command(append([]string{"git", "add", "--all", "--"}, paths...)...)}
	}
	f.res.Staged = append(f.res.Staged, paths...)
	return nil
}

// junk are files that systems leave in folders.
var junk = [...]string{".DS_Store", "Thumbs.db", "desktop.ini"}

// recoverable returns an error if the work tree has something at and below a path that is
// neither in git nor what git made of a conflict.
func (f *finisher) recoverable(at string) error {
	var names []string
	refuse := func(name, why string) error {
		return &formats.Error{At: name, Err: errors.New(why + ", and would be lost"), Hint: "move it away, and run it again"}
	}
	root := filepath.Join(f.top, filepath.FromSlash(at))
	err := filepath.WalkDir(root, func(p string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && p == root {
			return fs.SkipAll
		}
		if err != nil || e.IsDir() || slices.Contains(junk[:], e.Name()) {
			return err
		}
		name, err := f.below(p)
		if err == nil && !e.Type().IsRegular() {
			err = refuse(name, "not a regular file")
		}
		names = append(names, name)
		return err
	})
	if err != nil || len(names) == 0 {
		return err
	}
	ids, err := worktree.Blobs(f.ctx, f.top, names)
	if err != nil {
		return err
	}
	for i, name := range names {
		s, id := f.files[name], ids[i]
		if id == s.Base || id == s.Ours || id == s.Theirs || f.sides[1].Has(name, id) || f.sides[2].Has(name, id) {
			continue
		}
		made := f.index.Has(name, id) // by git, or by people
		if s != (worktree.Sides{}) {
			made = marked(filepath.Join(f.top, filepath.FromSlash(name)))
		}
		if !made {
			return refuse(name, "not in git as it is")
		}
		from := []string{s.Base, s.Ours, s.Theirs}
		for _, side := range append(f.sides[1:], f.bases...) {
			from = append(from, side.ID(name))
		}
		if made, err = f.ofSides(name, from); err != nil {
			return err
		}
		if !made {
			return refuse(name, "edited since git merged it")
		}
	}
	return nil
}

// ofSides reports whether each line of a file of the work tree is of one of some blobs, or
// marks a conflict.
func (f *finisher) ofSides(name string, ids []string) (bool, error) {
	known, seed := map[uint64]bool{}, maphash.MakeSeed()
	slices.Sort(ids)
	for _, id := range slices.Compact(ids) {
		if id == "" {
			continue
		}
		if err := worktree.Blob(f.ctx, f.top, id, func(in io.Reader) error {
			return eachLine(in, seed, func(sum uint64, _ bool) { known[sum] = true })
		}); err != nil {
			return false, err
		}
	}
	in, err := os.Open(filepath.Join(f.top, filepath.FromSlash(name)))
	if err != nil {
		return false, err
	}
	defer in.Close()
	all := true
	err = eachLine(in, seed, func(sum uint64, marks bool) { all = all && (marks || known[sum]) })
	return all, err
}

// eachLine passes on a sum of each line, without what ends it, and whether it marks a conflict.
func eachLine(in io.Reader, seed maphash.Seed, visit func(sum uint64, marks bool)) error {
	var h maphash.Hash
	h.SetSeed(seed)
	r, start, marks := bufio.NewReaderSize(in, 64<<10), true, false
	for {
		piece, err := r.ReadSlice('\n')
		if start {
			marks = slices.ContainsFunc([]string{"<<<<<<< ", "||||||| ", "=======\n", "=======\r\n", ">>>>>>> "}, func(m string) bool { return bytes.HasPrefix(piece, []byte(m)) })
		}
		h.Write(bytes.TrimRight(piece, "\r\n"))
		if start = !errors.Is(err, bufio.ErrBufferFull); start && len(piece) > 0 {
			visit(h.Sum64(), marks)
			h.Reset()
		}
		if err != nil && start {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return err
		}
	}
}

// marked reports whether git marked conflicts in a file.
func marked(name string) bool {
	in, err := os.Open(name)
	if err != nil {
		return false
	}
	defer in.Close()
	r, start, begun := bufio.NewReaderSize(in, 64<<10), true, false
	for {
		piece, err := r.ReadSlice('\n')
		if start && bytes.HasPrefix(piece, []byte("<<<<<<< ")) {
			begun = true
		}
		if start && begun && bytes.HasPrefix(piece, []byte(">>>>>>> ")) {
			return true
		}
		if start = !errors.Is(err, bufio.ErrBufferFull); err != nil && start {
			return false
		}
	}
}

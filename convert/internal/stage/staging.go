package stage

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"unicode/utf8"

	"rehome/formats"
	"rehome/internal/fsx"
	"rehome/internal/scratch"
)

// Folder is a private folder beside the target, on the same disk, in which
// everything is built under its final name. It is called
// .NAME.rehome-0123456789abcdef, and its tree is renamed out of it.
type Folder struct {
	*scratch.Dir
	Tree, TargetDir   string
	removed, vanished bool // removed by this run; no longer existed then
	keep              bool // the next run needs it to finish an update
}

// stagingPrefix returns the prefix of the folder's name. It leaves room for the
// suffix in 255 bytes.
func stagingPrefix(base string) string {
	for len(base) > 200 || !utf8.ValidString(base) && len(base) > 190 {
		base = base[:len(base)-1]
	}
	return "." + base + formats.StagingMark
}

// New creates the folder.
func New(t Target) (*Folder, error) {
	failed := func(err error) error {
		return &formats.Error{At: t.Dir, Op: "create a folder beside the target", Err: formats.Cause(err), Hint: "make the target's folder writable"}
	}
	d, err := scratch.Make(t.Dir, stagingPrefix(t.Base()))
	switch {
	case errors.Is(err, scratch.ErrSwept):
		return nil, &formats.Error{At: t.Dir, Err: formats.Cause(err), Hint: "run it again when the other runs have finished"}
	case err != nil:
		return nil, failed(err)
	}
	s := &Folder{Dir: d, Tree: d.Path, TargetDir: t.Dir}
	if err := s.hideFromGit(); err != nil {
		return nil, errors.Join(failed(err), s.Remove())
	}
	return s, nil
}

// Beside returns a path in a private folder for what is to replace a file. The name is the
// same. It removes what killed runs left.
func Beside(path string) (staged string, remove func() error, err error) {
	at, err := Resolve(path)
	if err != nil {
		return "", nil, err
	}
	Sweep(func(string) {}, at)
	dir, err := New(at)
	if err != nil {
		return "", nil, err
	}
	return filepath.Join(dir.Tree, filepath.Base(path)), dir.Remove, nil
}

// Overwrite replaces a file, which keeps its mode, or creates one of this mode: there is always
// the old file or the new one.
func Overwrite(path string, content []byte, mode fs.FileMode) error {
	staged, remove, err := Beside(path)
	if err != nil {
		return err
	}
	if was, err := os.Stat(path); err == nil {
		mode = was.Mode().Perm()
	}
	if err := errors.Join(fsx.Overwrite(path, staged, content, mode), remove()); err != nil {
		return &formats.Error{At: path, Err: formats.Cause(err)}
	}
	return nil
}

// hideFromGit keeps git from adding what a killed run leaves.
func (s *Folder) hideFromGit() error {
	return os.WriteFile(filepath.Join(s.Root, ".gitignore"), []byte("*\n"), 0o600)
}

// NewFor creates the folder beside the first target, and removes what killed runs left beside
// any of them. That of a dry run is among the temporary files: nothing is renamed out of it.
func NewFor(dryRun bool, say func(string), targets ...Target) (*Folder, error) {
	if !dryRun {
		Sweep(say, targets...)
		return New(targets[0])
	}
	d, err := NewTemp("dry-run")
	if err != nil {
		return nil, err
	}
	return &Folder{Dir: d, Tree: d.Path, TargetDir: targets[0].Dir}, nil
}

// NewTemp creates a private folder for a purpose among the system's
// temporary files.
func NewTemp(purpose string) (*scratch.Dir, error) {
	d, err := scratch.New("", purpose)
	if err != nil {
		return nil, &formats.Error{At: os.TempDir(), Op: "create a folder for temporary files", Err: formats.Cause(err), Hint: "set TMPDIR to another folder"}
	}
	return d, nil
}

// Remove removes the folder with everything in it.
func (s *Folder) Remove() error {
	s.vanished, s.removed = s.Gone(), true
	if s.keep {
		return s.Dir.Unlock()
	}
	return s.Dir.Remove()
}

// Gone reports whether something removed the folder during the run.
func (s *Folder) Gone() bool {
	if s.removed {
		return s.vanished
	}
	_, err := os.Lstat(s.Tree)
	return errors.Is(err, os.ErrNotExist)
}

// StorePath returns the path where the store found at rel is staged.
func (s *Folder) StorePath(t Target, rel string) string {
	return filepath.Join(s.Tree, filepath.Join(t.Tail...), filepath.FromSlash(rel))
}

// Drop removes a store from the tree, and the folders that were created for it
// alone. No other store may be written at the same time.
func (s *Folder) Drop(path string) error {
	if err := RemoveStore(path); err != nil {
		return err
	}
	for d := filepath.Dir(path); d != s.Tree; d = filepath.Dir(d) {
		if os.Remove(d) != nil {
			break // another store is there
		}
	}
	return nil
}

// RemoveStore removes a staged store, complete or not, with the logs of a
// database that was not closed properly.
func RemoveStore(path string) error {
	for _, side := range []string{"", "-journal", "-wal", "-shm"} {
		if _, err := os.Lstat(path + side); err != nil {
			continue // nothing exists, or the name is too long
		}
		if err := os.RemoveAll(path + side); err != nil {
			return err
		}
	}
	return nil
}

// Sweep removes the folders of killed runs for the same targets. Such a folder is in
// the nearest folder above its target that existed then, which is not always the
// nearest that exists now.
func Sweep(say func(string), targets ...Target) {
	prefixes := map[string]map[string]bool{} // by folder
	for _, t := range targets {
		for dir := t.Dir; ; dir = filepath.Dir(dir) {
			if prefixes[dir] == nil {
				prefixes[dir] = map[string]bool{}
			}
			if prefixes[dir][stagingPrefix(t.Base())] = true; dir == filepath.Dir(dir) {
				break
			}
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(prefixes)) {
		scratch.SweepAmong(dir, func(prefix string) bool { return prefixes[dir][prefix] }, func(root string, err error) {
			if err != nil {
				say("could not remove what an interrupted run left: " + err.Error())
			} else {
				say("removed what an interrupted run left: " + root)
			}
		})
	}
}

// WithTargetPath replaces the staging folder's path in an error by the
// target's.
func (s *Folder) WithTargetPath(err error) error {
	return formats.ReplacePath(err, s.Tree, s.TargetDir)
}

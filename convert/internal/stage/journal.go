package stage

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"rehome/formats"
	"rehome/internal/fsx"
	"rehome/internal/scratch"
)

// An existing target is updated by a list of renames. The list is on disk before
// the first rename, and so is everything that it moves. If the run is killed, the
// next one finds the list and finishes it: each rename either was made or can still
// be made, because none overwrites anything. If a rename fails, those before it are
// undone. Unchanged files are not touched, and neither are those of others.

// Step is one rename. Its paths are slash paths below the folder of the target.
type Step struct {
	From string `json:"from"`
	To   string `json:"to"`
}

const (
	journalName = "journal"
	oldName     = "old"  // folder of what the steps replace
	keptName    = "kept" // folder of what they replace and the user wants back
)

type journal struct {
	Rehome  string `json:"rehome"`
	Version int    `json:"version"`
	Steps   []Step `json:"steps"`
}

// Claim creates the folder in which an update of the target is staged. There is
// one for each target, so that two updates never run at once. It first finishes
// the update of a run that was killed.
func Claim(t Target, say func(string)) (*Folder, error) {
	d, err := scratch.Claim(t.Dir, stagingPrefix(t.Base()))
	switch {
	case errors.Is(err, scratch.ErrHeld):
		return nil, &formats.Error{At: t.Display, Err: fmt.Errorf("%w: another run is updating it", formats.ErrBusy), Hint: "wait until it has finished"}
	case err != nil:
		return nil, &formats.Error{At: t.Dir, Op: "create a folder beside the target", Err: formats.Cause(err), Hint: "make the target's folder writable"}
	}
	s := &Folder{Dir: d, Tree: d.Path, TargetDir: t.Dir}
	if err := s.finish(t, say); err != nil {
		s.keep = true
		return nil, errors.Join(err, s.Remove())
	}
	if err := errors.Join(d.Empty(), s.hideFromGit(), os.Mkdir(d.Path, 0o777)); err != nil {
		return nil, errors.Join(err, s.Remove())
	}
	return s, nil
}

// Interrupted reports whether a killed run may have left an update to finish.
func Interrupted(t Target) bool {
	_, err := os.Lstat(filepath.Join(t.Dir, stagingPrefix(t.Base())+"update"))
	return err == nil
}

// CheckSettled returns an error if an update of the file or folder at a path is placing
// its files, or was killed while it did: then some files are old, some new, some missing.
func CheckSettled(at string) error {
	dir, base := filepath.Split(at)
	journal := filepath.Join(dir, stagingPrefix(base)+"update", journalName)
	if info, err := os.Lstat(journal); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	return &formats.Error{At: at, Err: fmt.Errorf("%w: an update is not finished, so some of its files may be old or missing", formats.ErrBusy),
		Hint: "wait if it is still running; if it was interrupted, run the same command with --update again"}
}

// finish makes the renames that a killed run did not come to.
func (s *Folder) finish(t Target, say func(string)) error {
	at := filepath.Join(s.Root, journalName)
	b, err := os.ReadFile(at)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var j journal
	if err == nil {
		err = json.Unmarshal(b, &j)
	}
	if err == nil && (j.Rehome != journalName || j.Version != 1) {
		err = errors.New("not a journal, or of an unsupported version")
	}
	refuse := func(err error) error {
		return &formats.Error{At: s.Root, Op: "finish an interrupted update", Err: formats.Cause(err), Hint: "compare its files with those of " + t.Display + ", then remove it"}
	}
	if err != nil {
		return refuse(err)
	}
	for _, step := range j.Steps {
		if err := s.checkStep(t, step); err != nil {
			return refuse(err)
		}
	}
	for _, step := range j.Steps {
		if err := s.redo(step); err != nil {
			return refuse(err)
		}
	}
	say(t.Display + ": finished an update that was interrupted")
	return s.conclude(j.Steps)
}

// checkStep returns an error for a step that does not lead from the staging folder to
// the target or back: a journal could come with a repository.
func (s *Folder) checkStep(t Target, step Step) error {
	inside, outside := step.From, step.To
	if s.isInside(step.To) {
		inside, outside = step.To, step.From
	}
	top, _, below := strings.Cut(outside, "/")
	ours := top == t.Base() || strings.HasPrefix(top, t.Base()+BackupMark) || !below && (top == t.Base()+formats.SidecarSuffix || top == t.Base()+formats.OldSidecarSuffix)
	if !s.isInside(inside) || s.isInside(outside) || !ours {
		return fmt.Errorf("its journal moves %q to %q", step.From, step.To)
	}
	for _, name := range []string{inside, outside} {
		if !filepath.IsLocal(filepath.FromSlash(name)) || path.Clean(name) != name {
			return fmt.Errorf("its journal has the path %q", name)
		}
		for d := path.Dir(name); d != "."; d = path.Dir(d) {
			if info, err := os.Lstat(s.below(d)); err == nil && !info.IsDir() {
				return fmt.Errorf("%s: %w", d, ErrNotFolder)
			}
		}
	}
	return nil
}

// isInside reports whether a path of a step is in this folder.
func (s *Folder) isInside(name string) bool {
	return strings.HasPrefix(name, filepath.Base(s.Root)+"/")
}

func (s *Folder) below(name string) string {
	return filepath.Join(s.TargetDir, filepath.FromSlash(name))
}

// redo makes a step unless it was made. Something in the place of what was moved
// aside is what a later step put there.
func (s *Folder) redo(step Step) error {
	from, to := s.below(step.From), s.below(step.To)
	a, err := os.Lstat(from)
	if err != nil {
		return nil
	}
	if b, err := os.Lstat(to); err == nil {
		switch {
		case os.SameFile(a, b): // killed between the two halves of a rename
			return os.Remove(from)
		case s.isInside(step.To):
			return nil
		}
	}
	return fsx.Move(from, to)
}

// Staged returns the path in steps of what is staged under the name that it gets
// below the folder of the target.
func (s *Folder) Staged(name string) string {
	return path.Join(filepath.Base(s.Root), filepath.Base(s.Tree), name)
}

// Old returns the path in steps to which the nth replaced file is moved.
func (s *Folder) Old(n int) string {
	return path.Join(filepath.Base(s.Root), oldName, fmt.Sprint(n))
}

// Kept returns the path in steps of a replaced file that is kept, by its path below
// the target.
func (s *Folder) Kept(name string) string {
	return path.Join(filepath.Base(s.Root), keptName, name)
}

// Update makes all steps, or none of them. Everything staged must be on disk.
func (s *Folder) Update(steps []Step, rename func(from, to string) error) error {
	b, err := json.Marshal(journal{journalName, 1, steps})
	if err != nil {
		return err
	}
	at := filepath.Join(s.Root, journalName)
	if err := os.Mkdir(filepath.Join(s.Root, oldName), 0o700); err != nil {
		return err
	}
	if err := errors.Join(fsx.Overwrite(at, at+".new", b, 0o600), SyncFolder(s.Root), SyncFolder(s.TargetDir)); err != nil {
		return err
	}
	m := &Renames{Rename: rename}
	for _, step := range steps {
		if err = m.Move(s.below(step.From), s.below(step.To)); err != nil {
			break
		}
	}
	if err == nil {
		return s.conclude(steps)
	}
	err = &formats.Error{At: s.TargetDir, Err: err, Hint: "nothing was changed: run it again when no other program writes to the target"}
	if undo := m.Undo(); undo != nil {
		s.keep = true
		return errors.Join(err, undo)
	}
	return errors.Join(err, os.Remove(at))
}

// conclude removes the folders of the target that the steps left empty, and syncs those
// in which names changed. Then nothing needs the journal any more.
func (s *Folder) conclude(steps []Step) error {
	var folders []string
	for _, step := range steps {
		for d := path.Dir(step.From); !s.isInside(step.From) && strings.Contains(d, "/"); d = path.Dir(d) {
			if os.Remove(s.below(d)) != nil {
				break
			}
		}
		for _, name := range []string{step.From, step.To} {
			if !s.isInside(name) {
				folders = append(folders, path.Dir(name))
			}
		}
	}
	slices.Sort(folders)
	for _, name := range slices.Compact(folders) {
		if err := SyncFolder(s.below(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			s.keep = true
			return err
		}
	}
	// Before the old files are removed: redoing it without them would move new ones aside.
	return errors.Join(os.Remove(filepath.Join(s.Root, journalName)), SyncFolder(s.Root))
}

package convert

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"rehome/convert/internal/mark"
	"rehome/convert/internal/sidecar"
	"rehome/convert/internal/stage"
	"rehome/formats"
	"rehome/internal/fsx"
)

// storeChanges are the changes of one store of the target.
type storeChanges struct {
	*update
	store  string               // its path below the source
	to     *formats.Format      // what it is in the target
	staged map[string]mark.File // what the mark will know of its files

	put, aside, forced []string
	files              []FileChange
	some               bool // some of it exists
	edited             []string
}

func (u *update) newChanges(store string) *storeChanges {
	return &storeChanges{update: u, store: store, staged: map[string]mark.File{}}
}

// accept adds the changes to those of the run.
func (c *storeChanges) accept() {
	u := c.update
	u.put, u.aside, u.forced = append(u.put, c.put...), append(u.aside, c.aside...), append(u.forced, c.forced...)
	for name, f := range c.staged {
		u.after.Files[u.below(name)], u.made[u.below(name)] = f, true
	}
}

// compareAll compares what is staged at each path with the target.
func (c *storeChanges) compareAll(names []string) error {
	for _, name := range names {
		if err := c.compare(name); err != nil {
			return err
		}
	}
	return c.editedError()
}

// compare compares a staged file or folder with what the target has there.
func (c *storeChanges) compare(name string) error {
	staged, err := os.Lstat(c.stagedPath(name))
	if err != nil {
		return err
	}
	now, err := c.lstat(name)
	if err != nil {
		return err
	}
	if now != nil && now.Mode().Type() != staged.Mode().Type() {
		return &formats.Error{At: c.currentPath(name), Err: errors.New("in the way of " + describe(staged)), Hint: "move it away"}
	}
	if staged.IsDir() {
		return c.compareFolder(name, now != nil)
	}
	if !c.noted[c.store].holds(c.inStore(name)) {
		c.some = c.some || now != nil
		return nil // of a set of which nothing was staged, or as the options and the schema make it
	}
	digest, err := fsx.Digest(c.stagedPath(name))
	if err != nil {
		return err
	}
	f := mark.File{Store: c.store, Digest: digest, Stat: mark.StatOf(staged)}
	change := Added
	if now != nil {
		c.some, change = true, Updated
		if private := staged.Mode().Perm() & now.Mode().Perm(); private != staged.Mode().Perm() {
			if err := os.Chmod(c.stagedPath(name), private); err != nil {
				return err
			}
			f.Stat.Mode = uint32(private)
		}
		was, err := c.digest(name, now)
		switch {
		case err != nil:
			return &formats.Error{At: c.currentPath(name), Err: formats.Cause(err)}
		case was == digest:
			f.Stat = mark.StatOf(now)
			c.staged[name] = f
			return nil
		}
		c.moveAside(name, was)
		f.Was = was
	}
	c.staged[name] = f
	c.put = append(c.put, name)
	c.add(name, change)
	return nil
}

func (c *storeChanges) compareFolder(name string, exists bool) error {
	list, err := os.ReadDir(c.stagedPath(name))
	for _, e := range list {
		if err == nil {
			err = c.compare(path.Join(name, e.Name()))
		}
	}
	if err == nil && exists {
		err = c.vanishedFiles(name, list)
	}
	return err
}

// lstat returns what the target has at a path, nil if nothing. A link above it could
// lead anywhere.
func (u *update) lstat(name string) (fs.FileInfo, error) {
	for d := path.Dir(name); d != "."; d = path.Dir(d) {
		if info, err := os.Lstat(u.currentPath(d)); err == nil && !info.IsDir() {
			return nil, &formats.Error{At: u.currentPath(d), Err: stage.ErrNotFolder, Hint: "move it away"}
		}
	}
	info, err := os.Lstat(u.currentPath(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, &formats.Error{At: u.currentPath(name), Err: formats.Cause(err)}
	}
	return info, nil
}

func describe(info fs.FileInfo) string {
	if info.IsDir() {
		return "a folder"
	}
	return "a file"
}

// digest returns the digest of a file of the target. One that looks as the mark says
// is not read.
func (u *update) digest(name string, now fs.FileInfo) (string, error) {
	if f, ok := u.known(name); ok && f.Digest != "" && f.Stat == mark.StatOf(now) && u.opts.Verify != VerifyFull {
		return f.Digest, nil
	}
	return fsx.Digest(u.currentPath(name))
}

// known returns a file as an update last wrote it.
func (u *update) known(name string) (mark.File, bool) {
	if u.before == nil {
		return mark.File{}, false
	}
	f, ok := u.before.Files[u.below(name)]
	return f, ok
}

// moveAside has a file of the target replaced or removed, unless it would be lost: it
// is neither what rehome wrote nor committed.
func (c *storeChanges) moveAside(name, digest string) {
	f, ok := c.known(name)
	if !ok || !f.Has(digest) {
		switch {
		case c.isCommitted(name):
		case c.opts.Force:
			c.forced = append(c.forced, name)
		default:
			c.edited = append(c.edited, name)
		}
	}
	c.aside = append(c.aside, name)
	c.staged[name] = mark.File{Store: c.store, Was: digest}
}

// maxNamed is how many files an error names.
const maxNamed = 3

// editedError returns the error of a store with files that must not be overwritten.
func (c *storeChanges) editedError() error {
	if len(c.edited) == 0 {
		return nil
	}
	var names []string
	for _, name := range c.edited[:min(len(c.edited), maxNamed)] {
		names = append(names, c.below(name))
	}
	list := strings.Join(names, ", ")
	if more := len(c.edited) - len(names); more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	why := "edited since the last update, and not committed"
	if _, ok := c.known(c.edited[0]); !ok {
		why = "no update of this machine is known to have written these files, and they are not committed"
	}
	return &formats.Error{At: c.dest.Display, Err: fmt.Errorf("%s: %s", why, list),
		Hint: "commit or restore them, or pass --force to keep them in " + filepath.Base(c.dest.Path()) + stage.BackupMark + "1"}
}

// vanishedFiles finds the files of a folder of a store that the source no longer makes.
func (c *storeChanges) vanishedFiles(folder string, staged []fs.DirEntry) error {
	list, err := os.ReadDir(c.currentPath(folder))
	if err != nil {
		return &formats.Error{At: c.currentPath(folder), Err: formats.Cause(err)}
	}
	for _, e := range list {
		name := path.Join(folder, e.Name())
		switch {
		case slices.ContainsFunc(staged, func(s fs.DirEntry) bool { return s.Name() == e.Name() }):
		case e.IsDir() && strings.HasPrefix(e.Name(), "."): // .git
		case e.IsDir():
			err = c.vanishedFiles(name, nil)
		case e.Type().IsRegular() && c.noted[c.store].holds(c.inStore(name)):
			err = c.vanishedFile(name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// vanishedFile keeps a file of which the source has nothing, or removes it if the text
// would not be valid with it. Files that no update wrote, and that are not part of the
// text, are left alone; --delete removes only what an update wrote.
func (c *storeChanges) vanishedFile(name string) error {
	known := c.isOurs(name)
	if c.keeps(name) && !(c.opts.Delete && known) {
		c.add(name, Kept)
		return nil
	}
	if !known {
		return nil
	}
	digest, err := fsx.Digest(c.currentPath(name))
	if err != nil {
		return &formats.Error{At: c.currentPath(name), Err: formats.Cause(err)}
	}
	c.some = true
	c.moveAside(name, digest)
	c.add(name, Removed)
	return nil
}

// isOurs reports whether an update of this machine wrote a file. Without a mark its name
// tells.
func (c *storeChanges) isOurs(name string) bool {
	if c.before != nil || c.opts.Delete {
		_, ok := c.known(name)
		return ok
	}
	return slices.Contains([]string{".ndjson", ".jsonl", ".gz", ".zst"}, path.Ext(name)) && !strings.HasPrefix(path.Base(name), ".")
}

// keeps reports whether the text is valid with a file that is not made any more.
func (c *storeChanges) keeps(name string) bool {
	if c.rep.Lane == SessionConversion {
		return true
	}
	root := path.Join(c.base, c.store)
	return c.to.Records.Keeps != nil && c.to.Records.Keeps(c.currentPath(root), c.stagedPath(root), c.inStore(name))
}

// inStore returns the path of a file below its store.
func (c *storeChanges) inStore(name string) string {
	return strings.TrimPrefix(c.below(name), c.store+"/")
}

func (c *storeChanges) add(name, change string) {
	c.files = append(c.files, FileChange{Path: c.below(name), Change: change})
}

// change returns what happens to the store as a whole.
func (c *storeChanges) change() string {
	switch {
	case !c.some && len(c.put) > 0:
		return Added
	case len(c.put)+len(c.aside) > 0:
		return Updated
	}
	return Unchanged
}

// compareSidecar compares the sidecar, which all stores share.
func (u *update) compareSidecar(some bool) error {
	c := u.newChanges("")
	name, old := path.Join(u.sidecar.To.Tail...), path.Join(u.sidecar.Previous.Tail...)
	var err error
	if some {
		if err = c.compare(name); len(c.put) > 0 {
			u.rep.Sidecar = u.sidecar.To.Display
		}
	}
	if err == nil && u.sidecar.PreviousExists && (!some || old != name) {
		var digest string
		if digest, err = fsx.Digest(u.currentPath(old)); err == nil {
			c.moveAside(old, digest)
		}
	}
	if err == nil {
		err = c.editedError()
	}
	c.accept()
	return err
}

// carrySidecar keeps the items of the stores of which the target keeps what it has.
func (u *update) carrySidecar() error {
	if !u.sidecar.PreviousExists || u.sidecar.Off {
		return nil
	}
	at := u.sidecar.Previous
	f, err := sidecar.Open(at.Path())
	if err != nil {
		return err
	}
	defer f.Close()
	items, err := sidecar.Read(f, at.Display)
	if err != nil {
		return err
	}
	for i, s := range u.rep.Stores {
		if u.omitted[i] == nil {
			u.omitted[i] = sidecar.Carried(s.Path, items)
		}
		delete(items, strings.TrimPrefix(s.Path, "."))
	}
	if u.opts.Delete {
		return nil
	}
	for _, rel := range sidecar.Stores(items) {
		u.omitted = append(u.omitted, sidecar.Carried(rel, items))
	}
	return nil
}

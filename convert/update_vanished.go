package convert

import (
	"cmp"
	"errors"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"rehome/convert/internal/mark"
	"rehome/convert/internal/walk"
	"rehome/formats"
)

// vanished finds what the target has of stores that are no longer in the source, and,
// in a session conversion, of sessions that are not.
func (u *update) vanished() {
	for _, rel := range u.vanishedStores() {
		c := &storeChanges{update: u, store: rel}
		rep := newStoreReport(Found{Rel: rel})
		rep.Status, rep.Change = Kept, Kept
		for _, name := range u.filesFrom(rel) {
			if !u.opts.Delete {
				c.add(name, Kept)
				continue
			}
			digest, err := mark.Digest(u.currentPath(name))
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if _, ok := u.known(name); !ok && !u.isCommitted(name) && strings.HasPrefix(path.Base(name), ".") {
				continue // not rehome's
			}
			c.moveAside(name, digest)
			c.add(name, Removed)
		}
		if rep.Files = c.files; u.opts.Delete {
			rep.Status, rep.Change = Removed, Removed
		}
		if err := c.editedError(); err != nil {
			rep.fail(err)
			rep.Change, rep.Files, c.aside, c.forced = "", nil, nil, nil
		}
		u.aside, u.forced = append(u.aside, c.aside...), append(u.forced, c.forced...)
		u.rep.Stores = append(u.rep.Stores, rep)
		for _, name := range c.aside {
			delete(u.after.Files, u.below(name))
		}
	}
	if u.rep.Lane == SessionConversion {
		u.vanishedSessions()
	}
}

// vanishedStores returns the paths of the stores that only the target has.
func (u *update) vanishedStores() []string {
	found := map[string]bool{}
	for i := range u.rep.Stores {
		found[u.rep.Stores[i].Path] = true
	}
	gone := map[string]bool{}
	if u.before != nil {
		for rel := range u.before.Stores {
			gone[rel] = !found[rel] && len(u.filesFrom(rel)) > 0
		}
	}
	start, err := formats.Locate(u.dest.Path())
	if err == nil && u.rep.Lane == ExactConversion {
		for it := range walk.Items(u.ctx, u.reg, start, func(rel string) bool { return found[rel] }) {
			if it.Why == walk.Store && it.Rel != "." && it.Detected[0].Format.Text && it.Detected[0].Format.Records != nil {
				gone[it.Rel] = true
			}
		}
	}
	maps.DeleteFunc(gone, func(_ string, is bool) bool { return !is })
	return slices.Sorted(maps.Keys(gone))
}

// filesFrom returns the files of the target that were made of a store.
func (u *update) filesFrom(rel string) (out []string) {
	if u.rep.Lane == SessionConversion {
		for name, f := range u.before.Files {
			if info, err := u.lstat(u.above(name)); f.Store == rel && err == nil && info != nil {
				out = append(out, u.above(name))
			}
		}
		slices.Sort(out)
		return out
	}
	root := u.currentPath(path.Join(u.base, rel))
	filepath.WalkDir(root, func(at string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
		case e.IsDir() && strings.HasPrefix(e.Name(), ".") && at != root:
			return fs.SkipDir // .git
		case e.Type().IsRegular():
			if name, err := filepath.Rel(u.dest.Dir, at); err == nil {
				out = append(out, filepath.ToSlash(name))
			}
		}
		return nil
	})
	return out
}

// above is the reverse of below.
func (u *update) above(rel string) string { return path.Join(u.base, rel) }

// vanishedSessions finds the files of sessions that stores which are there no longer
// have. Those of a store of which some session failed or was withheld stay.
func (u *update) vanishedSessions() {
	if u.before == nil {
		if u.opts.Delete {
			u.notify.Say("nothing deleted: there is no record of an earlier update of " + u.dest.Display + " on this machine")
		}
		return
	}
	for i := range u.rep.Stores {
		rep := &u.rep.Stores[i]
		if rep.Change == "" || rep.Change == Kept || rep.Change == Removed {
			continue
		}
		whole := !slices.ContainsFunc(rep.Sessions, func(s SessionReport) bool { return s.Status != Placed && s.Status != Checked })
		c := &storeChanges{update: u, store: rep.Path}
		for _, name := range u.filesFrom(rep.Path) {
			if u.made[u.below(name)] || !whole {
				continue
			}
			if err := c.vanishedFile(name); err != nil {
				u.notify.Say(err.Error())
			}
		}
		if err := c.editedError(); err != nil {
			u.notify.Say(err.Error() + " (" + formats.Hint(err) + ")")
			continue
		}
		for _, name := range c.aside {
			delete(u.after.Files, u.below(name))
		}
		rep.Files = append(rep.Files, c.files...)
		if len(c.aside) > 0 {
			rep.Change = cmp.Or(strings.TrimPrefix(rep.Change, Unchanged), Updated)
		}
		u.aside, u.forced = append(u.aside, c.aside...), append(u.forced, c.forced...)
	}
}

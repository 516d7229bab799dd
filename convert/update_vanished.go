package convert

import (
	"cmp"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"rehome/convert/internal/walk"
	"rehome/formats"
	"rehome/internal/fsx"
)

// vanished finds what the target has of stores that are no longer in the source, and,
// in a session conversion, of sessions that are not.
func (u *update) vanished() {
	for _, rel := range u.vanishedStores() {
		c := u.newChanges(rel)
		rep := newStoreReport(Found{Rel: rel})
		rep.Status, rep.Change = Kept, Kept
		for _, name := range u.filesFrom(rel) {
			if _, known := u.known(name); !u.opts.Delete || !known {
				c.add(name, Kept)
			} else if digest, err := fsx.Digest(u.currentPath(name)); err == nil {
				c.moveAside(name, digest)
				c.add(name, Removed)
				rep.Status, rep.Change = Removed, Removed
			}
		}
		if err := c.editedError(); err != nil {
			rep.fail(err)
			rep.Change, c.files = "", nil
		} else {
			c.accept()
		}
		rep.Files = c.files
		u.rep.Stores = append(u.rep.Stores, rep)
	}
	if u.opts.Delete && u.before == nil {
		u.notify.Say("nothing deleted: there is no record of an earlier update of " + u.dest.Display + " on this machine")
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
		for it := range walk.Items(u.ctx, u.reg, start, func(rel string, _ bool) bool { return found[rel] }) {
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
		for _, name := range u.byStore[rel] {
			if info, err := u.lstat(u.above(name)); err == nil && info != nil {
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
			name, err := filepath.Rel(u.dest.Dir, at)
			name = filepath.ToSlash(name)
			if _, known := u.known(name); err == nil && (known || !strings.HasPrefix(e.Name(), ".")) {
				out = append(out, name)
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
		return
	}
	for i := range u.rep.Stores {
		rep := &u.rep.Stores[i]
		if rep.Change == "" || rep.Change == Kept || rep.Change == Removed {
			continue
		}
		whole := !slices.ContainsFunc(rep.Sessions, func(s SessionReport) bool { return s.Status != Placed && s.Status != Checked })
		c := u.newChanges(rep.Path)
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
		rep.Files = append(rep.Files, c.files...)
		if len(c.aside) > 0 {
			rep.Change = cmp.Or(strings.TrimPrefix(rep.Change, Unchanged), Updated)
		}
		c.accept()
	}
}

package backup

import (
	"context"
	"os"
	"path/filepath"
	"slices"

	"rehome/convert/internal/walk"
	"rehome/formats"
	"rehome/formats/clients"
)

// addKept adds the units of the clients whose sessions no format reads, as far as they
// are not known yet. projects are folders in which some clients keep theirs.
func (r *run) addKept(ctx context.Context, projects []string) {
	slices.Sort(projects)
	for _, c := range clients.Kept(r.reg) {
		for _, root := range c.Roots(r.o.Machine, projects) {
			if real := c.Name + "\x00" + walk.ResolvedPath(root); !r.kept[real] {
				r.kept[real] = true
				r.addUnits(r.keptUnits(ctx, c, root))
			}
		}
	}
}

// keptUnits returns the units of a client in a folder: its databases, and all of its
// files together.
func (r *run) keptUnits(ctx context.Context, c *clients.Client, root string) (out []*unit) {
	found, err := c.Store(ctx, root)
	if len(found.Files) > 0 || err != nil {
		u := r.keptUnit(c, root, filesKind)
		u.list, u.err = found.Files, err
		out = append(out, u)
	}
	for _, db := range found.Databases {
		u := r.keptUnit(c, filepath.Join(root, filepath.FromSlash(db)), archiveKind)
		u.text = c.Name + "/databases/" + textPath(u.stored)
		u.leftOut = c.Secrets()
		out = append(out, u)
	}
	if len(out) > 0 {
		out[0].leftOut = append(found.LeftOut, out[0].leftOut...)
	}
	return out
}

func (r *run) keptUnit(c *clients.Client, at, kind string) *unit {
	u := &unit{client: c.Name, path: at, real: walk.ResolvedPath(at), stored: portable(r.o.Machine.Home, at), kind: kind, kept: c}
	u.format = c.Format(r.reg, keptFormat(kind), nil)
	u.text = c.Name + "/" + textPath(u.stored)
	return u
}

// keptFormat returns the format of a unit of a client that no format reads.
func keptFormat(kind string) string {
	if kind == archiveKind {
		return clients.DatabaseFormat
	}
	return clients.FilesFormat
}

// projectFolders returns folders of projects, as far as the previous snapshot knows.
func (r *run) projectFolders() []string {
	out := slices.Clone(r.o.Folders)
	if r.prev == nil {
		return out
	}
	for i := range r.prev.Stores {
		s := &r.prev.Stores[i]
		for _, one := range s.Sessions {
			out = append(out, one.Project)
		}
		if at := s.absolute(r.o.Machine.Home); s.Format == keptFormat(s.Kind) {
			out = append(out, at, filepath.Dir(filepath.Dir(at))) // it, or a database in it
		}
	}
	return out
}

// keptSessions returns how many sessions the copy of a unit holds.
func (u *unit) keptSessions(ctx context.Context, s *saved) (n int) {
	if u.kind == archiveKind {
		return max(0, u.kept.CountRows(ctx, u.real))
	}
	for _, f := range s.store.List {
		if u.kept.IsSession(f.Path) {
			n++
		}
	}
	return n
}

// format returns the format of a store in a snapshot.
func (r *restore) format(s *Store, dest string) (*formats.Format, error) {
	c := clients.Lookup(s.Client)
	if c == nil || s.Format != keptFormat(s.Kind) {
		return r.snap.reg.Find(s.Format)
	}
	project := dest
	if s.Kind == archiveKind {
		project = filepath.Dir(filepath.Dir(dest))
	}
	if info, err := os.Stat(project); r.o.To == "" && (err != nil || !info.IsDir()) {
		return c.Format(r.snap.reg, s.Format, nil), nil
	}
	return c.Format(r.snap.reg, s.Format, []string{project}), nil
}

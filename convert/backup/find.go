package backup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"rehome/convert/internal/walk"
	"rehome/convert/sessions"
	"rehome/formats"
	"rehome/formats/clients"
)

// unit is what is saved as one store: an archive of a SQLite store, or the files of
// all other stores of a client in one place.
type unit struct {
	client string
	format *formats.Format
	path   string // as found
	real   string // without links
	stored string // Store.Path
	text   string // Store.Text
	kind   string
	only   []string // of a folder of which only some files are stores: their names

	kept    *clients.Client // of a client that no format reads
	list    []string        // slash paths of its files
	leftOut []string
	err     error // why list is incomplete

	sessions []Session
}

// find finds the units of the machine.
func (r *run) find(ctx context.Context) error {
	found, listing, err := sessions.Stores(ctx, r.reg, sessions.Options{Machine: r.o.Machine, Jobs: r.o.Jobs})
	if err != nil {
		return err
	}
	r.rep.Searched = append(listing.Places, listing.Absent...)
	r.unread = listing.Unread
	var units []*unit
	seen := map[string]*unit{}
	for _, s := range found {
		if s.Format.Sessions == nil || s.Format.Home != nil && s.Format.Home.Kept { // text that somebody made of a store; or it is kept below
			continue
		}
		u := newUnit(r.o.Machine, s)
		key := u.client + "\x00" + u.real
		if was := seen[key]; was != nil {
			was.only = append(was.only, u.only...)
			continue
		}
		seen[key] = u
		units = append(units, u)
	}
	units = slices.DeleteFunc(units, func(u *unit) bool {
		return slices.ContainsFunc(units, func(o *unit) bool { return o.holds(u) })
	})
	slices.SortFunc(units, func(a, b *unit) int {
		return strings.Compare(a.client+"\x00"+a.stored, b.client+"\x00"+b.stored)
	})
	r.addUnits(units)
	r.addKept(ctx, r.projectFolders())
	return ctx.Err()
}

// addUnits adds units, each with its own folder in the snapshot.
func (r *run) addUnits(units []*unit) {
	for _, u := range units {
		for r.texts[strings.ToLower(u.text)] { // a disk may ignore case
			u.text += "~"
		}
		r.texts[strings.ToLower(u.text)] = true
	}
	r.units = append(r.units, units...)
}

// holds reports whether the saved files of u include those of o.
func (u *unit) holds(o *unit) bool {
	return u.only == nil && u.real != o.real && walk.AtOrBelow(o.real, u.real) && (u.kind == archiveKind || u.client == o.client)
}

func newUnit(m formats.Machine, s sessions.Store) *unit {
	u := &unit{client: clientOf(s.Format), format: s.Format, path: s.Path, kind: filesKind}
	if s.Format.Records.Has(formats.Tables) && !s.Format.Text {
		u.kind = archiveKind
	}
	if info, err := os.Stat(u.path); err == nil && !info.IsDir() && u.kind == filesKind {
		u.path, u.only = filepath.Dir(u.path), []string{filepath.Base(u.path)}
	}
	u.real = walk.ResolvedPath(u.path)
	u.stored = portable(m.Home, u.path)
	u.text = u.client + "/" + textPath(u.stored)
	return u
}

// clientOf names the client whose stores have a format, or the format if several
// clients write it.
func clientOf(f *formats.Format) string {
	if len(f.Clients) == 1 {
		return f.Clients[0]
	}
	return f.Name
}

// portable returns a path as an index has it.
func portable(home, at string) string {
	if abs, err := filepath.Abs(at); err == nil {
		at = abs
	}
	if rel, err := filepath.Rel(home, at); home != "" && err == nil && rel != "." && filepath.IsLocal(rel) {
		return "~/" + filepath.ToSlash(rel)
	}
	return filepath.ToSlash(at)
}

// textPath returns the path of a store in a snapshot, below the folder of its
// client. What is not in the home folder has a folder whose name no client uses.
func textPath(stored string) string {
	if rel, ok := strings.CutPrefix(stored, "~/"); ok {
		return rel
	}
	return path.Join("outside-home", strings.ReplaceAll(strings.TrimLeft(stored, "/"), ":", ""))
}

// sourceFile is a file of a unit of files.
type sourceFile struct {
	rel  string // slash path below the unit
	path string
	info fs.FileInfo
}

// files lists the files of a unit, sorted. Of a client's root that also holds other
// things, these are only those of its sessions. Links are not followed.
func (u *unit) files() (out []sourceFile, err error) {
	tops := []string{""}
	if u.kept != nil {
		tops, err = u.list, u.err
	} else if u.only != nil {
		tops = u.only
	} else if parts := parts(u.format); slices.ContainsFunc(parts, func(p string) bool { return exists(filepath.Join(u.real, p)) }) {
		tops = parts
	}
	for _, top := range tops {
		err = errors.Join(err, filepath.WalkDir(filepath.Join(u.real, top), func(p string, e fs.DirEntry, err error) error {
			switch {
			case errors.Is(err, fs.ErrNotExist):
				return nil // removed, or a part that the client does not have
			case err != nil:
				return err
			case e.IsDir() && (formats.IsStaging(e.Name()) || e.Name() == ".git"):
				return fs.SkipDir
			case !e.Type().IsRegular() || isNoise(e.Name()):
				return nil
			}
			info, err := e.Info()
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			} else if err != nil {
				return err
			}
			rel, err := filepath.Rel(u.real, p)
			out = append(out, sourceFile{filepath.ToSlash(rel), p, info})
			return err
		}))
	}
	slices.SortFunc(out, func(a, b sourceFile) int { return strings.Compare(a.rel, b.rel) })
	return out, err
}

// parts returns the entries of a client's root that are saved, nil for all.
func parts(f *formats.Format) []string {
	if f.Home == nil {
		return nil
	}
	return f.Home.Parts
}

// isNoise reports whether a system puts files with this name into folders.
func isNoise(name string) bool {
	return slices.Contains([]string{".DS_Store", "Thumbs.db", "desktop.ini"}, name)
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// list lists the sessions of units that have changed.
func (r *run) list(ctx context.Context, units []*unit) error {
	if len(units) == 0 {
		return nil
	}
	o := sessions.Options{Folders: sessions.Candidates{Dirs: slices.Clone(r.o.Folders)}, Live: r.o.Live, Jobs: r.o.Jobs}
	for _, u := range units {
		o.Paths = append(o.Paths, u.real)
	}
	if r.prev != nil {
		for i := range r.prev.Stores {
			for _, s := range r.prev.Stores[i].Sessions {
				o.Folders.Dirs = append(o.Folders.Dirs, s.Project)
			}
		}
	}
	listing, err := sessions.List(ctx, r.reg, o)
	if err != nil {
		return fmt.Errorf("list sessions: %w", err)
	}
	for _, s := range listing.All() {
		one := Session{Client: s.Agent, ID: s.ID, Title: s.Title, Project: s.Workspace, Updated: s.Updated.Millis()}
		if s.Parent != nil {
			one.Parent = s.Parent.Session
		}
		if !s.Updated.Known() {
			one.Updated = 0
		}
		for _, u := range units {
			if slices.ContainsFunc(s.Sources, func(src sessions.Source) bool { return walk.AtOrBelow(src.Path, u.real) }) {
				u.sessions = append(u.sessions, one)
			}
		}
	}
	for _, u := range units {
		slices.SortStableFunc(u.sessions, func(a, b Session) int { return strings.Compare(a.ID, b.ID) })
	}
	return nil
}

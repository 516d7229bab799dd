package backup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"rehome/convert"
	"rehome/convert/internal/stage"
	"rehome/convert/internal/walk"
	"rehome/convert/internal/workers"
	"rehome/convert/sessions"
	"rehome/formats"
	"rehome/formats/session"
	"rehome/internal/scratch"
)

// Snapshot is a snapshot that can be restored.
type Snapshot struct {
	Dir   string
	Index *Index

	reg *formats.Registry
}

// Open opens a snapshot, or the newest one in a folder of backups.
func Open(reg *formats.Registry, path string) (*Snapshot, error) {
	if !exists(filepath.Join(path, IndexName)) {
		if _, err := Snapshots(path); err != nil {
			return nil, err
		}
		newest := Newest(path)
		if newest == "" {
			return nil, noBackup(path)
		}
		path = newest
	}
	ix, err := readIndex(path)
	if err != nil {
		return nil, err
	}
	return &Snapshot{path, ix, reg}, nil
}

// Listing returns the sessions in the snapshot.
func (s *Snapshot) Listing() *sessions.Listing {
	var list []sessions.Listed
	at := map[[3]string]int{}
	for i := range s.Index.Stores {
		of := &s.Index.Stores[i]
		if of.Text == "" {
			continue
		}
		src := sessions.Source{Path: filepath.Join(s.Dir, filepath.FromSlash(of.Text)), Format: of.Format}
		for _, one := range of.Sessions {
			key := [3]string{one.Client, one.ID, one.Project}
			if k, ok := at[key]; ok {
				list[k].Sources = append(list[k].Sources, src)
				continue
			}
			at[key] = len(list)
			h := session.Head{ID: one.ID, Agent: one.Client, Title: one.Title, Workspace: one.Project, Turns: -1, Bytes: -1}
			if one.Updated != 0 {
				h.Updated = session.Stored(one.Updated)
			}
			if one.Parent != "" {
				h.Parent = &session.Link{Session: one.Parent}
			}
			list = append(list, sessions.Listed{Head: h, Sources: []sessions.Source{src}})
		}
	}
	return sessions.NewListing(s.reg, list)
}

// RestoreOptions are the options of Restore.
type RestoreOptions struct {
	Machine      formats.Machine
	To           string   // the folder to restore to, in place of the home folder; "" = in place
	Client       string   // only this client or family of clients; "" = any
	Project      string   // only sessions of this folder, or of folders in it; "" = any
	IDs          []string // only the sessions with these ids; none = all
	Replace      bool     // replace what is older, keeping it as <name>.bak-<n>
	WithSettings bool     // also restore files that tell a client what to do
	DryRun       bool     // verify and compare, but write nothing
	Jobs         int      // workers; 0 = one per CPU

	OnNotice func(string) // one-line remarks; may be nil
}

// Restored is the result of Restore. Its JSON is the output of `rehome restore
// --json`.
type Restored struct {
	Snapshot string          `json:"from"`
	To       string          `json:"to,omitempty"`
	DryRun   bool            `json:"dry_run"`
	Stores   []RestoredStore `json:"stores"`
}

// The states of what was restored, besides Unchanged and Failed.
const (
	Recovered = "restored"
	Older     = "older" // than the backup: refused
	Newer     = "newer" // than the backup: not touched
)

// RestoredStore is the result for one store. A store of files has a count for each
// state; one that is an archive is in one state as a whole.
type RestoredStore struct {
	Client   string         `json:"client"`
	Format   string         `json:"format"`
	Path     string         `json:"path"`
	Status   string         `json:"status"` // the most important state of its files
	Files    map[string]int `json:"files,omitempty"`
	Changed  []string       `json:"changed,omitempty"`  // files that are older or newer
	Settings []string       `json:"settings,omitempty"` // files that hold no session; restored only WithSettings
	Backup   string         `json:"backup,omitempty"`   // where --replace kept the old store
	LeftOut  []string       `json:"left_out,omitempty"` // what the backup has not, see StoreReport
	Missing  []Session      `json:"missing,omitempty"`  // sessions that only the backup has, and that cannot be restored in place
	Sessions int            `json:"sessions"`

	Error *convert.ErrorReport `json:"error,omitempty"`
	err   error
}

// Count returns the number of stores with a status.
func (r *Restored) Count(status string) (n int) {
	for i := range r.Stores {
		if r.Stores[i].Status == status {
			n++
		}
	}
	return n
}

// Restore restores what the options select of a snapshot. Stores that could not be
// restored are in the result. The error is non-nil if nothing could be selected, or if
// the rest was not tried.
func Restore(ctx context.Context, s *Snapshot, o RestoreOptions) (*Restored, error) {
	scratch.Sweep()
	out := &Restored{Snapshot: s.Dir, To: o.To, DryRun: o.DryRun, Stores: []RestoredStore{}}
	m := complete(o.Machine)
	r := &restore{snap: s, o: o, home: m.Home, machine: m}
	if o.To != "" {
		abs, err := filepath.Abs(o.To)
		if err != nil {
			return out, err
		}
		r.home, r.machine = abs, formats.Machine{OS: m.OS, Home: abs}
	}
	if r.home == "" {
		return out, &formats.Error{Err: errors.New("the home folder is unknown"), Hint: "set HOME, or pass --to DIR"}
	}
	r.sweep()
	r.choose()
	if len(r.chosen) == 0 {
		return out, &formats.Error{At: s.Dir, Err: errors.New("no such session in this backup"), Hint: "run `rehome restore --dry-run` to list what it holds"}
	}
	results := make([]RestoredStore, len(r.chosen))
	run, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	workers.Run(run, workers.Count(o.Jobs), slices.Values(r.chosen), func(c *choice, last bool) bool {
		one := &results[c.n]
		*one = RestoredStore{Client: c.store.Client, Format: c.store.Format, Path: c.dest, Sessions: c.sessions, LeftOut: c.store.LeftOut}
		if o.To == "" {
			one.Path = portable(r.home, c.dest)
		}
		err := r.restore(run, c, one)
		if stage.DiskFull(err) { // and will be for the others
			stop(stage.Full(err, r.home, "free some space and run it again: what was restored stays as it is"))
		}
		if err != nil && !last && workers.TooManyFiles(err) {
			return true
		}
		if err != nil {
			one.Status, one.err, one.Error = Failed, err, newErrorReport(err)
		}
		return false
	})
	out.Stores = slices.DeleteFunc(results, func(s RestoredStore) bool { return s.Status == "" || errors.Is(s.err, context.Canceled) })
	return out, context.Cause(run)
}

// Err returns why the store was not restored, nil if it was or did not have to be.
func (s *RestoredStore) Err() error { return s.err }

// restore is one call of Restore.
type restore struct {
	snap    *Snapshot
	o       RestoreOptions
	home    string
	machine formats.Machine
	chosen  []*choice
}

// choice is a store to restore, or some of its files.
type choice struct {
	n        int
	store    *Store
	dest     string
	files    []File // of a store of files
	sessions int
}

// choose selects the stores and files to restore.
func (r *restore) choose() {
	all := r.o.Client == "" && r.o.Project == "" && len(r.o.IDs) == 0
	selected := map[[2]string]bool{}
	if !all {
		listing := r.snap.Listing()
		ids := listing.WithSubagents(r.o.IDs)
		found, _ := listing.Select(sessions.Filter{Project: r.o.Project, Agent: r.o.Client, Empty: true})
		for _, s := range sessions.Families(found) {
			if len(r.o.IDs) == 0 || slices.Contains(ids, s.ID) {
				selected[[2]string{s.Agent, s.ID}] = true
			}
		}
	}
	for i := range r.snap.Index.Stores {
		s := &r.snap.Index.Stores[i]
		if s.Text == "" {
			continue
		}
		c := &choice{n: len(r.chosen), store: s, dest: r.dest(s), files: s.List, sessions: len(s.Sessions) + s.Count}
		if !all && !c.narrow(selected, r.o.Project == "" && len(r.o.IDs) == 0, r.o.Client) {
			continue
		}
		r.chosen = append(r.chosen, c)
	}
}

// narrow leaves only what belongs to the selected sessions, and reports whether there
// is anything. An archive is restored as a whole, and so is a store of files if whole
// clients are wanted.
func (c *choice) narrow(selected map[[2]string]bool, whole bool, client string) bool {
	if c.store.Format == keptFormat(c.store.Kind) {
		return whole && c.store.Client == client
	}
	var ids []string
	for _, s := range c.store.Sessions {
		if selected[[2]string{s.Client, s.ID}] {
			ids = append(ids, s.ID)
		}
	}
	c.sessions = len(ids)
	if c.store.Kind == filesKind && !whole {
		c.files = nil
		for _, f := range c.store.List {
			if slices.ContainsFunc(ids, func(id string) bool { return isNamedAfter(f.Path, id) }) {
				c.files = append(c.files, f)
			}
		}
	}
	return len(ids) > 0
}

// isNamedAfter reports whether a file or a folder above it is named after a session.
func isNamedAfter(path, id string) bool {
	for name := range strings.SplitSeq(path, "/") {
		stem, _, _ := strings.Cut(name, ".")
		if stem == id || len(id) >= minID && strings.Contains(name, id) {
			return true
		}
	}
	return false
}

// minID is the length from which an id can be part of a name: clients' own are
// longer.
const minID = 16

// dest returns where a store is restored to.
func (r *restore) dest(s *Store) string {
	if r.o.To != "" && !strings.HasPrefix(s.Path, "~/") {
		return filepath.Join(r.home, filepath.FromSlash(textPath(s.Path)))
	}
	return s.absolute(r.home)
}

// restore restores a store, or only says what it would do.
func (r *restore) restore(ctx context.Context, c *choice, out *RestoredStore) error {
	f, err := r.format(c.store, c.dest)
	if err != nil {
		return err
	}
	if archived := f.Records.Has(formats.Tables) && !f.Text; archived != (c.store.Kind == archiveKind) {
		return &formats.Error{At: c.store.Path, Err: fmt.Errorf("a store of %s is not saved as %s", f.Name, c.store.Kind), Hint: "the backup is damaged: name another snapshot"}
	}
	root, err := r.place(f, c)
	if err != nil {
		return err
	}
	if err := checkFolders(r.snap.Dir, c.store.Text); err != nil {
		return err
	}
	if c.store.Kind == archiveKind {
		return r.restoreArchive(ctx, f, c, out)
	}
	return r.restoreFiles(ctx, f, root, c, out)
}

// checkFolders returns an error if a slash path below a folder does not lead through
// folders alone: a link could lead anywhere.
func checkFolders(dir, rel string) error {
	for name := range strings.SplitSeq(rel, "/") {
		dir = filepath.Join(dir, name)
		info, err := os.Lstat(dir)
		if err == nil && !info.IsDir() {
			err = stage.ErrNotFolder
		}
		if err != nil {
			return &formats.Error{At: dir, Err: formats.Cause(err), Hint: damagedHint}
		}
	}
	return nil
}

const damagedHint = "the snapshot is damaged: restore from another one"

// place returns the folder of a client of this machine in which it would look for the
// store, and an error if there is none: a backup must not place anything else. It is ""
// for what goes to another folder, where no client looks.
func (r *restore) place(f *formats.Format, c *choice) (string, error) {
	if r.o.To != "" && !strings.HasPrefix(c.store.Path, "~/") {
		return "", nil
	}
	var places []string
	if f.Home != nil {
		places = f.Home.Roots(r.machine)
		// Some formats list only folders that exist. Of a home folder that does
		// not, they list the place of all.
		absent := r.machine
		absent.Home, absent.Getenv = filepath.Join(r.home, ".rehome-absent"), nil
		for _, p := range f.Home.Roots(absent) {
			if rel, err := filepath.Rel(absent.Home, p); err == nil && filepath.IsLocal(rel) {
				places = append(places, filepath.Join(r.home, rel))
			}
		}
	}
	for _, p := range places {
		rel, err := filepath.Rel(p, c.dest)
		isPlace := err == nil && walk.AtOrBelow(c.dest, p)
		if c.store.Kind == archiveKind {
			isPlace = isPlace && (f.Home.SessionFiles == nil || f.Home.IsSessionFile(p, filepath.ToSlash(rel)))
		} else {
			isPlace = isPlace && fits(p, c, parts(f))
		}
		if isPlace {
			return p, nil
		}
	}
	hint := "pass --to DIR to restore it elsewhere"
	if len(places) == 0 { // the client keeps sessions in folders of projects alone
		hint = "make or clone the folder of the project first, or " + hint
	}
	return "", &formats.Error{At: c.dest, Err: fmt.Errorf("no place where %s looks for sessions on this machine", c.store.Client), Hint: hint}
}

// fits reports whether all files of a store go to the parts of a root that hold
// sessions.
func fits(root string, c *choice, parts []string) bool {
	for _, f := range c.files {
		top, _, _ := strings.Cut(below(root, c, f), "/")
		if parts != nil && !slices.Contains(parts, top) {
			return false
		}
	}
	return true
}

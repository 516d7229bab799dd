package backup

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"rehome/convert/internal/notify"
	"rehome/convert/internal/stage"
	"rehome/convert/internal/walk"
	"rehome/convert/internal/workers"
	"rehome/convert/sessions"
	"rehome/formats"
	"rehome/internal/fsx"
	"rehome/internal/scratch"
)

// stagingPrefix begins the names of the folders in which snapshots are made.
const stagingPrefix = ".snapshot" + formats.StagingMark

// Run saves the stores of a machine to a folder. The report is never nil. The error
// is non-nil only if there is no complete snapshot; stores that could not be saved
// are in the report.
func Run(ctx context.Context, reg *formats.Registry, dir string, o Options) (*Report, error) {
	scratch.Sweep()
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.rename == nil {
		o.rename = fsx.Move
	}
	o.Machine = complete(o.Machine)
	r := &run{reg: reg, o: o, now: o.Now(), marks: map[string]string{}, texts: map[string]bool{}, kept: map[string]bool{}, notify: notify.Notifier{OnProgress: o.OnProgress, OnNotice: o.OnNotice}}
	r.rep = &Report{Dir: dir, DryRun: o.DryRun, Stores: []StoreReport{}, Removed: []string{}}
	err := r.run(ctx)
	if err != nil {
		r.rep.Snapshot, r.rep.Removed = "", []string{}
		err = stage.Full(err, dir, "no snapshot was made: free some space, or name a folder on another disk")
	}
	return r.rep, err
}

// complete returns a machine whose home folder is an absolute path, as those of stores
// are.
func complete(m formats.Machine) formats.Machine {
	if m.Getenv == nil {
		m.Getenv = func(string) string { return "" }
	}
	if abs, err := filepath.Abs(m.Home); err == nil && m.Home != "" {
		m.Home = abs
	}
	return m
}

// run is one call of Run.
type run struct {
	reg    *formats.Registry
	o      Options
	now    time.Time
	notify notify.Notifier
	rep    *Report

	dir      string // the folder of backups, resolved
	prevDir  string // the newest snapshot, "" if there is none
	prev     *Index
	oldMarks map[string]string

	units  []*unit
	texts  map[string]bool // of the units, in lower case
	kept   map[string]bool // folders of clients that no format reads
	unread []sessions.Unread

	tree string // the snapshot, under a temporary name

	mu    sync.Mutex
	marks map[string]string
}

func (r *run) run(ctx context.Context) error {
	if err := r.prepare(); err != nil {
		return err
	}
	if err := r.find(ctx); err != nil {
		return err
	}
	if len(r.units) == 0 && len(r.unread) == 0 && r.prev == nil {
		return nil // nothing to save; the report says where it was looked for
	}
	private, err := r.makeDir()
	if err != nil {
		return err
	}
	defer private.Remove()
	r.tree = private.Path

	ix, changed, err := r.save(ctx)
	if err != nil {
		return err
	}
	if !r.rep.Git {
		r.rep.Previous = base(r.prevDir)
	}
	switch {
	case r.o.DryRun:
		return nil
	case r.rep.Git:
		return r.placeInGit(ctx, ix, changed)
	case changed:
		err = r.place(ctx, ix)
	default:
		err = writeMarks(r.dir, r.prevDir, r.marks)
	}
	if err != nil {
		return err
	}
	return errors.Join(r.forgetVanished(), r.prune())
}

// makeDir makes the folder of backups, and one for the new snapshot in it.
func (r *run) makeDir() (*scratch.Dir, error) {
	if r.o.DryRun {
		return stage.NewTemp("backup")
	}
	if err := os.MkdirAll(r.dir, 0o700); err != nil {
		return nil, &formats.Error{At: r.rep.Dir, Err: formats.Cause(err)}
	}
	if r.rep.Git {
		// The folder is as visible as its repository.
	} else if err := os.Chmod(r.dir, 0o700); err != nil { // it holds keys and whole conversations
		return nil, &formats.Error{At: r.rep.Dir, Err: formats.Cause(err), Hint: "name a folder of your own"}
	}
	scratch.SweepBeside(r.dir, stagingPrefix, func(string, error) {})
	d, err := scratch.Claim(r.dir, stagingPrefix)
	if err != nil {
		return nil, &formats.Error{At: r.rep.Dir, Err: formats.Cause(err), Hint: "if another backup to this folder is running, wait for it"}
	}
	if err := errors.Join(os.RemoveAll(d.Path), os.Mkdir(d.Path, 0o700)); err != nil { // a killed run left it
		return nil, errors.Join(err, d.Remove())
	}
	return d, nil
}

// save saves all units, and reports whether anything differs from the previous
// snapshot. What is equal to it is linked only if so.
func (r *run) save(ctx context.Context) (*Index, bool, error) {
	r.notify.Begin(notify.Reading, "", 0)
	all, err := r.saveUnits(ctx, r.units)
	if err != nil {
		return nil, false, err
	}
	var fresh []*unit
	for i, u := range r.units {
		if all[i].fresh && u.kept == nil {
			fresh = append(fresh, u)
		}
	}
	if err := r.list(ctx, fresh); err != nil {
		r.notify.Say(err.Error())
	}
	known, folders := len(r.units), []string{}
	for _, u := range fresh {
		for _, s := range u.sessions {
			folders = append(folders, s.Project)
		}
	}
	r.addKept(ctx, folders)
	more, err := r.saveUnits(ctx, r.units[known:])
	if err != nil {
		return nil, false, err
	}
	return r.index(ctx, append(all, more...))
}

func (r *run) saveUnits(ctx context.Context, units []*unit) ([]*saved, error) {
	saved := make([]*saved, len(units))
	r.notify.Update(func(p *notify.Progress) { p.Stores += len(units) })
	indexes := func(yield func(int) bool) {
		for i := range units {
			if !yield(i) {
				return
			}
		}
	}
	workers.Run(ctx, workers.Count(r.o.Jobs), indexes, func(i int, last bool) bool {
		s, err := r.saveUnit(ctx, units[i])
		if err != nil && !last && workers.TooManyFiles(err) {
			return true
		}
		s.err = errors.Join(s.err, err)
		saved[i] = s
		r.notify.Update(func(p *notify.Progress) { p.StoresDone++ })
		return false
	})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for _, s := range saved {
		if stage.DiskFull(s.err) {
			return nil, s.err
		}
	}
	return saved, nil
}

// index makes the index of the new snapshot, and links what it takes over from the
// previous one.
func (r *run) index(ctx context.Context, all []*saved) (*Index, bool, error) {
	ix := &Index{Rehome: "backup", Version: indexVersion, Program: r.o.Program, Time: r.now.UTC().Format(time.RFC3339), OS: r.o.Machine.OS, Home: r.o.Machine.Home, Secrets: !r.o.WithoutSecrets}
	changed := false
	for i, u := range r.units {
		s, rep := r.entry(u, all[i])
		changed = changed || rep.Status == Added || rep.Status == Updated || all[i].differs
		ix.Stores, r.rep.Stores = append(ix.Stores, s), append(r.rep.Stores, rep)
	}
	dropped := r.keepVanished(ix)
	changed = changed || dropped
	slices.SortStableFunc(ix.Stores, func(a, b Store) int { return strings.Compare(a.Client+"\x00"+a.Path, b.Client+"\x00"+b.Path) })
	slices.SortStableFunc(r.rep.Stores, func(a, b StoreReport) int {
		return strings.Compare(a.Client+"\x00"+a.Path, b.Client+"\x00"+b.Path)
	})
	if changed && !r.o.DryRun && !r.rep.Git {
		for i := range ix.Stores {
			if err := r.linkPrevious(ctx, &ix.Stores[i]); err != nil {
				return nil, false, err
			}
		}
	}
	return ix, changed, nil
}

// keepVanished takes over the stores that the machine no longer has, or that can no
// longer be recognized. It reports whether that changes the snapshot.
func (r *run) keepVanished(ix *Index) (changed bool) {
	unread := slices.Clone(r.unread)
	if r.prev != nil {
		for _, old := range r.prev.Stores {
			if ix.find(old.Client, old.Path) != nil || old.Text == "" {
				continue
			}
			s, rep := old, newStoreReport(&old)
			s.Gone = false
			at := old.absolute(r.o.Machine.Home)
			if i := slices.IndexFunc(unread, func(u sessions.Unread) bool { return walk.AtOrBelow(u.Path, at) || walk.AtOrBelow(at, u.Path) }); i >= 0 {
				rep.fail(unread[i].Err)
				unread = slices.Delete(unread, i, i+1)
				s.failed(base(r.prevDir), rep.err)
				rep.AsOf = s.AsOf
			} else if r.o.Delete {
				changed = true
				continue
			} else {
				rep.Status, s.Gone = Kept, true
			}
			changed = changed || s.Gone != old.Gone || (s.Error != "") != (old.Error != "")
			ix.Stores, r.rep.Stores = append(ix.Stores, s), append(r.rep.Stores, rep)
		}
	}
	for _, u := range unread {
		if errors.Is(u.Err, sessions.ErrUnsupported) {
			continue
		}
		s := Store{Client: u.Format, Format: u.Format, Path: portable(r.o.Machine.Home, u.Path), Kind: filesKind}
		rep := newStoreReport(&s)
		rep.fail(u.Err)
		s.failed("", u.Err)
		old := r.prev.find(s.Client, s.Path)
		changed = changed || old == nil
		ix.Stores, r.rep.Stores = append(ix.Stores, s), append(r.rep.Stores, rep)
	}
	return changed
}

func (s *Store) failed(asOf string, err error) {
	if s.AsOf == "" {
		s.AsOf = asOf
	}
	s.Error = err.Error()
}

// absolute returns the path of a store on a machine.
func (s *Store) absolute(home string) string {
	if rel, ok := strings.CutPrefix(s.Path, "~/"); ok {
		return filepath.Join(home, filepath.FromSlash(rel))
	}
	return filepath.FromSlash(s.Path)
}

func newStoreReport(s *Store) StoreReport {
	rep := StoreReport{Client: s.Client, Format: s.Format, Path: s.Path, Files: s.Files, Bytes: s.Bytes, Sessions: len(s.Sessions) + s.Count, LeftOut: s.LeftOut, AsOf: s.AsOf}
	for _, f := range s.List {
		if f.Gone {
			rep.Gone++
		}
	}
	return rep
}

// place writes the index and gives the snapshot its name.
func (r *run) place(ctx context.Context, ix *Index) error {
	if err := ix.write(r.tree); err != nil {
		return err
	}
	r.notify.Begin(notify.Syncing, "", 0)
	if err := stage.SyncTree(r.tree); err != nil {
		return err
	}
	if err := os.Chmod(r.tree, 0o700); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	name, err := r.placeAs(r.tree)
	if err != nil {
		return err
	}
	r.rep.Snapshot = name
	return errors.Join(stage.SyncFolder(r.dir), writeMarks(r.dir, filepath.Join(r.dir, name), r.marks))
}

func base(path string) string {
	if path == "" {
		return ""
	}
	return filepath.Base(path)
}

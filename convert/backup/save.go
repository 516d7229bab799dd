package backup

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"rehome/convert/internal/stage"
)

// saved is the result of saving a unit.
type saved struct {
	store   Store
	fresh   bool // its sessions must be listed again
	differs bool // from the previous snapshot
	err     error
}

// saveUnit saves a unit to the tree, as far as it differs from the previous snapshot.
func (r *run) saveUnit(ctx context.Context, u *unit) (*saved, error) {
	old := r.prev.find(u.client, u.stored)
	s := &saved{store: Store{Client: u.client, Format: u.format.Name, Path: u.stored, Text: u.text, Kind: u.kind}}
	save := r.saveFiles
	if u.kind == archiveKind {
		save = r.saveArchive
	}
	err := save(ctx, u, old, s)
	if u.kept != nil {
		if s.store.LeftOut = u.leftOut; s.fresh {
			s.store.Count = u.keptSessions(ctx, s)
		} else if old != nil {
			s.store.Count = old.Count
		}
	}
	return s, err
}

// setMark sets the mark of what was saved. What has none is read again next time.
func (r *run) setMark(path, mark string) {
	if mark == "" {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.marks[path] = mark
}

// saveArchive converts a SQLite store to an archive. The mark is taken first, so that
// it does not cover what is written meanwhile.
func (r *run) saveArchive(ctx context.Context, u *unit, old *Store, s *saved) error {
	mark, newest := storeMark(u.real, time.Now())
	intact := old != nil && old.Text != "" && old.Kind == archiveKind && exists(filepath.Join(r.prevDir, filepath.FromSlash(old.Text)))
	if intact && mark != "" && r.oldMarks[u.real] == mark && old.Error == "" {
		r.same(u, old, s)
		r.setMark(u.real, mark)
		return nil
	}
	text, err := r.convert(ctx, u)
	if err != nil {
		return err
	}
	s.store.Modified = newest
	if s.store.Digest, s.store.Files, s.store.Bytes, err = text.digest(); err != nil {
		return err
	}
	if intact && old.Digest == s.store.Digest && !r.inPlace() {
		r.same(u, old, s)
	} else {
		s.fresh = old == nil || old.Digest != s.store.Digest
		s.differs = s.fresh || !r.inPlace()
	}
	if !s.fresh || r.inPlace() || r.o.DryRun {
		return nil
	}
	r.setMark(u.real, mark)
	return text.link(filepath.Join(r.tree, filepath.FromSlash(u.text)))
}

// same takes over the entry of the previous snapshot.
func (r *run) same(u *unit, old *Store, s *saved) {
	s.differs = old.Gone || old.Error != ""
	s.store = *old
	s.store.Text, s.store.Gone, s.store.Error, s.store.AsOf = u.text, false, "", ""
}

// saveFiles copies the files of a unit that differ from those of the previous
// snapshot. One that cannot be read does not stop the others.
func (r *run) saveFiles(ctx context.Context, u *unit, old *Store, s *saved) error {
	files, err := u.files()
	was, prev := map[string]File{}, ""
	if old != nil && old.Kind == filesKind && old.Text != "" {
		prev = filepath.Join(r.prevDir, filepath.FromSlash(old.Text))
		for _, f := range old.List {
			was[f.Path] = f
		}
	}
	s.differs = old == nil || old.Gone
	for _, f := range files {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		before, known := was[f.rel]
		delete(was, f.rel)
		now, e := r.saveFile(u, f, before, filepath.Join(prev, filepath.FromSlash(f.rel)))
		switch {
		case stage.DiskFull(e):
			return e
		case errors.Is(e, os.ErrNotExist):
			if known { // removed since the folder was listed
				was[f.rel] = before
			}
			continue
		case e != nil:
			err = errors.Join(err, e)
			if !known {
				continue
			}
			now = before
		}
		s.differs = s.differs || now != before
		s.store.List = append(s.store.List, now)
	}
	for _, f := range was {
		s.differs = s.differs || !f.Gone || r.o.Delete
		if !r.o.Delete {
			f.Gone = true
			s.store.List = append(s.store.List, f)
		}
	}
	slices.SortFunc(s.store.List, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	for _, f := range s.store.List {
		s.store.Files, s.store.Bytes = s.store.Files+1, s.store.Bytes+f.Bytes
	}
	s.fresh = s.differs
	return err
}

// saveFile copies a file, unless the previous snapshot has it: before, at prev.
func (r *run) saveFile(u *unit, f sourceFile, before File, prev string) (File, error) {
	mark := markOf(f.info, time.Now())
	info, err := os.Lstat(prev)
	known := before.Path != "" && err == nil && info.Mode().IsRegular() && info.Size() == before.Bytes
	before.Gone = false
	if known && mark != "" && r.oldMarks[f.path] == mark {
		r.setMark(f.path, mark)
		return before, nil
	}
	dst := filepath.Join(r.tree, filepath.FromSlash(u.text), filepath.FromSlash(f.rel))
	if err := os.MkdirAll(filepath.Dir(dst), 0o700); err != nil {
		return File{}, err
	}
	info, digest, err := copyStable(f.path, dst)
	if err != nil {
		return File{}, errors.Join(err, os.RemoveAll(dst))
	}
	r.notify.Add(u.stored, int(info.Size()))
	r.setMark(f.path, markOf(info, time.Now()))
	if known && before.Digest == digest {
		return before, os.Remove(dst)
	}
	return File{Path: f.rel, Bytes: info.Size(), Modified: info.ModTime().UnixMilli(), Digest: digest}, nil
}

// entry returns the entry of a unit in the index and in the report.
func (r *run) entry(u *unit, s *saved) (Store, StoreReport) {
	old, out := r.prev.find(u.client, u.stored), s.store
	if s.err != nil && u.kind == archiveKind {
		if old != nil && old.Text != "" {
			out = *old
			out.Gone = false
			out.failed(base(r.prevDir), s.err)
		} else {
			out = Store{Client: u.client, Format: u.format.Name, Path: u.stored, Kind: u.kind, Error: s.err.Error()}
		}
		s.differs = old == nil || old.Error == ""
	} else if s.fresh {
		out.Sessions = u.sessions
		if old != nil && u.kind == filesKind {
			out.Sessions = mergeSessions(old.Sessions, u.sessions)
		}
	} else if old != nil {
		out.Sessions = old.Sessions
	}
	if s.err != nil && u.kind == filesKind {
		out.Error = s.err.Error()
	}
	rep := newStoreReport(&out)
	switch {
	case s.err != nil:
		rep.fail(s.err)
	case old == nil || old.Text == "":
		rep.Status = Added
	case s.differs:
		rep.Status = Updated
	default:
		rep.Status = Unchanged
	}
	return out, rep
}

// mergeSessions adds the sessions that only the files of earlier snapshots hold.
func mergeSessions(old, now []Session) []Session {
	have := map[[2]string]bool{}
	for _, s := range now {
		have[[2]string{s.Client, s.ID}] = true
	}
	out := slices.Clone(now)
	for _, s := range old {
		if !have[[2]string{s.Client, s.ID}] {
			out = append(out, s)
		}
	}
	slices.SortStableFunc(out, func(a, b Session) int { return strings.Compare(a.ID, b.ID) })
	return out
}

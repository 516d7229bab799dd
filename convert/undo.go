package convert

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"rehome/convert/internal/undo"
	"rehome/convert/sessions"
	"rehome/formats"
)

// UndoOptions are the options of Undo.
type UndoOptions struct {
	Dir    string // the folder of undo records, as UndoDir returns it
	ID     string // the number of a record; "" = the newest
	DryRun bool
}

// UndoRecord is a change to the store of a client that can be undone.
type UndoRecord struct {
	ID      int       `json:"id"`
	Made    time.Time `json:"made"`
	Format  string    `json:"format"` // of the store
	Store   string    `json:"store"`
	Session string    `json:"session"` // its id in the client
	Title   string    `json:"title,omitempty"`

	Sessions int `json:"sessions,omitempty"` // how many, if there are several; Session and Title are of the first
}

// UndoReport is what Undo did.
type UndoReport struct {
	UndoRecord
	DryRun   bool       `json:"dry_run"`
	Restored []string   `json:"restored"` // ids of sessions, and paths of files
	Kept     []UndoKept `json:"kept"`
}

// UndoKept is what Undo left as it is.
type UndoKept struct {
	Key    string `json:"key"` // the id of a session, or the path of a file
	Reason string `json:"reason"`
}

// UndoDir returns the folder of a user's machine for undo records, "" if there is none.
func UndoDir(m formats.Machine) string {
	if dir := m.State(); dir != "" {
		return filepath.Join(dir, "undo")
	}
	return ""
}

// Moves returns the folders that Move was told of, the first move first, as far as there are
// records of them.
func Moves(undoDir string) (out []formats.Moved) {
	list, err := undo.Folder{Dir: undoDir}.List()
	if err != nil {
		return nil // nothing was ever moved
	}
	for _, r := range slices.Backward(list) {
		if m := r.Moved; m != nil && (m.Placed || m.Removed) {
			out = append(out, formats.Moved{Old: []string{m.Old}, New: m.New})
		}
	}
	return out
}

// Copies returns the ids of the sessions that Migrate made copies of, by the copies.
func Copies(undoDir string) map[sessions.Copy]string {
	out := map[sessions.Copy]string{}
	for _, c := range (undo.Folder{Dir: undoDir}).Copies() {
		out[sessions.Copy{Format: c.Format, ID: c.Session}] = c.Of
	}
	return out
}

// UndoRecords lists the changes that can be undone, the newest first.
func UndoRecords(dir string) ([]UndoRecord, error) {
	list, err := undo.Folder{Dir: dir}.List()
	out := []UndoRecord{}
	for _, r := range list {
		if r.Format != "" {
			out = append(out, publicRecord(&r))
		}
	}
	return out, err
}

func publicRecord(r *undo.Record) UndoRecord {
	out := UndoRecord{ID: r.ID, Made: r.Made, Format: r.Format, Store: r.Store, Session: r.Session, Title: r.Title}
	if n := r.Sessions(); n > 1 {
		out.Sessions = n
	}
	return out
}

// Undo undoes a migration, or all of a move, as far as what it wrote is unchanged. The
// record of what was kept stays.
func Undo(ctx context.Context, reg *formats.Registry, o UndoOptions) (out *UndoReport, err error) {
	folder := undo.Folder{Dir: o.Dir}
	r, err := findRecord(folder, o.ID)
	if err == nil && !o.DryRun {
		log, e := folder.Begin(undo.Record{}) // so that no other process migrates or undoes
		if e != nil {
			return nil, e
		}
		defer func() { err = errors.Join(err, log.Close()) }()
		r, err = folder.Get(r.ID)
	}
	if err != nil {
		return nil, err
	}
	out = &UndoReport{UndoRecord: publicRecord(r), DryRun: o.DryRun, Restored: []string{}, Kept: []UndoKept{}}
	all, err := folder.Group(r)
	if err != nil {
		return out, err
	}
	if out.Sessions = 0; len(all) > 1 || r.Sessions() > 1 {
		for i := range all {
			out.Sessions += all[i].Sessions()
		}
	}
	for i := range all {
		if err := checkOriginals(&all[i]); err != nil {
			return out, err
		}
	}
	for i := range all {
		if err := undoRecord(ctx, reg, folder, &all[i], out); err != nil {
			return out, err
		}
	}
	return out, nil
}

// undoRecord undoes what one record says.
func undoRecord(ctx context.Context, reg *formats.Registry, folder undo.Folder, r *undo.Record, out *UndoReport) error {
	before := len(out.Kept)
	done, err := undoFiles(ctx, reg, folder, r, out.DryRun)
	out.add(done)
	if err == nil && r.Changes != nil {
		done, err = undoChanges(ctx, reg, folder, r, out.DryRun)
		out.add(done)
	}
	if err != nil {
		return err
	}
	switch kept := out.Kept[before:]; {
	case out.DryRun:
		return nil
	case len(kept) == 0:
		return folder.Remove(r.ID)
	case r.Moved != nil && r.Changes == nil: // a later move is not to believe that the others are there
		var paths []string
		for _, k := range kept {
			paths = append(paths, k.Key)
		}
		r.Narrow(paths)
		return folder.Rewrite(r)
	}
	return nil
}

// checkOriginals returns an error if a record is of copies, and an original is gone: then
// the copy is all there is.
func checkOriginals(r *undo.Record) error {
	if r.Moved == nil || r.Moved.Removed {
		return nil
	}
	for _, s := range r.Moved.Sources {
		if _, err := os.Lstat(s.Path); errors.Is(err, fs.ErrNotExist) {
			return &formats.Error{At: s.Path, Err: errors.New("removed since: undoing would remove the only copy"), Hint: "undo `rehome mv --remove-old` first: `rehome undo --list` lists it"}
		}
	}
	return nil
}

// undoChanges undoes the changes that a format recorded.
func undoChanges(ctx context.Context, reg *formats.Registry, folder undo.Folder, r *undo.Record, dryRun bool) ([]formats.Undone, error) {
	undoing, err := undoerOf(reg, r)
	if err != nil {
		return nil, err
	}
	return undoing(ctx, folder.Saved(r), dryRun)
}

// add adds what became of sessions and files to the report.
func (out *UndoReport) add(done []formats.Undone) {
	for _, u := range done {
		if u.Kept == "" {
			out.Restored = append(out.Restored, u.Key)
		} else {
			out.Kept = append(out.Kept, UndoKept{u.Key, u.Kept})
		}
	}
}

// undoerOf returns what undoes the changes in a record.
func undoerOf(reg *formats.Registry, r *undo.Record) (func(context.Context, formats.UndoRecord, bool) ([]formats.Undone, error), error) {
	if f := reg.Lookup(r.Format); f != nil && r.Refiled > 0 && f.Mover != nil && f.Mover.Refiler != nil {
		return f.Mover.Refiler.Undo, nil
	}
	to, err := findFormat(reg, r, func(w *formats.Writer) bool { return w.Into != nil })
	if err != nil {
		return nil, err
	}
	return to.Writer.Into.Undo, nil
}

// findFormat returns the format of a record, if it can do what is needed.
func findFormat(reg *formats.Registry, r *undo.Record, can func(*formats.Writer) bool) (*formats.Format, error) {
	to, err := reg.Find(r.Format)
	if err == nil && (to.Writer == nil || !can(to.Writer)) {
		err = errors.New("this version cannot undo changes of its stores")
	}
	if err != nil {
		return nil, &formats.Error{At: r.Format, Err: err, Hint: "use the version of rehome that made the change"}
	}
	return to, nil
}

// findRecord returns the record that is named, or the newest.
func findRecord(folder undo.Folder, name string) (*undo.Record, error) {
	if name == "" {
		list, err := folder.List()
		if err == nil && len(list) == 0 {
			err = &formats.Error{At: folder.Dir, Err: errors.New("nothing to undo"), Hint: "only what `rehome migrate`, `rehome continue` and `rehome mv` write can be undone"}
		}
		if err != nil {
			return nil, err
		}
		return folder.Get(list[0].ID)
	}
	id, err := undo.Parse(name)
	if err != nil {
		return nil, err
	}
	return folder.Get(id)
}

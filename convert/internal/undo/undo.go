// Package undo keeps records of changes to the stores of clients, from which they can
// be undone.
//
// Each record is a folder, named by a number that no other record ever has: record.json,
// and the files that it mentions. It is complete and on disk before anything changes, and
// goes away when the change was undone.
package undo

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"rehome/formats"
	"rehome/internal/fsx"
	"rehome/internal/scratch"
)

// Record is what is known of a change.
type Record struct {
	ID      int             `json:"-"`
	Made    time.Time       `json:"made"`
	Format  string          `json:"format"`
	Store   string          `json:"store"`
	Session string          `json:"session"` // the first, if there are several
	Title   string          `json:"title,omitempty"`
	Changes json.RawMessage `json:"changes,omitempty"` // see formats.UndoLog
	Files   []File          `json:"files,omitempty"`   // in the order in which they are written
	Folders []string        `json:"folders,omitempty"` // created for Files, the outermost first
	Moved   *Moved          `json:"moved,omitempty"`   // set if Files are copies of those of a folder that was moved
	Refiled int             `json:"refiled,omitempty"` // how many sessions Changes are of, if they were filed under another folder in place
}

// Sessions returns how many sessions were written.
func (r *Record) Sessions() int { return max(len(r.Families()), r.Refiled, 1) }

// Families returns the files of each session.
func (r *Record) Families() [][]File { return families(r.Files, (*File).Family) }

// families splits a list where the family changes.
func families[T any](list []T, family func(*T) string) (out [][]T) {
	for i := range list {
		if i == 0 || family(&list[i]) != family(&list[i-1]) {
			out = append(out, nil)
		}
		out[len(out)-1] = append(out[len(out)-1], list[i])
	}
	return out
}

// Made returns when a record is made, by a clock; nil is that of the system.
func Made(now func() time.Time) time.Time {
	if now == nil {
		now = time.Now
	}
	return now().UTC().Truncate(time.Second)
}

// File is a file, or a folder, that was written.
type File struct {
	Path   string `json:"path"`
	Of     string `json:"of,omitempty"` // the path of the session to which it belongs, if that is another one
	Folder bool   `json:"folder,omitempty"`
	Tree   bool   `json:"tree,omitempty"` // Before and After are of fsx.DigestTree

	// Before and After are the SHA-256 that the file had before it was written, and has
	// now. Those of a folder are its formats.Writer.State. Before is "" if there was none,
	// After is "" if it was removed.
	Before string `json:"before,omitempty"`
	After  string `json:"after"`
	// Kept is the name of the old file in the record. Without it, Size is how many bytes
	// of the file are the old one: lines were appended.
	Kept string `json:"kept,omitempty"`
	Size int64  `json:"size,omitempty"`
}

// Family returns the path of the session to which a file belongs.
func (f *File) Family() string { return cmp.Or(f.Of, f.Path) }

// Folder is the folder of records. The zero value keeps none.
type Folder struct{ Dir string }

const (
	recordName = "record.json"
	prefix     = ".new-" // of folders that are not records yet
	removed    = ".old-" // of folders that are no records any more
	lastName   = "last"  // the file with the greatest number ever given
	keep       = 200     // records; older ones are removed
	keepBytes  = 1 << 30 // in all records, the newest aside

	pause    = 50 * time.Millisecond // between attempts to begin a record
	patience = 40                    // attempts
)

// path returns the folder of a record.
func (f Folder) path(id int) string { return filepath.Join(f.Dir, strconv.Itoa(id)) }

// Log is a formats.UndoLog: a record that is being made. While it is open, no other
// process makes one.
type Log struct {
	folder Folder
	Record Record // all but Changes is set before Save
	Saved  bool
	claim  *scratch.Dir
}

// Begin returns a new record. Whoever calls it closes the record.
func (f Folder) Begin(r Record) (*Log, error) {
	if f.Dir == "" {
		return nil, &formats.Error{Err: errors.New("no folder for undo records"), Hint: "set HOME"}
	}
	if err := os.MkdirAll(f.Dir, 0o700); err != nil {
		return nil, f.failed(err)
	}
	claim, err := scratch.Claim(f.Dir, prefix)
	for n := 0; errors.Is(err, scratch.ErrHeld) && n < patience; n++ {
		time.Sleep(pause)
		claim, err = scratch.Claim(f.Dir, prefix)
	}
	if errors.Is(err, scratch.ErrHeld) {
		return nil, &formats.Error{At: f.Dir, Err: formats.ErrBusy, Hint: "another rehome is migrating or undoing: try again when it has finished"}
	}
	if err == nil {
		scratch.SweepBeside(f.Dir, prefix, func(string, error) {}) // of a run killed in Close
		left, _ := filepath.Glob(filepath.Join(f.Dir, removed+"*"))
		for _, p := range left {
			err = errors.Join(err, os.RemoveAll(p))
		}
		err = errors.Join(err, claim.Empty())
	}
	if err != nil {
		return nil, f.failed(err)
	}
	return &Log{folder: f, Record: r, claim: claim}, nil
}

// failed returns the error of a record that cannot be written.
func (f Folder) failed(err error) error {
	return &formats.Error{At: f.Dir, Op: "keep an undo record", Err: formats.Cause(err), Hint: "make this a folder that you can write to: nothing changes without a record"}
}

// Dir returns the folder for files of the record.
func (l *Log) Dir() (string, error) {
	return l.claim.Path, os.MkdirAll(l.claim.Path, 0o700)
}

// Save writes the record to disk, as the newest one.
func (l *Log) Save(changes []byte) error {
	l.Record.Changes = changes
	if err := l.save(); err != nil {
		return l.folder.failed(err)
	}
	l.Saved = true
	l.folder.prune(keep, keepBytes)
	return nil
}

func (l *Log) save() error {
	dir, err := l.Dir()
	if err != nil {
		return err
	}
	if err := l.Record.write(dir); err != nil {
		return err
	}
	list, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range list {
		if e.IsDir() {
			continue // synced by who made it
		}
		if err := fsx.SyncFile(filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	if l.Record.ID, err = l.folder.newID(); err != nil {
		return err
	}
	return errors.Join(fsx.SyncFolder(dir), fsx.Move(dir, l.folder.path(l.Record.ID)), fsx.SyncFolder(l.folder.Dir))
}

func (r *Record) write(dir string) error {
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	path := filepath.Join(dir, recordName)
	return fsx.Overwrite(path, path+".new", append(b, '\n'), 0o600)
}

// Rewrite writes a saved record again, which has changed.
func (l *Log) Rewrite() error { return l.folder.Rewrite(&l.Record) }

// Rewrite writes a record again, which has changed.
func (f Folder) Rewrite(r *Record) error {
	dir := f.path(r.ID)
	return errors.Join(r.write(dir), fsx.SyncFolder(dir))
}

// newID gives a number away, which is on disk when it returns.
func (f Folder) newID() (int, error) {
	ids, err := f.ids()
	if err != nil {
		return 0, err
	}
	id, path := 0, filepath.Join(f.Dir, lastName)
	if b, err := os.ReadFile(path); err == nil {
		if id, err = strconv.Atoi(strings.TrimSpace(string(b))); err != nil || id < 0 || id == math.MaxInt {
			id = 0 // corrupt
		}
	}
	if len(ids) > 0 {
		id = max(id, ids[len(ids)-1])
	}
	id++
	return id, fsx.Overwrite(path, filepath.Join(f.Dir, prefix+lastName), []byte(strconv.Itoa(id)+"\n"), 0o600)
}

// prune removes the oldest records: those beyond a number, and beyond a number of bytes,
// for which the newest does not count. What cannot be removed is left to the next run.
func (f Folder) prune(keep int, keepBytes int64) {
	ids, _ := f.ids()
	bytes := int64(0)
	for n, id := range slices.Backward(ids) {
		bytes += fsx.SizeOf(f.path(id))
		if newest := n == len(ids)-1; newest {
			bytes = 0
		} else if len(ids)-n > keep || bytes > keepBytes {
			_ = f.Remove(id)
		}
	}
}

// TakeBack undoes changes inside of a store that failed: a transaction can be on disk although
// the error says that it is not, such as one that was interrupted while it ended. The record
// stays unless the store is as it was: then its ID is 0.
func (l *Log) TakeBack(ctx context.Context, undoing func(context.Context, formats.UndoRecord, bool) ([]formats.Undone, error)) error {
	done, err := undoing(context.WithoutCancel(ctx), l.folder.Saved(&l.Record), false)
	for _, u := range done {
		if u.Kept != "" && err == nil {
			err = &formats.Error{At: l.Record.Store, Pointer: u.Key, Err: errors.New(u.Kept)}
		}
	}
	if err == nil {
		err = l.folder.Remove(l.Record.ID)
		l.Record.ID = 0
	}
	return err
}

// Close lets other processes make records.
func (l *Log) Close() error { return l.claim.Remove() }

// ids returns the numbers of all records, the oldest first.
func (f Folder) ids() (ids []int, err error) {
	list, err := os.ReadDir(f.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range list {
		if id, err := strconv.Atoi(e.Name()); err == nil && id > 0 && strconv.Itoa(id) == e.Name() {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids, err
}

// List returns all records, the newest first. Corrupt ones have no Format.
func (f Folder) List() (out []Record, err error) {
	ids, err := f.ids()
	if err != nil {
		return nil, &formats.Error{At: f.Dir, Err: formats.Cause(err)}
	}
	for _, id := range slices.Backward(ids) {
		r, err := f.Get(id)
		if err != nil {
			r = &Record{ID: id}
		}
		out = append(out, *r)
	}
	return out, nil
}

// Group returns the records of the move that a record is of, the newest first; only itself
// if it is of none.
func (f Folder) Group(r *Record) ([]Record, error) {
	if r.Moved == nil {
		return []Record{*r}, nil
	}
	all, err := f.List()
	return slices.DeleteFunc(all, func(o Record) bool { return o.Format == "" || !r.Together(&o) }), err
}

// maxRecord bounds record.json.
const maxRecord = 64 << 20

// Get returns a record.
func (f Folder) Get(id int) (*Record, error) {
	path := filepath.Join(f.path(id), recordName)
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &formats.Error{At: f.Dir, Err: errors.New("no undo record " + strconv.Itoa(id)), Hint: "run `rehome undo --list` to list them"}
	case err == nil && (!info.Mode().IsRegular() || info.Size() > maxRecord):
		err = errors.New("corrupt")
	}
	r := &Record{ID: id}
	if err == nil {
		var b []byte
		if b, err = os.ReadFile(path); err == nil {
			err = json.Unmarshal(b, r)
		}
	}
	if err != nil {
		return nil, &formats.Error{At: path, Op: "read the undo record", Err: formats.Cause(err), Hint: "the change can no longer be undone: remove the folder of this record, or pass the number of another one"}
	}
	return r, nil
}

// Saved returns what the format of a record needs to undo it.
func (f Folder) Saved(r *Record) formats.UndoRecord {
	return formats.UndoRecord{Store: r.Store, Dir: f.path(r.ID), Changes: r.Changes}
}

// Remove removes a record.
func (f Folder) Remove(id int) error {
	from := f.path(id)
	gone := filepath.Join(f.Dir, removed+strconv.Itoa(id))
	if err := os.Rename(from, gone); err != nil {
		return err
	}
	return errors.Join(fsx.SyncFolder(f.Dir), os.RemoveAll(gone))
}

// Parse returns the number that names a record.
func Parse(name string) (int, error) {
	id, err := strconv.Atoi(strings.TrimPrefix(name, "#"))
	if err != nil || id <= 0 {
		return 0, &formats.Error{At: name, Err: errors.New("not the number of an undo record"), Hint: "run `rehome undo --list` to list them"}
	}
	return id, nil
}

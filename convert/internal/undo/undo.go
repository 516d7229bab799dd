// Package undo keeps records of changes to the stores of clients, from which they can
// be undone.
//
// Each record is a folder, named by a number: record.json, and the files that it
// mentions. It is complete and on disk before anything changes, and goes away when the
// change was undone.
package undo

import (
	"encoding/json"
	"errors"
	"io/fs"
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
	Session string          `json:"session"`
	Title   string          `json:"title,omitempty"`
	Changes json.RawMessage `json:"changes,omitempty"` // see formats.UndoLog
	Files   []File          `json:"files,omitempty"`
}

// File is a file that was written.
type File struct {
	Path string `json:"path"`
	// Size and Before are the length and the SHA-256 that the file had before lines
	// were appended; "" if it did not exist.
	Size   int64  `json:"size,omitempty"`
	Before string `json:"before,omitempty"`
	After  string `json:"after"` // SHA-256
}

// Folder is the folder of records. The zero value keeps none.
type Folder struct{ Dir string }

const (
	recordName = "record.json"
	prefix     = ".new-" // of folders that are not records yet
	removed    = ".old-" // of folders that are no records any more
	keep       = 200     // records; older ones are removed

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
		return nil, &formats.Error{At: f.Dir, Err: formats.Cause(err)}
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
		left, _ := filepath.Glob(filepath.Join(f.Dir, removed+"*"))
		for _, p := range left {
			err = errors.Join(err, os.RemoveAll(p))
		}
		err = errors.Join(err, claim.Empty())
	}
	if err != nil {
		return nil, &formats.Error{At: f.Dir, Err: formats.Cause(err)}
	}
	return &Log{folder: f, Record: r, claim: claim}, nil
}

// Dir returns the folder for files of the record.
func (l *Log) Dir() (string, error) {
	return l.claim.Path, os.MkdirAll(l.claim.Path, 0o700)
}

// Save writes the record to disk, as the newest one.
func (l *Log) Save(changes []byte) error {
	l.Record.Changes = changes
	dir, err := l.Dir()
	if err != nil {
		return err
	}
	b, err := json.MarshalIndent(&l.Record, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, recordName), append(b, '\n'), 0o600); err != nil {
		return err
	}
	list, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range list {
		if err := fsx.SyncFile(filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	ids, err := l.folder.ids()
	if err != nil {
		return err
	}
	if l.Record.ID = 1; len(ids) > 0 {
		l.Record.ID = ids[len(ids)-1] + 1
	}
	if err := errors.Join(fsx.SyncFolder(dir), fsx.Move(dir, l.folder.path(l.Record.ID)), fsx.SyncFolder(l.folder.Dir)); err != nil {
		return err
	}
	l.Saved = true
	if n := len(ids) - keep; n > 0 {
		for _, id := range ids[:n] {
			_ = l.folder.Remove(id) // the next run tries again
		}
	}
	return nil
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
		return nil, &formats.Error{At: path, Err: formats.Cause(err)}
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

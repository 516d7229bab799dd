package sqlitefile

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"

	"rehome/formats/internal/sqlitepages"
	"rehome/internal/scratch"
)

// Image is a database as the pages it lies on, for those who have to see how
// it lies in its file. It is read without SQLite: a small file whole, of a large
// one the pieces that were wanted last are held. Of a file that somebody writes
// to it is a private copy, into which SQLite has folded the log.
//
// It belongs to one goroutine.
type Image struct {
	Hot bool // it is in use: this is a copy

	*sqlitepages.File
	*source
	o     Options
	copy  *scratch.Dir // with the copy
	db    *DB
	close func() error
	was   state
}

// smallFile is up to where a file is held whole.
const smallFile = 8 << 20

// mostJoined is how large a buffer for records may be that is kept.
const mostJoined = 4 << 20

// OpenImage opens a database for looking at its pages. A *Damage is not the
// reader's failure but the file's.
func OpenImage(ctx context.Context, path string, o Options) (*Image, error) {
	real, err := plainly(path)
	if err != nil {
		return nil, err
	}
	if o.Known == nil {
		o.Known = new(Known)
	}
	m := &Image{source: o.source(path, real), o: o, File: &sqlitepages.File{Span: sqlitepages.Piece, Row: sqlitepages.Row{Joined: o.Known.joints.get(0)}}}
	m.Failed = m.shrunk
	if err = m.open(ctx); err != nil {
		if m.Reader != nil && !m.Hot {
			err = cmp.Or(m.moved(m.was), err)
		}
		m.drop()
		return nil, err
	}
	return m, nil
}

// plainly is resolve with a single look at a path that ends in no link, which
// is nearly every one: its side files lie beside it whatever its folders are.
func plainly(path string) (string, error) {
	if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() {
		return filepath.Abs(path)
	}
	return resolve(path)
}

func (m *Image) open(ctx context.Context) (err error) {
	head := []byte(nil)
	if m.was, head, err = m.steady(ctx); err != nil {
		return err
	}
	if m.Hot = m.was.hot(); m.Hot {
		if head, err = m.fold(ctx); err != nil {
			return err
		}
	}
	m.seam()
	f, err := os.Open(m.real)
	if err != nil {
		return m.unreadable(ctx, err)
	}
	m.Reader, m.close = f, f.Close
	if m.was.db.size > smallFile {
		m.Pieces = map[int64][]byte{}
		return m.measure(head, m.was.db.size)
	}
	size := int(m.was.db.size)
	if m.Whole = m.o.Known.whole.get(size); m.Whole == nil {
		m.Whole = make([]byte, size, max(size+size/4, 256<<10)) // others may be larger
	}
	m.seam()
	if _, err := io.ReadFull(f, m.Whole); err != nil && err != io.EOF {
		return m.shrunk(err)
	}
	if d := judge(m.path, m.Whole[:min(len(m.Whole), 4096)], m.was); d != nil {
		return d
	}
	return m.measure(m.Whole, m.was.db.size)
}

func (m *Image) say(what string) {
	if m.o.OnNotice != nil {
		m.o.OnNotice(filepath.Base(m.path) + ": " + what)
	}
}

// shrunk explains an error of reading: a file that is shorter than it was a
// moment ago is busy.
func (m *Image) shrunk(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return m.inUse("it changed while it was read")
	}
	return unreadable(m.path, err)
}

// SQL is the same database through SQLite.
func (m *Image) SQL(ctx context.Context) (*DB, error) {
	if m.db != nil {
		return m.db, nil
	}
	db := &DB{source: m.source}
	if err := db.inPlace(ctx, &m.was, m.o.Known); err != nil {
		return nil, err
	}
	if m.Hot {
		db.watched = nil // nobody writes to a private copy
	}
	m.db = db
	return db, nil
}

// Close lets go of the file, and reports one that is not what it was: what was
// found in it may be half of what is being written.
func (m *Image) Close() error {
	cold := m.Reader != nil && !m.Hot
	err := m.drop()
	if err != nil || !cold {
		return err
	}
	return m.moved(m.was)
}

func (m *Image) drop() error {
	var errs []error
	if m.db != nil {
		errs = append(errs, m.db.Close())
		m.db = nil
	}
	if m.close != nil {
		errs = append(errs, m.close())
		m.close, m.Reader = nil, nil
	}
	errs = append(errs, m.copy.Remove())
	m.copy = nil
	m.o.Known.whole.put(m.Whole)
	if cap(m.Row.Joined) <= mostJoined {
		m.o.Known.joints.put(m.Row.Joined)
	}
	m.Whole, m.Row.Joined = nil, nil
	return errors.Join(errs...)
}

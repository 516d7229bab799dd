package sqlitefile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"rehome/formats/store"
	"rehome/internal/scratch"
)

// Image is a database as the pages it lies on, for those who have to see how
// it lies in its file. It is read without SQLite: a small file whole, of a large
// one the pieces that were wanted last are held. Of a file that somebody writes
// to it is a private copy, into which SQLite has folded the log.
//
// It belongs to one goroutine.
type Image struct {
	Head   [headerBytes]byte
	Page   int    // bytes a page
	Usable int    // bytes of a page that SQLite uses
	Pages  uint32 // of the database
	Bytes  int64  // of the file; what is behind Pages is nobody's
	Hot    bool   // it is in use: this is a copy

	*source
	o      Options
	copy   *scratch.Dir // with the copy
	db     *DB
	file   io.ReaderAt
	close  func() error
	whole  []byte // the file, if that is small
	span   int64  // bytes a piece
	pieces map[int64][]byte
	recent []int64
	was    state
	row    Row // of the walk at hand
}

// What of a file is held.
const (
	smallFile = 8 << 20
	piece     = 256 << 10
	pieces    = 32
)

// OpenImage opens a database for looking at its pages. A *Damage is not the
// reader's failure but the file's.
func OpenImage(ctx context.Context, path string, o Options) (*Image, error) {
	real, err := plainly(path)
	if err != nil {
		return nil, err
	}
	m := &Image{source: o.source(path, real), o: o, span: piece}
	m.row.joined = o.Known.joint()
	if err = m.open(ctx); err != nil {
		if m.file != nil && !m.Hot {
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
	m.file, m.close = f, f.Close
	if m.was.db.size > smallFile {
		m.pieces = map[int64][]byte{}
		return m.measure(head, m.was.db.size)
	}
	m.whole = m.o.Known.room(int(m.was.db.size))
	m.seam()
	if _, err := io.ReadFull(f, m.whole); err != nil && err != io.EOF {
		return m.shrunk(err)
	}
	if d := judge(m.path, m.whole[:min(len(m.whole), 4096)], m.was); d != nil {
		return d
	}
	return m.measure(m.whole, m.was.db.size)
}

func (m *Image) say(what string) {
	if m.o.Say != nil {
		m.o.Say(filepath.Base(m.path) + ": " + what)
	}
}

// Pragmas are the settings in the file's header.
func (m *Image) Pragmas() store.Pragmas { return header(m.Head[:]).pragmas() }

// UTF8 reports whether texts are kept as UTF-8.
func (m *Image) UTF8() bool { return header(m.Head[:]).encoding() == "UTF-8" }

// view is a page, valid until the next one is asked for; of a small file as
// long as the image is open.
func (m *Image) view(n uint32) ([]byte, error) {
	if n == 0 || n > m.Pages {
		return nil, fmt.Errorf("there is no page %d of %d", n, m.Pages)
	}
	from := int64(n-1) * int64(m.Page)
	if m.whole != nil {
		if from+int64(m.Page) > int64(len(m.whole)) {
			return nil, fmt.Errorf("page %d is not all there", n)
		}
		return m.whole[from : from+int64(m.Page) : from+int64(m.Page)], nil
	}
	b, err := m.piece(from / m.span)
	if err != nil {
		return nil, err
	}
	at := from % m.span
	if at+int64(m.Page) > int64(len(b)) {
		return nil, fmt.Errorf("page %d is not all there", n)
	}
	return b[at : at+int64(m.Page) : at+int64(m.Page)], nil
}

// stable reports whether a view stays what it is.
func (m *Image) stable() bool { return m.whole != nil }

// piece is a part of a large file. A page never lies across two.
func (m *Image) piece(n int64) ([]byte, error) {
	if b, ok := m.pieces[n]; ok {
		return b, nil
	}
	var b []byte
	if len(m.recent) == pieces {
		old := m.recent[0]
		m.recent = append(m.recent[:0], m.recent[1:]...)
		b = m.pieces[old]
		delete(m.pieces, old)
	} else {
		b = make([]byte, m.span)
	}
	got, err := m.file.ReadAt(b[:m.span], n*m.span)
	if err != nil && err != io.EOF {
		return nil, m.shrunk(err)
	}
	b = b[:got]
	m.pieces[n], m.recent = b, append(m.recent, n)
	return b, nil
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
	cold := m.file != nil && !m.Hot
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
		m.close, m.file = nil, nil
	}
	errs = append(errs, m.copy.Remove())
	m.copy = nil
	m.o.Known.giveBack(m.whole)
	m.o.Known.leaveJoint(m.row.joined)
	m.whole, m.row.joined = nil, nil
	return errors.Join(errs...)
}

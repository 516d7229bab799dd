package sqlitefile

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"rehome/formats"
)

// Image is a database as the pages it lies on, for those who have to see how
// it lies in its file. A file that nobody writes to is read without SQLite: a
// small one whole, of a large one the pieces that were wanted last are held.
// Of a file that somebody writes to SQLite gives the pages, as DB would read
// them.
//
// It belongs to one goroutine.
type Image struct {
	Head   [100]byte
	Page   int    // bytes a page
	Usable int    // bytes of a page that SQLite uses
	Pages  uint32 // of the database
	Bytes  int64  // of the file; what is behind Pages is nobody's
	Hot    bool   // it is in use: read from a copy, or as Options.Live says

	path   string
	real   string
	o      Options
	db     *DB
	get    pageGetter
	file   *os.File
	whole  []byte // the file, if that is small
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
	m := &Image{path: path, real: real, o: o}
	m.row.joined = o.Known.joint()
	if m.was, err = settle(ctx, real); err != nil {
		return nil, orContext(ctx, unreadable(path, err))
	}
	m.Bytes, m.Hot = m.was.db.size, m.was.hot()
	if m.Hot {
		err = m.openHot(ctx)
	} else {
		err = m.openCold(path)
	}
	if err == nil {
		err = m.header()
	}
	if err != nil {
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

func (m *Image) openCold(path string) error {
	f, err := os.Open(m.real)
	if err != nil {
		return unreadable(path, err)
	}
	m.file = f
	if m.Bytes <= smallFile {
		m.whole = m.o.Known.room(int(m.Bytes))
		if _, err := io.ReadFull(f, m.whole); err != nil && err != io.EOF {
			return m.shrunk(err)
		}
		m.Head = [100]byte{}
		copy(m.Head[:], m.whole)
		return m.judge(m.whole[:min(len(m.whole), 4096)])
	}
	m.pieces = map[int64][]byte{}
	head, err := readHead(m.real)
	if err != nil {
		return unreadable(path, err)
	}
	copy(m.Head[:], head)
	return m.judge(head)
}

func (m *Image) openHot(ctx context.Context) error {
	head, err := readHead(m.real)
	if err != nil {
		return unreadable(m.path, err)
	}
	if err := m.judge(head); err != nil {
		return err
	}
	if m.db, err = Open(ctx, m.path, m.o); err != nil {
		if Damaged(err) {
			return &Damage{BadSchema, err}
		}
		return err
	}
	if m.get.stmt, err = m.db.conn.PrepareContext(ctx, "SELECT "+sinkName+"(?1,data) FROM sqlite_dbpage WHERE pgno=?2"); err != nil {
		return m.db.blame(ctx, "", err)
	}
	m.get.handle = sink.last.Add(1)
	sink.scans.Store(m.get.handle, &m.get)
	if err := m.get.page(1); err != nil {
		return m.db.blame(ctx, "", err)
	}
	copy(m.Head[:], m.get.data)
	return nil
}

// UTF8 reports whether texts are kept as UTF-8.
func (m *Image) UTF8() bool { return binary.BigEndian.Uint32(m.Head[56:]) <= 1 }

// view is a page, valid until the next one is asked for; of a small file as
// long as the image is open.
func (m *Image) view(n uint32) ([]byte, error) {
	if n == 0 || n > m.Pages {
		return nil, fmt.Errorf("there is no page %d of %d", n, m.Pages)
	}
	from := int64(n-1) * int64(m.Page)
	switch {
	case m.whole != nil:
		if from+int64(m.Page) > int64(len(m.whole)) {
			return nil, fmt.Errorf("page %d is not all there", n)
		}
		return m.whole[from : from+int64(m.Page) : from+int64(m.Page)], nil
	case m.Hot:
		if err := m.get.page(n); err != nil {
			return nil, err
		}
		if len(m.get.data) != m.Page {
			return nil, fmt.Errorf("page %d is not all there", n)
		}
		return m.get.data, nil
	}
	b, err := m.piece(from / piece)
	if err != nil {
		return nil, err
	}
	at := from % piece
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
		b = make([]byte, piece)
	}
	got, err := m.file.ReadAt(b[:piece], n*piece)
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
	if err == io.ErrUnexpectedEOF {
		return &formats.Error{At: m.path, Err: fmt.Errorf("%w: it changed while it was read", formats.ErrBusy), Hint: "stop the client that writes to it and try again"}
	}
	return unreadable(m.path, err)
}

// SQL is the same database through SQLite.
func (m *Image) SQL(ctx context.Context) (*DB, error) {
	if m.db == nil {
		db, err := Open(ctx, m.path, m.o)
		if err != nil {
			return nil, err
		}
		m.db = db
	}
	return m.db, nil
}

// Give hands the database over and closes all else.
func (m *Image) Give(ctx context.Context) (*DB, error) {
	db, err := m.SQL(ctx)
	m.db = nil
	if cerr := m.Close(); err == nil && cerr != nil {
		err = errors.Join(cerr, db.Close())
		db = nil
	}
	return db, err
}

// Close lets go of the file, and reports one that is not what it was.
func (m *Image) Close() error {
	cold := m.file != nil
	err := m.drop()
	if err != nil || !cold {
		return err
	}
	if after, e := look(m.real); e != nil || !after.equal(m.was) {
		return &formats.Error{At: m.path, Err: fmt.Errorf("%w: it changed while it was read", formats.ErrBusy),
			Hint: "stop the client that writes to it and try again"}
	}
	return nil
}

func (m *Image) drop() error {
	var errs []error
	errs = append(errs, m.get.close())
	if m.db != nil {
		errs = append(errs, m.db.Close())
		m.db = nil
	}
	if m.file != nil {
		errs = append(errs, m.file.Close())
		m.file = nil
	}
	m.o.Known.giveBack(m.whole)
	m.o.Known.leaveJoint(m.row.joined)
	m.whole, m.row.joined = nil, nil
	return errors.Join(errs...)
}

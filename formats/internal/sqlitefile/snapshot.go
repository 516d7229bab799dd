package sqlitefile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"rehome/formats"
	"rehome/formats/internal/sqlitepages"
	"rehome/internal/fileid"
)

// Snapshot is a database as of the last commit in its write-ahead log, read by its
// pages where it lies: nothing is copied, and no lock is taken. A client that writes
// back pages meanwhile is noticed by Close. It belongs to one goroutine, apart from
// Pages.
type Snapshot struct {
	*sqlitepages.File
	*source
	ID   FileID
	Log  *sqlitepages.Log
	Read int64 // bytes read of the database and its log

	main, log *os.File
	latest    map[uint32]int // the last frame of each page in the log
	was       state
}

// FileID tells a database file from what it was before, without its log.
type FileID struct {
	fileid.ID
	Head [sqlitepages.HeaderBytes]byte
}

// ErrNoSnapshot is why a database can only be read by SQLite.
var ErrNoSnapshot = errors.New("its pages cannot be read in place")

// OpenSnapshot opens a database. before is its log as it was read earlier, or nil.
func OpenSnapshot(ctx context.Context, path string, before *sqlitepages.Log) (*Snapshot, error) {
	real, err := plainly(path)
	if err != nil {
		return nil, err
	}
	s := &Snapshot{source: (&Options{}).source(path, real)}
	if err := s.open(ctx, before); err != nil {
		return nil, errors.Join(err, s.drop())
	}
	return s, nil
}

func (s *Snapshot) open(ctx context.Context, before *sqlitepages.Log) (err error) {
	if s.was, _, err = s.steady(ctx); err != nil {
		return err
	}
	if s.was.rollback {
		return fmt.Errorf("%w: unfinished transaction in its rollback journal", ErrNoSnapshot)
	}
	if s.main, err = os.Open(s.real); err != nil {
		return s.unreadable(ctx, err)
	}
	info, err := s.main.Stat()
	if err != nil {
		return s.unreadable(ctx, err)
	}
	s.ID.ID = fileid.Of(info)
	if s.ID.Size != s.was.db.size || s.ID.Changed != s.was.db.mtime.UnixNano() {
		return s.inUse("it changed while it was opened")
	}
	if _, err := s.main.ReadAt(s.ID.Head[:], 0); err != nil {
		return fmt.Errorf("%w: everything is in its log", ErrNoSnapshot)
	}
	if err := s.openLog(before); err != nil {
		return s.unreadable(ctx, err)
	}
	return s.measure()
}

func (s *Snapshot) openLog(before *sqlitepages.Log) (err error) {
	s.Log = &sqlitepages.Log{}
	if s.was.wal.size == 0 {
		return nil
	}
	if s.log, err = os.Open(s.real + "-wal"); err != nil {
		return err
	}
	info, err := s.log.Stat()
	if err != nil {
		return err
	}
	if s.Log, err = sqlitepages.ReadLog(counted{s.log, &s.Read}, info.Size(), before); err != nil {
		return err
	}
	s.latest = make(map[uint32]int)
	for i, page := range s.Log.Frames {
		s.latest[page] = i
	}
	return nil
}

// measure takes the sizes from the first page as of the last commit.
func (s *Snapshot) measure() error {
	page := sqlitepages.Header(s.ID.Head[:]).Page()
	s.File = &sqlitepages.File{Reader: s, Failed: func(err error) error { return unreadable(s.path, err) }, Pieces: map[int64][]byte{}, Page: page, Span: int64(page)}
	size := s.ID.Size
	if len(s.Log.Frames) > 0 {
		if s.Log.Page() != page || s.ID.Head[19] != 2 {
			return fmt.Errorf("%w: its log does not fit", ErrNoSnapshot)
		}
		size = int64(s.Log.Pages) * int64(page)
	}
	var head [sqlitepages.HeaderBytes]byte
	if _, err := s.ReadAt(head[:], 0); err != nil {
		return err
	}
	return (&Image{source: s.source, File: s.File}).measure(head[:], size)
}

// ReadAt reads part of a page as of the last commit.
func (s *Snapshot) ReadAt(b []byte, at int64) (int, error) {
	n := uint32(at/int64(s.Page)) + 1
	if frame, ok := s.latest[n]; ok {
		got, err := s.log.ReadAt(b, s.Log.At(frame)+at%int64(s.Page))
		s.Read += int64(got)
		return got, err
	}
	got, err := s.main.ReadAt(b, at)
	s.Read += int64(got)
	return got, err
}

// Close reports a database that changed while it was read, other than by commits
// that followed.
func (s *Snapshot) Close() error {
	err := s.unmoved()
	return errors.Join(err, s.drop())
}

func (s *Snapshot) unmoved() error {
	now, err := s.look()
	if err != nil || !now.db.equal(s.was.db) || now.rollback || locked(s.real) {
		return s.inUse("it changed while it was read")
	}
	if len(s.Log.Frames) == 0 {
		return nil // what is in the log since then was committed later
	}
	var head [sqlitepages.LogHeader]byte
	if _, err := s.log.ReadAt(head[:], 0); err != nil || head != s.Log.Head {
		return s.inUse("its log started again while it was read")
	}
	return nil
}

func (s *Snapshot) drop() error {
	var errs []error
	for _, f := range []*os.File{s.main, s.log} {
		if f != nil {
			errs = append(errs, f.Close())
		}
	}
	return errors.Join(errs...)
}

// Schema are the entries of sqlite_schema.
func (s *Snapshot) Schema(ctx context.Context) ([]Object, error) {
	flaw := error(nil)
	w := sqlitepages.NewWalk(ctx, s.File, func(f sqlitepages.Flaw) { flaw = &formats.Error{At: s.path, Err: errors.New(f.String())} })
	list, err := (&Image{source: s.source, File: s.File}).schema(w)
	if err == nil {
		err = flaw
	}
	return list, err
}

// counted counts the bytes that are read.
type counted struct {
	io.ReaderAt
	bytes *int64
}

func (c counted) ReadAt(b []byte, at int64) (int, error) {
	n, err := c.ReaderAt.ReadAt(b, at)
	*c.bytes += int64(n)
	return n, err
}

package sqlitefile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"rehome/formats"
)

// side is what is known of a file without reading it.
type side struct {
	there bool
	size  int64
	mtime time.Time
}

func (s side) equal(o side) bool {
	return s.there == o.there && s.size == o.size && s.mtime.Equal(o.mtime)
}

// state is a database file and the logs beside it.
type state struct {
	db, wal, journal side
	shm              bool
	rollback         bool // the journal holds something to roll back
}

func (s state) hot() bool { return s.wal.size > 0 || s.rollback }

// inPlace reports whether it can be read where it lies while in use: the owner's
// lock files must be there already.
func (s state) inPlace() bool { return s.wal.size > 0 && s.shm && !s.rollback }

func (s state) equal(o state) bool {
	return s.db.equal(o.db) && s.wal.equal(o.wal) && s.journal.equal(o.journal)
}

func (s state) bytes() int64 {
	n := s.db.size + s.wal.size
	if s.rollback {
		n += s.journal.size
	}
	return n
}

// source is a database file that somebody may be writing to, and the logs beside
// it. Everything that is known of it comes of separate looks, between which it
// can change.
type source struct {
	path string // as given, for messages
	real string // the file itself
	seam func() // called before each look; tests write to the file there
}

func (s *source) stat(suffix string) (side, error) {
	s.seam()
	info, err := os.Stat(s.real + suffix)
	if errors.Is(err, fs.ErrNotExist) {
		return side{}, nil
	}
	if err != nil {
		return side{}, err
	}
	if !info.Mode().IsRegular() {
		return side{}, fmt.Errorf("%s is not a regular file", filepath.Base(s.real+suffix))
	}
	return side{true, info.Size(), info.ModTime()}, nil
}

// head reads the beginning of a file, as much as judging it takes.
func (s *source) head(suffix string) ([]byte, error) {
	s.seam()
	return readHead(s.real + suffix)
}

// look takes the state of the files as they are now.
func (s *source) look() (st state, err error) {
	if st.db, err = s.stat(""); err != nil {
		return st, err
	}
	if !st.db.there {
		return st, &fs.PathError{Op: "stat", Path: s.real, Err: fs.ErrNotExist}
	}
	if st.wal, err = s.stat("-wal"); err != nil {
		return st, err
	}
	if st.journal, err = s.stat("-journal"); err != nil {
		return st, err
	}
	shm, err := s.stat("-shm")
	if err != nil {
		return st, err
	}
	st.shm = shm.there
	if st.journal.size > 0 {
		// journal_mode=PERSIST blanks the header of a journal that is done
		// with; SQLite goes by its first byte, and so do we.
		head, err := s.head("-journal")
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return st, err
		}
		st.rollback = len(head) > 0 && head[0] != 0
	}
	return st, nil
}

// settle looks at the files once a change could be told by their times. A
// file's clock ticks every few milliseconds (every two seconds on some file
// systems): within one tick, a later write leaves the same time.
func (s *source) settle(ctx context.Context) (state, error) {
	st, err := s.look()
	if err != nil {
		return st, err
	}
	tick := 20 * time.Millisecond
	if st.db.mtime.Nanosecond() == 0 {
		tick = 2 * time.Second
	}
	if age := time.Since(st.db.mtime); age < 0 || age >= tick {
		return st, nil
	} else if err := pause(ctx, tick-age); err != nil {
		return st, err
	}
	return s.look()
}

// steady settles, and judges the beginning of the file. What looks broken may be
// half of a write: then it is looked at again, and only a file that stays as it
// was is.
func (s *source) steady(ctx context.Context) (st state, head []byte, err error) {
	for range mostLooks {
		if st, err = s.settle(ctx); err != nil {
			return st, nil, s.unreadable(ctx, err)
		}
		head, err = s.head("")
		if err != nil {
			err = s.unreadable(ctx, err)
		} else if d := judge(s.path, head, st); d != nil {
			err = d
		} else {
			return st, head, nil
		}
		moved := s.moved(st)
		if moved == nil {
			return st, head, err
		}
		err = moved
		if e := pause(ctx, breather); e != nil {
			return st, nil, e
		}
	}
	return st, nil, err
}

const (
	mostLooks = 5
	breather  = 15 * time.Millisecond
)

// moved is an error where the file is not what it was, or where somebody is
// writing to it right now.
func (s *source) moved(was state) error {
	what := "it changed while it was read"
	if is, err := s.look(); err == nil && is.equal(was) {
		if s.seam(); !locked(s.real) {
			return nil
		}
		what = "a program is writing to it"
	}
	return s.inUse(what)
}

func (s *source) inUse(what string) error {
	return &formats.Error{At: s.path, Err: fmt.Errorf("%w: %s", formats.ErrBusy, what), Hint: "quit the client that is writing to it and try again"}
}

func (s *source) unreadable(ctx context.Context, err error) error {
	return orContext(ctx, unreadable(s.path, err))
}

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

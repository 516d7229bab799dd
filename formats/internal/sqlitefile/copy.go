package sqlitefile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
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

// look takes the state of the files as they are now.
func look(real string) (state, error) {
	var s state
	var err error
	if s.db, err = stat(real); err != nil {
		return s, err
	}
	if s.wal, err = stat(real + "-wal"); err != nil {
		return s, err
	}
	if s.journal, err = stat(real + "-journal"); err != nil {
		return s, err
	}
	shm, err := stat(real + "-shm")
	if err != nil {
		return s, err
	}
	s.shm = shm.there
	if s.journal.size > 0 {
		// journal_mode=PERSIST blanks the header of a journal that is done
		// with; SQLite goes by its first byte, and so do we.
		head, err := readHead(real + "-journal")
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return s, err
		}
		s.rollback = len(head) > 0 && head[0] != 0
	}
	return s, nil
}

func stat(name string) (side, error) {
	info, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return side{}, nil
	}
	if err != nil {
		return side{}, err
	}
	if !info.Mode().IsRegular() {
		return side{}, fmt.Errorf("%s is not a regular file", filepath.Base(name))
	}
	return side{true, info.Size(), info.ModTime()}, nil
}

// settle looks at the files once a change could be told by their times. A
// file's clock ticks every few milliseconds (every two seconds on some file
// systems): within one tick, a later write leaves the same time.
func settle(ctx context.Context, real string) (state, error) {
	s, err := look(real)
	if err != nil {
		return s, err
	}
	tick := 20 * time.Millisecond
	if s.db.mtime.Nanosecond() == 0 {
		tick = 2 * time.Second
	}
	if age := time.Since(s.db.mtime); age < 0 || age >= tick {
		return s, nil
	} else if err := pause(ctx, tick-age); err != nil {
		return s, err
	}
	return look(real)
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

var errMoving = errors.New("it changed while it was copied")

// snapshot copies the database and its log into dir and returns the copy's
// name. A writer may be at work meanwhile: appended log frames do no harm (the
// last complete commit counts), a checkpoint or a restarted log does, so then
// the copy is taken again.
func snapshot(ctx context.Context, path, real, dir string, st state) (string, error) {
	to := filepath.Join(dir, "copy.db")
	err := errMoving
	for try := range 6 {
		if try > 0 {
			if err := pause(ctx, 15*time.Millisecond<<try); err != nil {
				return "", err
			}
			var err error
			if st, err = settle(ctx, real); err != nil {
				return "", unreadable(path, err)
			}
		}
		if err = copyOnce(ctx, real, to, st); err == nil {
			return to, nil
		}
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		if !errors.Is(err, errMoving) && !errors.Is(err, fs.ErrNotExist) {
			return "", unreadable(path, err)
		}
	}
	hint := "stop the client that writes to it and try again"
	if st.inPlace() {
		hint += ", or read it in place with --live"
	}
	return "", &formats.Error{At: path, Err: fmt.Errorf("%w: %w", formats.ErrBusy, err), Hint: hint}
}

func copyOnce(ctx context.Context, real, to string, st state) error {
	for _, suffix := range []string{"", "-wal", "-journal"} {
		if err := os.Remove(to + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	head, err := readHead(real)
	if err != nil {
		return err
	}
	if err := copyFile(ctx, real, to, st.db.size); err != nil {
		return err
	}
	logged := st
	if st.wal.size > 0 {
		if logged, err = look(real); err != nil {
			return err
		}
		if err := copyFile(ctx, real+"-wal", to+"-wal", logged.wal.size); err != nil {
			return err
		}
	}
	if st.db.size == 0 {
		// SQLite deletes the log of a file without pages. One blank page
		// and it reads the log, which holds them all.
		if err := os.Truncate(to, 4096); err != nil {
			return err
		}
	}
	if st.rollback {
		if err := copyFile(ctx, real+"-journal", to+"-journal", st.journal.size); err != nil {
			return err
		}
		if err := alone(to + "-journal"); err != nil {
			return err
		}
	}
	return unmoved(real, to, st, logged, head)
}

// unmoved compares the source now with what it was before it was copied.
func unmoved(real, to string, before, logged state, head []byte) error {
	after, err := look(real)
	if err != nil {
		return err
	}
	if !after.db.equal(before.db) || after.wal.size < logged.wal.size || !after.journal.equal(before.journal) {
		return errMoving
	}
	now, err := readHead(real)
	if err != nil || !bytes.Equal(now[:min(100, len(now))], head[:min(100, len(head))]) {
		return errMoving
	}
	if before.wal.size == 0 {
		return nil
	}
	was, err := readHead(to + "-wal")
	if err != nil {
		return err
	}
	is, err := readHead(real + "-wal")
	if err != nil || len(was) < 32 != (len(is) < 32) || !bytes.Equal(is[:min(32, len(is))], was[:min(32, len(was))]) {
		return errMoving
	}
	return nil
}

// alone refuses a journal that is part of a transaction over several files:
// SQLite would go and look after the others, beside the source.
func alone(journal string) error {
	f, err := os.Open(journal)
	if err != nil {
		return err
	}
	defer f.Close()
	tail := make([]byte, 16)
	info, err := f.Stat()
	if err != nil || info.Size() < int64(len(tail)) {
		return err
	}
	if _, err := f.ReadAt(tail, info.Size()-int64(len(tail))); err != nil {
		return err
	}
	if string(tail[8:]) == "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7" {
		return &formats.Error{Err: fmt.Errorf("%w: its journal belongs to an unfinished transaction over several files", formats.ErrBusy),
			Hint: "open it once with the program that wrote it, so that the transaction is undone"}
	}
	return nil
}

// copyFile copies size bytes, in pieces so that it can be cancelled.
func copyFile(ctx context.Context, from, to string, size int64) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	for left := size; left > 0 && err == nil; {
		if err = ctx.Err(); err != nil {
			break
		}
		var n int64
		n, err = io.CopyN(out, in, min(left, 32<<20))
		left -= n
		if err == io.EOF {
			err = errMoving
		}
	}
	if cerr := out.Close(); err == nil {
		err = cerr
	}
	return err
}

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

	"rehome/formats"
)

var errMoving = errors.New("it changed while it was copied")

// snapshot copies the database and its log into dir and returns the copy's
// name. A writer may be at work meanwhile: appended log frames do no harm (the
// last complete commit counts), a checkpoint or a restarted log does, so then
// the copy is taken again.
func (s *source) snapshot(ctx context.Context, dir string, st state) (string, error) {
	to := filepath.Join(dir, "copy.db")
	err := errMoving
	for try := range 6 {
		if try > 0 {
			if err := pause(ctx, breather<<try); err != nil {
				return "", err
			}
			var err error
			if st, err = s.settle(ctx); err != nil {
				return "", s.unreadable(ctx, err)
			}
		}
		if err = s.copyOnce(ctx, to, st); err == nil {
			return to, nil
		}
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		if errors.Is(err, fs.ErrNotExist) {
			err = errMoving // a log that was there a moment ago: nobody must take the database for gone
		}
		if !errors.Is(err, errMoving) {
			return "", s.unreadable(ctx, err)
		}
	}
	hint := "quit the client that is writing to it and try again"
	if st.inPlace() {
		hint += ", or read it in place with --live"
	}
	return "", &formats.Error{At: s.path, Err: fmt.Errorf("%w: %w", formats.ErrBusy, err), Hint: hint}
}

func (s *source) copyOnce(ctx context.Context, to string, st state) error {
	for _, suffix := range []string{"", "-wal", "-journal"} {
		if err := os.Remove(to + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	head, err := s.head("")
	if err != nil {
		return err
	}
	if err := s.copyFile(ctx, "", to, st.db.size); err != nil {
		return err
	}
	logged := st
	if st.wal.size > 0 {
		if logged, err = s.look(); err != nil {
			return err
		}
		if err := s.copyFile(ctx, "-wal", to, logged.wal.size); err != nil {
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
		if err := s.copyFile(ctx, "-journal", to, st.journal.size); err != nil {
			return err
		}
		if err := alone(to + "-journal"); err != nil {
			return err
		}
	}
	return s.unmoved(to, st, logged, head)
}

// unmoved compares the source now with what it was before it was copied.
func (s *source) unmoved(to string, before, logged state, head []byte) error {
	after, err := s.look()
	if err != nil {
		return err
	}
	if !after.db.equal(before.db) || after.wal.size < logged.wal.size || !after.journal.equal(before.journal) {
		return errMoving
	}
	now, err := s.head("")
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
	is, err := s.head("-wal")
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
		return &formats.Error{Err: fmt.Errorf("%w: its journal belongs to an unfinished transaction across several files", formats.ErrBusy),
			Hint: "open it once with the program that wrote it to roll back the transaction"}
	}
	return nil
}

// copyFile copies size bytes of one of the files, in pieces so that it can be
// cancelled.
func (s *source) copyFile(ctx context.Context, suffix, to string, size int64) error {
	s.seam()
	in, err := os.Open(s.real + suffix)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to+suffix, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
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
		if errors.Is(err, io.EOF) {
			err = errMoving
		}
	}
	if cerr := out.Close(); err == nil {
		err = cerr
	}
	return err
}

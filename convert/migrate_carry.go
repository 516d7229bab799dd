package convert

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"rehome/formats"
)

// carryOut gives files their names, the session's own last. If one cannot have
// it, none has: what was made is removed, what was replaced is put back.
func (m *moving) carryOut(ctx context.Context, to *formats.Format, todo []placing) (status string, err error) {
	status = Same // another run may have placed the very same meanwhile
	var done []placing
	for i, p := range todo {
		if i > 0 && i == len(todo)-1 {
			err = m.last() // what the session refers to is there before it is
		}
		was := standing
		if err == nil {
			was, err = m.one(ctx, to, p)
		}
		if err != nil {
			for i := len(done) - 1; i >= 0; i-- {
				err = errors.Join(err, m.undo(done[i]))
			}
			return "", err
		}
		switch {
		case was == standing:
			continue
		case was == replaced:
			status = Updated
		case status == Same:
			status = Placed
		}
		done = append(done, p)
	}
	return status, nil
}

// What giving a file its name came to.
type outcome uint8

const (
	standing outcome = iota // it was there already, as it would have been written
	made
	replaced
)

// undo takes back what one did.
func (m *moving) undo(p placing) error {
	if !p.old {
		return os.Remove(p.path)
	}
	if err := os.Rename(p.was(), p.path); err != nil {
		return &formats.Error{At: p.path, Op: "restore", Err: bare(err), Hint: "this file was an older state of the session: migrate the session again with --update"}
	}
	return nil
}

// was is where the old file is kept that a new one replaces.
func (p *placing) was() string { return p.staged + ".was" }

// one gives a file its name.
func (m *moving) one(ctx context.Context, to *formats.Format, p placing) (outcome, error) {
	refuse := func(err error) error { return &formats.Error{At: p.path, Err: bare(err)} }
	dir := filepath.Dir(p.path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return standing, refuse(err)
	}
	if !m.synced || p.companion {
		if err := syncFile(p.staged); err != nil {
			return standing, err
		}
	}
	did := made
	var err error
	if p.old {
		did, err = replaced, m.replace(ctx, to, p)
	} else if err = m.rename.fresh(p.staged, p.path); errors.Is(err, fs.ErrExist) {
		did = standing
		if same, e := sameBytes(p.staged, p.path); p.companion || same && e == nil {
			err = nil
		} else {
			err = &formats.Error{At: p.path, Err: errAppeared, Hint: "it was not touched: run migrate again"}
		}
	} else if err != nil {
		err = refuse(err)
	}
	if err != nil {
		return standing, err
	}
	if m.folders == nil {
		m.folders = map[string]bool{}
	}
	m.folders[dir] = true
	return did, nil
}

// replace puts a file in the place of an older state of it, which is kept until
// all the others have their names.
func (m *moving) replace(ctx context.Context, to *formats.Format, p placing) error {
	info, err := os.Lstat(p.path)
	if err == nil && !p.companion {
		err = m.mayReplace(ctx, to, p.path, info) // a client may have begun meanwhile
	}
	if err != nil {
		return err
	}
	if os.Link(p.path, p.was()) != nil { // the disk has no links
		if err := copyOf(p.path, p.was()); err != nil {
			return err
		}
	}
	return m.rename.over(p.staged, p.path)
}

// copyOf makes a private copy of a file.
func copyOf(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// last makes the names last that were given since.
func (m *moving) last() error {
	var errs []error
	for _, dir := range slices.Sorted(maps.Keys(m.folders)) {
		errs = append(errs, syncFolder(dir))
	}
	clear(m.folders)
	return errors.Join(errs...)
}

// sameBytes compares two files.
func sameBytes(a, b string) (bool, error) {
	ia, erra := os.Stat(a)
	ib, errb := os.Stat(b)
	if err := errors.Join(erra, errb); err != nil || ia.Size() != ib.Size() {
		return false, err
	}
	fa, err := os.Open(a)
	if err != nil {
		return false, err
	}
	defer fa.Close()
	fb, err := os.Open(b)
	if err != nil {
		return false, err
	}
	defer fb.Close()
	bufa, bufb := make([]byte, 1<<16), make([]byte, 1<<16)
	for {
		n, err := io.ReadFull(fa, bufa)
		k, errk := io.ReadFull(fb, bufb)
		switch {
		case !bytes.Equal(bufa[:n], bufb[:k]):
			return false, nil
		case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
			return errk != nil, nil
		case err != nil || errk != nil:
			return false, fmt.Errorf("compare %s: %w", b, errors.Join(err, errk))
		}
	}
}

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

func (m *moving) carryOut(ctx context.Context, to *formats.Format, todo []placing) (string, error) {
	status := Placed
	var made []string
	for i, p := range todo {
		var err error
		if i > 0 && i == len(todo)-1 {
			err = m.last() // what the session refers to is there before it is
		}
		if err == nil {
			err = m.one(ctx, to, p)
		}
		if err != nil {
			for i := len(made) - 1; i >= 0; i-- {
				err = errors.Join(err, os.Remove(made[i]))
			}
			return "", err
		}
		if p.old {
			status = Updated
		} else {
			made = append(made, p.path)
		}
	}
	return status, nil
}

func (m *moving) one(ctx context.Context, to *formats.Format, p placing) error {
	refuse := func(err error) error { return &formats.Error{At: p.path, Err: bare(err)} }
	dir := filepath.Dir(p.path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return refuse(err)
	}
	if !m.synced || p.companion {
		if err := syncFile(p.staged); err != nil {
			return err
		}
	}
	if p.old {
		info, err := os.Lstat(p.path)
		if err == nil && !p.companion {
			err = m.mayReplace(ctx, to, p.path, info) // a client may have begun meanwhile
		}
		if err == nil {
			err = os.Rename(p.staged, p.path)
		}
		if err != nil {
			return err
		}
	} else if err := moveNew(p.staged, p.path); errors.Is(err, fs.ErrExist) && !p.companion {
		return &formats.Error{At: p.path, Op: "appeared meanwhile", Err: formats.ErrExists, Hint: "somebody else made it; nothing of theirs was touched"}
	} else if err != nil && !errors.Is(err, fs.ErrExist) {
		return refuse(err)
	}
	if m.folders == nil {
		m.folders = map[string]bool{}
	}
	m.folders[dir] = true
	return nil
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

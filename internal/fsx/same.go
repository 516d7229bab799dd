package fsx

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// SameTree reports whether two files or folders have the same content.
func SameTree(a, b string) bool {
	x, err := os.Lstat(a)
	if err != nil {
		return false
	}
	y, err := os.Lstat(b)
	if err != nil || x.Mode().Type() != y.Mode().Type() {
		return false
	}
	switch {
	case x.Mode().IsRegular():
		same, err := Same(a, b)
		return same && err == nil
	case !x.IsDir():
		return false
	}
	left, err := os.ReadDir(a)
	if err != nil {
		return false
	}
	right, err := os.ReadDir(b)
	if err != nil || len(left) != len(right) {
		return false
	}
	for i, e := range left {
		if e.Name() != right[i].Name() || !SameTree(filepath.Join(a, e.Name()), filepath.Join(b, e.Name())) {
			return false
		}
	}
	return true
}

// Same reports whether two files have the same content.
func Same(a, b string) (bool, error) {
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

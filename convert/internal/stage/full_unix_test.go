//go:build !windows

package stage

import (
	"errors"
	"io/fs"
	"syscall"
	"testing"

	"rehome/formats"
)

// TestFull: a full disk has the same words everywhere, and its cause can be found.
func TestFull(t *testing.T) {
	other := errors.New("no")
	if err := Full(other, "/x", "h"); !errors.Is(err, other) || err.Error() != "no" {
		t.Errorf("another error is %v", err)
	}
	for _, test := range []struct {
		err  error
		want string
	}{
		{syscall.ENOSPC, "/x: the disk is full: no space left on device"},
		{&fs.PathError{Op: "write", Path: "/tmp/y", Err: syscall.EDQUOT}, "/x: the disk is full: write /tmp/y: disk quota exceeded"},
		{&fs.PathError{Op: "write", Path: "/." + formats.StagingMark + "0/y", Err: syscall.ENOSPC}, "/x: the disk is full"},
		{&formats.Error{At: "a", Err: formats.ErrFull}, "/x: the disk is full: a: " + formats.ErrFull.Error()},
	} {
		err := Full(test.err, "/x", "make room")
		if err.Error() != test.want || !errors.Is(err, test.err) || !DiskFull(err) || formats.Hint(err) != "make room" {
			t.Errorf("%q, want %q", err, test.want)
		}
	}
}

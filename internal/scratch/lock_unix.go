//go:build unix

package scratch

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// namesGo: an open file can lose its name, and goes with the process then.
const namesGo = true

// takeLock opens a lock file and locks it for as long as it stays open. held:
// another process has it. A file system without locks gives an unlocked file
// to who makes it, and an error to who asks whether it is held.
func takeLock(path string, fresh bool) (f *os.File, held bool, err error) {
	// Not through a link and never blocking: the folder may be anybody's.
	flag := os.O_RDWR | unix.O_NOFOLLOW | unix.O_NONBLOCK
	if fresh {
		flag |= os.O_CREATE | os.O_EXCL
	}
	if f, err = os.OpenFile(path, flag, 0o600); err != nil {
		return nil, false, err
	}
	switch err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); {
	case err == nil:
		return f, false, nil
	case errors.Is(err, unix.EWOULDBLOCK):
		f.Close()
		return nil, true, nil
	case fresh:
		return f, false, nil
	}
	f.Close()
	return nil, false, &os.PathError{Op: "lock", Path: path, Err: err}
}

// mine reports whether a file is this user's: what others left is theirs to
// remove.
func mine(info os.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Getuid()
}

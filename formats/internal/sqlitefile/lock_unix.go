//go:build unix

package sqlitefile

import (
	"os"

	"golang.org/x/sys/unix"
)

// locked reports whether somebody holds a lock that SQLite takes to write to the
// database itself. Without a journal, nothing else tells of a transaction that
// has written half of its pages. Asking takes no lock.
func locked(real string) bool {
	f, err := os.Open(real)
	if err != nil {
		return false
	}
	defer f.Close()
	// What a reader's lock would meet: the pending byte, and the range that
	// readers share.
	const pending = 1 << 30
	for _, span := range [][2]int64{{pending, 1}, {pending + 2, 510}} {
		l := unix.Flock_t{Type: unix.F_RDLCK, Start: span[0], Len: span[1]}
		if unix.FcntlFlock(f.Fd(), unix.F_GETLK, &l) == nil && l.Type != unix.F_UNLCK {
			return true
		}
	}
	return false
}

// HasOpen reports whether another process has a database in WAL mode open. It must
// not be asked while this process has the database open: closing a file takes away
// the locks that SQLite has on it.
func HasOpen(path string) bool {
	f, err := os.Open(path + "-shm")
	if err != nil {
		return false
	}
	defer f.Close()
	l := unix.Flock_t{Type: unix.F_WRLCK, Start: connectedByte, Len: 1}
	return unix.FcntlFlock(f.Fd(), unix.F_GETLK, &l) == nil && l.Type != unix.F_UNLCK
}

// connectedByte is the byte of a -shm file that every connection locks while it is
// open.
const connectedByte = 128

package sqlitefile

import (
	"os"

	"golang.org/x/sys/windows"
)

// locked reports whether somebody holds a lock that SQLite takes to write to the
// database itself. Without a journal, nothing else tells of a transaction that
// has written half of its pages. Nobody can be asked here without taking the
// lock, which is that of a reader and held for no longer than the question.
func locked(real string) bool {
	f, err := os.Open(real)
	if err != nil {
		return false
	}
	defer f.Close()
	// What a reader's lock would meet: the pending byte, and the range that
	// readers share.
	const pending = 1 << 30
	for _, span := range [][2]uint32{{pending, 1}, {pending + 2, 510}} {
		at := windows.Overlapped{Offset: span[0]}
		if windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_FAIL_IMMEDIATELY, 0, span[1], 0, &at) != nil {
			return true
		}
		if windows.UnlockFileEx(windows.Handle(f.Fd()), 0, span[1], 0, &at) != nil {
			return true
		}
	}
	return false
}

// HasOpen reports whether another process has a database in WAL mode open.
func HasOpen(path string) bool {
	f, err := os.Open(path + "-shm")
	if err != nil {
		return false
	}
	defer f.Close()
	const connectedByte = 128 // which every connection locks while it is open
	at := windows.Overlapped{Offset: connectedByte}
	if windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &at) != nil {
		return true
	}
	return windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, &at) != nil
}

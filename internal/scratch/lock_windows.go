package scratch

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// namesGo is false: an open file keeps its name here.
const namesGo = false

// takeLock opens a lock file and locks it for as long as it stays open. held:
// another process has it.
func takeLock(path string, fresh bool) (f *os.File, held bool, err error) {
	flag := os.O_RDWR
	if fresh {
		flag |= os.O_CREATE | os.O_EXCL
	}
	if f, err = os.OpenFile(path, flag, 0o600); err != nil {
		return nil, false, err
	}
	const how = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	switch err = windows.LockFileEx(windows.Handle(f.Fd()), how, 0, 1, 0, new(windows.Overlapped)); {
	case err == nil:
		return f, false, nil
	case errors.Is(err, windows.ERROR_LOCK_VIOLATION), errors.Is(err, windows.ERROR_IO_PENDING):
		f.Close()
		return nil, true, nil
	case fresh:
		return f, false, nil // a share without locks
	}
	f.Close()
	return nil, false, &os.PathError{Op: "lock", Path: path, Err: err}
}

// mine is true: the folder for temporary files is the user's own, and no other
// user can open what lies in another one's.
func mine(os.FileInfo) bool { return true }

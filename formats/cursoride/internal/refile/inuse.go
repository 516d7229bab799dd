package refile

import (
	"fmt"
	"path/filepath"
	"strconv"

	"rehome/formats"
	"rehome/formats/cursoride/internal/lists"
	"rehome/formats/internal/sqlitefile"
	"rehome/internal/process"
)

// lockName is the file with the process id of the client, beside the user dir. The client
// removes it when it ends.
const lockName = "code.lock"

// inUse returns an ErrBusy if the client runs with a user dir: it keeps rows in memory, and
// writes them again. It must not be asked while this process has the database open.
func inUse(dir string) error {
	if err := started(dir); err != nil {
		return err
	}
	at := filepath.Join(dir, lists.GlobalDB)
	real, err := filepath.EvalSymlinks(at) // the log is beside the file that a link names
	if err != nil {
		return err
	}
	if sqlitefile.HasOpen(real) {
		return &formats.Error{At: at, Err: formats.ErrBusy, Hint: "quit Cursor and try again"}
	}
	return nil
}

// started returns an ErrBusy if the lock file of the client is there. It may be asked at any
// time.
func started(dir string) error {
	path := filepath.Join(filepath.Dir(dir), lockName)
	if pid := process.HeldBy(path); pid > 0 {
		return &formats.Error{At: dir, Err: fmt.Errorf("%w: Cursor runs as process %d", formats.ErrBusy, pid), Hint: "quit Cursor and try again; if process " + strconv.Itoa(pid) + " is not Cursor, remove " + path}
	}
	return nil
}

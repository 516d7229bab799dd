package refile

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"rehome/formats"
	"rehome/formats/cursoride/internal/lists"
	"rehome/formats/internal/sqlitefile"
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
	if pid := lockedBy(path); running(pid) {
		return &formats.Error{At: dir, Err: fmt.Errorf("%w: Cursor runs as process %d", formats.ErrBusy, pid), Hint: "quit Cursor and try again; if process " + strconv.Itoa(pid) + " is not Cursor, remove " + path}
	}
	return nil
}

// lockedBy returns the process id in a file, 0 if it has none.
func lockedBy(path string) int {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return 0
	}
	f, err := os.Open(path)
	if err != nil {
		return 0
	}
	defer f.Close()
	b, _ := io.ReadAll(io.LimitReader(f, 64))
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil || pid <= 0 {
		return 0
	}
	return pid
}

func running(pid int) bool {
	if pid == 0 {
		return false
	}
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	defer func() { _ = p.Release() }()
	if runtime.GOOS == "windows" {
		return true
	}
	err = p.Signal(syscall.Signal(0))
	return err == nil || errors.Is(err, os.ErrPermission)
}

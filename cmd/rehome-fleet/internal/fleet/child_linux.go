package fleet

import (
	"errors"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// prepare puts a process into a group of its own, which ends with this process.
func prepare(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

func killGroup(p *os.Process) error {
	syscall.Kill(-p.Pid, syscall.SIGKILL)
	return p.Kill()
}

// limit bounds the memory and the files of a process.
func limit(pid int, l Limits) error {
	for what, n := range map[int]int64{unix.RLIMIT_DATA: l.Memory, unix.RLIMIT_FSIZE: l.Output, unix.RLIMIT_CORE: 0} {
		err := unix.Prlimit(pid, what, &unix.Rlimit{Cur: uint64(n), Max: uint64(n)}, nil)
		if errors.Is(err, unix.ESRCH) {
			return nil // it has ended already
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func freeSpace(dir string) (int64, error) {
	var s unix.Statfs_t
	err := unix.Statfs(dir, &s)
	return int64(min(s.Bavail*uint64(s.Bsize), 1<<62)), err
}

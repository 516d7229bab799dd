//go:build unix

package main

import (
	"os"
	"os/exec"
	"runtime"
	"syscall"
)

// peak is the resident memory of a finished program at its largest. Linux
// counts what the parent had when it started the child, so nothing smaller
// than this program itself, some 15 MB, can be seen.
func peak(s *os.ProcessState) int64 {
	u, ok := s.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" || runtime.GOOS == "ios" {
		return int64(u.Maxrss) // bytes there, kilobytes elsewhere
	}
	return int64(u.Maxrss) << 10
}

// settle has the system write what earlier runs left to write, so that nobody
// pays for somebody else. Where there is no such command, so be it.
func settle() { _ = exec.Command("sync").Run() }

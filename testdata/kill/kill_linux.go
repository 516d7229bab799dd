package kill

import (
	"encoding/binary"
	"os/exec"
	"runtime"
	"slices"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// writes are the system calls that change files.
func writes() []uint64 {
	return []uint64{unix.SYS_WRITE, unix.SYS_PWRITE64, unix.SYS_FTRUNCATE, unix.SYS_FSYNC, unix.SYS_FDATASYNC,
		unix.SYS_RENAMEAT, unix.SYS_RENAMEAT2, unix.SYS_UNLINKAT, unix.SYS_MKDIRAT}
}

// AtWrite kills a program as it begins its nth system call that changes a file. It
// returns how many there were.
func AtWrite(cmd *exec.Cmd, n int) (seen int, err error) {
	_, err = Trace(cmd, func(c SystemCall) {
		if c.Begins && slices.Contains(writes(), c.Number) {
			if seen++; seen == n {
				unix.Kill(cmd.Process.Pid, unix.SIGKILL)
			}
		}
	})
	return seen, err
}

// AtRename kills a program at its nth rename, and reports whether it came
// to that.
func AtRename(cmd *exec.Cmd, n int, after bool) (met bool, err error) {
	seen, inside := 0, map[int]bool{} // threads that are inside the rename that counts
	_, err = Trace(cmd, func(c SystemCall) {
		switch {
		case met:
			return
		case c.Begins && c.Number == unix.SYS_RENAMEAT2:
			if seen++; seen != n {
				return
			}
			if inside[c.Thread] = true; after {
				return
			}
		case c.Begins || !inside[c.Thread]:
			return
		}
		met = true
		unix.Kill(cmd.Process.Pid, unix.SIGKILL)
	})
	return met, err
}

// SystemCall is one that a thread begins, or that has ended.
type SystemCall struct {
	Thread int
	Begins bool
	Number uint64 // only of one that begins
}

// Trace runs a program to its end and shows see each system call of its
// threads, and of the programs that it starts.
func Trace(cmd *exec.Cmd, see func(SystemCall)) (ws unix.WaitStatus, err error) {
	runtime.LockOSThread() // the kernel knows a tracer by its thread
	defer runtime.UnlockOSThread()
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	pid := cmd.Process.Pid
	defer cmd.Process.Release()
	if _, err := unix.Wait4(pid, &ws, unix.WALL, nil); err != nil {
		return ws, err
	}
	const options = unix.PTRACE_O_TRACECLONE | unix.PTRACE_O_TRACEFORK | unix.PTRACE_O_TRACEVFORK |
		unix.PTRACE_O_TRACEEXEC | unix.PTRACE_O_TRACESYSGOOD | unix.PTRACE_O_EXITKILL
	if err := unix.PtraceSetOptions(pid, options); err != nil {
		return ws, err
	}
	unix.PtraceSyscall(pid, 0)
	for {
		at, err := unix.Wait4(-1, &ws, unix.WALL|unix.WNOTHREAD, nil)
		switch {
		case err == unix.EINTR:
		case err != nil:
			return ws, err
		case ws.Exited() || ws.Signaled():
			if at == pid {
				return ws, nil
			}
		case ws.Stopped():
			stopped(at, ws.StopSignal(), see)
		}
	}
}

func stopped(at int, sig syscall.Signal, see func(SystemCall)) {
	switch sig {
	case syscall.SIGTRAP | 0x80:
		if c, ok := callOf(at); ok {
			see(c)
		}
		sig = 0
	case syscall.SIGTRAP, syscall.SIGSTOP: // a new thread or program was announced, or begins
		sig = 0
	}
	unix.PtraceSyscall(at, int(sig)) // the thread may be dead by now
}

// callOf is the system call that a thread has stopped at.
func callOf(at int) (SystemCall, bool) {
	var info [88]byte // struct ptrace_syscall_info: op at 0, number at 24
	n, _, errno := unix.Syscall6(unix.SYS_PTRACE, unix.PTRACE_GET_SYSCALL_INFO, uintptr(at), uintptr(len(info)), uintptr(unsafe.Pointer(&info)), 0, 0)
	if errno != 0 || n < 32 && info[0] != 2 {
		return SystemCall{}, false
	}
	return SystemCall{at, info[0] == 1, binary.NativeEndian.Uint64(info[24:])}, info[0] == 1 || info[0] == 2
}

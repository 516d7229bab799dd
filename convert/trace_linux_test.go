package convert

import (
	"encoding/binary"
	"errors"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"rehome/formats"
)

// TestProgramKilledAtEveryRename kills the real program right before and
// right after each of its renames, as a tracer that counts them.
func TestProgramKilledAtEveryRename(t *testing.T) {
	bin := program(t)
	text := filepath.Join(t.TempDir(), "text")
	if out, err := exec.Command(bin, "convert", sampleStore, text, "--to", "archive").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	s := &scene{dir: t.TempDir(), src: text, source: tree(t, text)}
	s.dst = filepath.Join(s.dir, "store.db")
	args := []string{"convert", text, s.dst, "--replace"}
	run := func() error { return exec.Command(bin, args...).Run() }
	if err := run(); err != nil {
		t.Fatal(err)
	}
	s.fresh, s.newIn = tree(t, s.dst), tree(t, s.dst+formats.SidecarSuffix)
	states := map[string]int{}
	for n := 1; n <= 4; n++ {
		for _, after := range []bool{false, true} {
			s.reset(t, func(dst string) {
				write(t, dst, "mine")
				write(t, dst+formats.SidecarSuffix, "my sidecar")
			})
			s.old = tree(t, s.dst)
			met, err := killAtRename(exec.Command(bin, args...), n, after)
			if errors.Is(err, unix.EPERM) {
				t.Logf("tracing is not allowed here: TestKilledAtEveryRename stands for it")
				return
			}
			if err != nil || !met {
				t.Fatalf("rename %d was not met: %v", n, err)
			}
			states[s.look(t)]++
			s.again(t, run)
		}
	}
	if states["old"] != 1 || states["backup"] != 6 || states["new"] != 1 {
		t.Errorf("states seen: %v, want 1 old, 6 backup, 1 new", states)
	}
}

// killAtRename kills a program at its nth rename, and reports whether it came
// to that.
func killAtRename(cmd *exec.Cmd, n int, after bool) (met bool, err error) {
	seen, inside := 0, map[int]bool{} // threads that are inside the rename that counts
	_, err = traced(cmd, func(c systemCall) {
		switch {
		case met:
			return
		case c.begins && c.number == unix.SYS_RENAMEAT2:
			if seen++; seen != n {
				return
			}
			if inside[c.thread] = true; after {
				return
			}
		case c.begins || !inside[c.thread]:
			return
		}
		met = true
		unix.Kill(cmd.Process.Pid, unix.SIGKILL)
	})
	return met, err
}

// systemCall is one that a thread begins, or that has ended.
type systemCall struct {
	thread int
	begins bool
	number uint64 // only of one that begins
}

// traced runs a program to its end and shows see each system call of its
// threads, and of the programs that it starts.
func traced(cmd *exec.Cmd, see func(systemCall)) (ws unix.WaitStatus, err error) {
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

func stopped(at int, sig syscall.Signal, see func(systemCall)) {
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
func callOf(at int) (systemCall, bool) {
	var info [88]byte // struct ptrace_syscall_info: op at 0, number at 24
	n, _, errno := unix.Syscall6(unix.SYS_PTRACE, unix.PTRACE_GET_SYSCALL_INFO, uintptr(at), uintptr(len(info)), uintptr(unsafe.Pointer(&info)), 0, 0)
	if errno != 0 || n < 32 && info[0] != 2 {
		return systemCall{}, false
	}
	return systemCall{at, info[0] == 1, binary.NativeEndian.Uint64(info[24:])}, info[0] == 1 || info[0] == 2
}

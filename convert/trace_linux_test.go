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
	s.fresh, s.newIn = tree(t, s.dst), tree(t, s.dst+residueSuffix)
	states := map[string]int{}
	for n := 1; n <= 4; n++ {
		for _, after := range []bool{false, true} {
			s.reset(t, func(dst string) {
				write(t, dst, "mine")
				write(t, dst+residueSuffix, "my residue")
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

// tracer follows all threads of a program from system call to system call.
type tracer struct {
	pid, n, seen int
	after, met   bool
	in           map[int]bool // threads that are inside the rename that counts
}

func killAtRename(cmd *exec.Cmd, n int, after bool) (bool, error) {
	runtime.LockOSThread() // the kernel knows a tracer by its thread
	defer runtime.UnlockOSThread()
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	if err := cmd.Start(); err != nil {
		return false, err
	}
	tr := &tracer{pid: cmd.Process.Pid, n: n, after: after, in: map[int]bool{}}
	defer cmd.Process.Release()
	var ws unix.WaitStatus
	if _, err := unix.Wait4(tr.pid, &ws, unix.WALL, nil); err != nil {
		return false, err
	}
	if err := unix.PtraceSetOptions(tr.pid, unix.PTRACE_O_TRACECLONE|unix.PTRACE_O_TRACESYSGOOD|unix.PTRACE_O_EXITKILL); err != nil {
		return false, err
	}
	unix.PtraceSyscall(tr.pid, 0)
	for {
		at, err := unix.Wait4(-1, &ws, unix.WALL, nil)
		switch {
		case err == unix.EINTR:
		case err != nil:
			return tr.met, err
		case ws.Exited() || ws.Signaled():
			if at == tr.pid {
				return tr.met, nil
			}
		case ws.Stopped():
			tr.stopped(at, ws.StopSignal())
		}
	}
}

func (tr *tracer) stopped(at int, sig syscall.Signal) {
	switch sig {
	case syscall.SIGTRAP | 0x80:
		tr.call(at)
		sig = 0
	case syscall.SIGTRAP, syscall.SIGSTOP: // a new thread was announced, or begins
		sig = 0
	}
	unix.PtraceSyscall(at, int(sig)) // the thread may be dead by now
}

// call looks at a system call that begins or has ended.
func (tr *tracer) call(at int) {
	var info [88]byte // struct ptrace_syscall_info: op at 0, number at 24
	n, _, errno := unix.Syscall6(unix.SYS_PTRACE, unix.PTRACE_GET_SYSCALL_INFO, uintptr(at), uintptr(len(info)), uintptr(unsafe.Pointer(&info)), 0, 0)
	if errno != 0 || n < 32 && info[0] != 2 {
		return
	}
	switch {
	case info[0] == 1 && binary.NativeEndian.Uint64(info[24:]) == unix.SYS_RENAMEAT2:
		tr.seen++
		if tr.seen != tr.n {
			return
		}
		if tr.in[at] = true; tr.after {
			return
		}
	case info[0] == 2 && tr.in[at]:
	default:
		return
	}
	if !tr.met {
		tr.met = true
		unix.Kill(tr.pid, unix.SIGKILL)
	}
}

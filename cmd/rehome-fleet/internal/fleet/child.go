package fleet

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"time"
)

// Limits are those of the process that reads one store.
type Limits struct {
	Program []string // with its first arguments
	Memory  int64
	Time    time.Duration
	Output  int64 // bytes of files and of its result
	CPUs    int
}

const (
	tries     = 3        // how often a process may die before its store is poison
	maxResult = 32 << 20 // bytes of a result
)

// outcome of a store, as it is in receipts.
type outcome string

// The outcomes, in the order of reports.
const (
	ok       outcome = "ok"
	losses   outcome = "losses"   // sessions were withheld because of their losses
	findings outcome = "findings" // check found problems
	torn     outcome = "torn"     // the database and its log are of different moments
	refused  outcome = "refused"  // not a store, or not readable
	poison   outcome = "poison"   // the process died or exceeded a limit, each time
	giant    outcome = "giant"    // larger than the plan allows
)

func outcomes() []outcome {
	return []outcome{ok, losses, findings, torn, refused, poison, giant}
}

// stable reports whether a second run must come to the same outcome. Limits depend on the
// machine.
func (o outcome) stable() bool { return o != poison }

// childResult is what a process left.
type childResult struct {
	exit   int
	json   []byte // its result; nil if it died
	limit  string // the limit that it exceeded, or why it died
	stderr string
}

// run runs the program once in a folder that holds the store, with its temporary files and
// its home in tmp.
func (l Limits) run(ctx context.Context, dir, tmp, out string, args []string) (childResult, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, l.Time, errTime)
	defer cancel()
	stop, kill := context.WithCancelCause(ctx)
	defer kill(nil)
	c := exec.CommandContext(stop, l.Program[0], append(l.Program[1:len(l.Program):len(l.Program)], args...)...)
	c.Dir = dir
	// Nothing of this process's environment: it has the keys of the bucket.
	c.Env = []string{"HOME=" + tmp, "TMPDIR=" + tmp, "TMP=" + tmp, "TEMP=" + tmp, "USERPROFILE=" + tmp, "SystemRoot=" + os.Getenv("SystemRoot"), "NO_COLOR=1", "TZ=UTC",
		fmt.Sprintf("GOMEMLIMIT=%d", l.Memory/2), fmt.Sprintf("GOMAXPROCS=%d", max(1, l.CPUs))}
	stdout, stderr := &bounded{max: maxResult, over: func() { kill(errOutput) }}, &bounded{max: 64 << 10}
	c.Stdout, c.Stderr = stdout, stderr
	c.WaitDelay = 10 * time.Second
	c.Cancel = func() error { return killGroup(c.Process) }
	prepare(c)
	// The system kills the process if the thread that started it ends.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := c.Start(); err != nil {
		return childResult{}, fmt.Errorf("start %s: %w", l.Program[0], err)
	}
	if err := limit(c.Process.Pid, l); err != nil {
		killGroup(c.Process)
		c.Wait()
		if !errors.Is(err, os.ErrProcessDone) {
			return childResult{}, fmt.Errorf("limit the process: %w", err)
		}
	}
	done := make(chan struct{})
	go l.watch(stop, done, kill, out, tmp)
	err := c.Wait()
	kill(nil)
	<-done
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, errTime) {
		return childResult{}, cause
	}
	r := childResult{exit: c.ProcessState.ExitCode(), json: stdout.b.Bytes(), stderr: stderr.b.String()}
	switch cause := context.Cause(stop); {
	case errors.Is(cause, errTime) || errors.Is(cause, errOutput):
		r.limit = cause.Error()
	case errors.As(err, new(*exec.ExitError)) || err == nil:
		if !slices.Contains([]int{0, 1, 3, 4, 5}, r.exit) || !json.Valid(r.json) {
			r.limit = "the process died"
		}
	default:
		return r, err
	}
	if r.exit == 2 && len(r.json) > 0 && json.Valid(r.json) { // not a crash, whose output is no JSON
		return r, fmt.Errorf("this program rejects its own command %q: %s", args, r.stderr)
	}
	if r.limit != "" {
		r.json = nil
	}
	return r, nil
}

var (
	errTime   = errors.New("over the time limit")
	errOutput = errors.New("over the limit of the output")
)

// watch ends the process if it writes more than it may.
func (l Limits) watch(ctx context.Context, done chan<- struct{}, kill context.CancelCauseFunc, dirs ...string) {
	defer close(done)
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(500 * time.Millisecond):
		}
		if size(dirs...) > l.Output {
			kill(errOutput)
			return
		}
	}
}

// size returns the bytes of the files below folders.
func size(dirs ...string) (n int64) {
	for _, dir := range dirs {
		filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return nil
			}
			if info, err := e.Info(); err == nil {
				n += info.Size()
			}
			return nil
		})
	}
	return n
}

// bounded keeps the first bytes that are written to it.
type bounded struct {
	b    bytes.Buffer
	max  int
	over func()
}

func (w *bounded) Write(p []byte) (int, error) {
	w.b.Write(p[:min(len(p), w.max-w.b.Len())])
	if w.b.Len() == w.max && w.over != nil {
		w.over()
	}
	return len(p), nil
}

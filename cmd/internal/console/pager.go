package console

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/term"
)

// Pager shows long output one screen at a time. Output that fits on the screen
// is printed directly.
type Pager struct {
	out    *os.File
	args   []string // program and arguments
	rows   int
	width  int
	buf    bytes.Buffer // output until the pager starts
	height int          // rows that buf takes
	Eager  bool         // print output at once, even if the pager prints it again
	pipe   io.WriteCloser
	ctx    context.Context
	cancel context.CancelCauseFunc // stops the writer when the pager exits
	done   chan struct{}           // closed when the pager exits; nil if none runs
}

// ErrPagerQuit means that the user closed the pager.
var ErrPagerQuit = errors.New("pager closed")

// Paged returns the writer for long output: stdout, through a pager if
// stdout is a terminal and a pager is available. The returned context is also
// canceled when the user closes the pager. The returned function waits for the
// pager; its argument is the error from writing.
func (o *Output) Paged(ctx context.Context, wanted bool) (context.Context, io.Writer, func(error) error) {
	plain := func(err error) error { return err }
	f, ok := o.Stdout.(*os.File)
	if !wanted || !ok || !IsTerminal(f) || o.Getenv("TERM") == "dumb" {
		return ctx, o.Stdout, plain
	}
	width, rows, err := term.GetSize(int(f.Fd()))
	args := pagerCommand(o.Getenv)
	if err != nil || rows < 2 || args == nil {
		return ctx, o.Stdout, plain
	}
	ctx, cancel := context.WithCancelCause(ctx)
	p := &Pager{out: f, args: args, rows: rows, width: max(width, 1), ctx: ctx, cancel: cancel}
	return ctx, p, p.close
}

// pagerCommand returns the command line of the pager, or nil if there is none.
func pagerCommand(getenv func(string) string) []string {
	args := strings.Fields(getenv("PAGER"))
	if len(args) == 0 {
		args = []string{"less", "-R"}
	}
	if strings.ContainsAny(args[0], `/\`) {
		return args
	}
	path, err := LookPath(args[0], getenv("PATH"))
	if err != nil {
		return nil
	}
	args[0] = path
	return args
}

func (p *Pager) Write(b []byte) (int, error) {
	if p.pipe != nil {
		if n, err := p.pipe.Write(b); err != nil {
			return n, ErrPagerQuit
		}
		return len(b), nil
	}
	p.buf.Write(b)
	for line := range bytes.Lines(b) {
		p.height += 1 + max(0, cellsOf(line)-1)/p.width
	}
	if p.height < p.rows {
		if p.Eager {
			return p.out.Write(b)
		}
		return len(b), nil
	}
	if lines := bytes.Count(p.buf.Bytes(), []byte("\n")) - bytes.Count(b, []byte("\n")); p.Eager && lines > 0 {
		fmt.Fprintf(p.out, "\x1b[%dA\x1b[J", lines) // the pager prints them again
	}
	if err := p.start(); err != nil {
		return 0, err
	}
	return len(b), nil
}

// cellsOf returns about how many cells a line takes, without its colors.
func cellsOf(line []byte) (n int) {
	colors := false
	for _, c := range line {
		switch {
		case colors:
			colors = c != 'm'
		case c == 0x1b:
			colors = true
		case c >= 0xe3: // the first byte of most characters that take two
			n += 2
		case c != '\n' && utf8.RuneStart(c):
			n++
		}
	}
	return n
}

// start runs the pager. If that fails, output goes directly to the terminal.
func (p *Pager) start() error {
	cmd := exec.Command(p.args[0], p.args[1:]...)
	cmd.Stdout, cmd.Stderr = p.out, os.Stderr
	cmd.Env = os.Environ()
	if os.Getenv("LESS") == "" {
		cmd.Env = append(cmd.Env, "LESS=FRX") // as git: quit if all fits, pass colors, leave the text on the screen
	}
	IgnoreInterrupts(p.ctx, true)
	pipe, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	p.pipe = pipe
	if err != nil {
		IgnoreInterrupts(p.ctx, false)
		p.pipe = nopClose{p.out}
	} else {
		p.done = make(chan struct{})
		go func() {
			_ = cmd.Wait() // its exit status does not matter
			p.cancel(ErrPagerQuit)
			// The signal that ended the pager may reach this process a bit later.
			time.AfterFunc(cleanupTimeout, func() { IgnoreInterrupts(p.ctx, false) })
			close(p.done)
		}()
	}
	if _, err := p.buf.WriteTo(p.pipe); err != nil {
		return ErrPagerQuit
	}
	return nil
}

// close waits until the user closes the pager. Closing it early is not an error.
func (p *Pager) close(err error) error {
	defer p.cancel(nil)
	if p.pipe == nil && p.Eager {
		return err
	}
	if p.pipe == nil {
		_, werr := p.buf.WriteTo(p.out)
		return errors.Join(err, werr)
	}
	p.pipe.Close()
	if p.done != nil {
		<-p.done
	}
	if errors.Is(err, ErrPagerQuit) {
		return nil
	}
	return err
}

type nopClose struct{ io.Writer }

func (nopClose) Close() error { return nil }

// LookPath finds a program in path, which in tests is not the PATH of this process.
func LookPath(name, path string) (string, error) {
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue
		}
		if found, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return found, nil
		}
	}
	return "", exec.ErrNotFound
}

package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/term"
)

// pager shows long text screen by screen. What fits on the screen it prints as
// it is.
type pager struct {
	out    *os.File
	words  []string // the program and its arguments
	rows   int
	width  int
	held   bytes.Buffer // until it is known to be long
	height int          // rows that held takes
	pipe   io.WriteCloser
	ctx    context.Context
	left   context.CancelCauseFunc // tells who writes that the reader has left
	ended  chan struct{}           // closed when the pager has; nil if none runs
}

// errQuit: the reader has seen enough.
var errQuit = errors.New("the pager was left")

// paged is where long text goes: stdout, through a pager if a person is
// looking and has one. The context returned ends when the reader leaves, too; the
// function ends the pager, with what came of writing.
func (o *output) paged(ctx context.Context, wanted bool) (context.Context, io.Writer, func(error) error) {
	plain := func(err error) error { return err }
	f, ok := o.stdout.(*os.File)
	if !wanted || !ok || !isTerminal(f) || o.getenv("TERM") == "dumb" {
		return ctx, o.stdout, plain
	}
	width, rows, err := term.GetSize(int(f.Fd()))
	words := pagerWords(o.getenv)
	if err != nil || rows < 2 || words == nil {
		return ctx, o.stdout, plain
	}
	ctx, left := context.WithCancelCause(ctx)
	p := &pager{out: f, words: words, rows: rows, width: max(width, 1), ctx: ctx, left: left}
	return ctx, p, p.close
}

// pagerWords is the command that shows long text; nil if there is none.
func pagerWords(getenv func(string) string) []string {
	words := strings.Fields(getenv("PAGER"))
	if len(words) == 0 {
		words = []string{"less", "-R"}
	}
	if strings.ContainsAny(words[0], `/\`) {
		return words
	}
	path, err := lookPath(words[0], getenv("PATH"))
	if err != nil {
		return nil
	}
	words[0] = path
	return words
}

func (p *pager) Write(b []byte) (int, error) {
	if p.pipe != nil {
		if n, err := p.pipe.Write(b); err != nil {
			return n, errQuit
		}
		return len(b), nil
	}
	p.held.Write(b)
	for line := range bytes.Lines(b) {
		p.height += 1 + len(line)/(p.width+1)
	}
	if p.height < p.rows {
		return len(b), nil
	}
	if err := p.start(); err != nil {
		return 0, err
	}
	return len(b), nil
}

// start hands over to the pager. Without one that runs, text goes straight on.
func (p *pager) start() error {
	cmd := exec.Command(p.words[0], p.words[1:]...)
	cmd.Stdout, cmd.Stderr = p.out, os.Stderr
	cmd.Env = os.Environ()
	if os.Getenv("LESS") == "" {
		cmd.Env = append(cmd.Env, "LESS=-R")
	}
	leaveToPager(p.ctx, true)
	pipe, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	p.pipe = pipe
	if err != nil {
		leaveToPager(p.ctx, false)
		p.pipe = nopClose{p.out}
	} else {
		p.ended = make(chan struct{})
		go func() {
			_ = cmd.Wait() // how it ended is the reader's business
			p.left(errQuit)
			// What ended the pager may still be on its way to us, too.
			time.AfterFunc(patience, func() { leaveToPager(p.ctx, false) })
			close(p.ended)
		}()
	}
	if _, err := p.held.WriteTo(p.pipe); err != nil {
		return errQuit
	}
	return nil
}

// close waits for the reader. Leaving the pager early, or calling a half-read
// text off, is no failure.
func (p *pager) close(err error) error {
	defer p.left(nil)
	if p.pipe == nil {
		_, werr := p.held.WriteTo(p.out)
		return errors.Join(err, werr)
	}
	p.pipe.Close()
	if p.ended != nil {
		<-p.ended
	}
	if errors.Is(err, errQuit) {
		return nil
	}
	return err
}

type nopClose struct{ io.Writer }

func (nopClose) Close() error { return nil }

// lookPath finds a program on the PATH that the caller was given, which in
// tests is not the process's own.
func lookPath(name, path string) (string, error) {
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

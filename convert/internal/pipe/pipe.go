// Package pipe takes the sessions of one store from decoder to draft. Every line is
// validated, every draft is verified while the next sessions are written, and each
// result is handed on in the order of the sessions. Where they go is the business of
// a Destination.
package pipe

import (
	"context"
	"errors"
	"hash/maphash"
	"iter"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"rehome/formats"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/schemas"
)

// Destination decides what becomes of sessions.
type Destination interface {
	// Plan returns how to write a session. It may change the session. With an
	// error, the session is not written, and the error is its result.
	Plan(s *session.Session) (Plan, error)

	// Done receives the result of a session, and returns whether to keep its
	// draft.
	Done(r *Result) (keep bool)
}

// Plan is how to write a session.
type Plan struct {
	Do    Action
	Build formats.SessionBuild // the pipe sets Path, Line and OnLoss
	Tag   any                  // for Done: ids need not be unique
}

// Action says whether to write a session.
type Action uint8

const (
	Write Action = iota
	Count        // only read it: the target has it
	Skip         // do not read it
)

// Result is what became of a session.
type Result struct {
	session.Head
	Plan                   Plan // zero if the session could not be started
	Messages, Turns, Bytes int64
	Losses                 *loss.Log
	Draft                  *formats.Draft // nil if the session was not written
	Path                   string         // of the draft's first file
	Err                    error          // why the session was not read, written or verified
}

// Schema is the schema of the lines of every session.
const Schema = "canonical-1"

// Pipe converts the sessions of one store.
type Pipe struct {
	To        *formats.Format
	Dest      Destination
	Validator *schemas.Lines
	Dir       string // the private folder for drafts
	Jobs      int    // how many drafts may wait for their verification
	Full      bool   // also decode each draft and compare the lines, if the target is text
	Progress  func(bytes int)
	OnLoss    loss.Sink            // receives every loss
	Fatal     func(err error) bool // reports whether an error would occur with every session, too
	sink      formats.Sink
	started   int // number of drafts
	pending   []*pending
	buf       []byte // for the lines of the next session

	mu      sync.Mutex
	current *loss.Log // of the session being read, or the next one
}

// New returns a pipe to a format.
func New(to *formats.Format) *Pipe {
	return &Pipe{To: to, sink: to.Writer.New(), current: &loss.Log{}}
}

// Note adds a loss to the session being read. Losses between two sessions count for
// the next one.
func (p *Pipe) Note(n loss.Loss) {
	p.mu.Lock()
	at := p.current
	p.mu.Unlock()
	at.Add(n)
	p.OnLoss.Add(n)
}

// next starts the losses of the next session, and returns the current ones.
func (p *Pipe) next() *loss.Log {
	p.mu.Lock()
	defer p.mu.Unlock()
	at := p.current
	p.current = &loss.Log{}
	return at
}

// Run converts sessions until one cannot be read and ends the stream, or fails with
// a fatal error. It returns the losses after the last session.
func (p *Pipe) Run(ctx context.Context, sessions iter.Seq2[*session.Session, error]) (*loss.Log, error) {
	defer p.abandon()
	for s, err := range sessions {
		if err != nil && s == nil {
			p.finishAll() // what is reported does not depend on the number of workers
			return nil, err
		}
		if err == nil {
			err = p.convert(ctx, s)
		} else {
			err = p.inOrder(&Result{Head: s.Head, Err: err, Losses: p.next()})
		}
		if p.Fatal(err) {
			return nil, err
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	if err := p.finishAll(); p.Fatal(err) {
		return nil, err
	}
	return p.next(), ctx.Err()
}

// convert writes a session, and returns why it failed, if it did.
func (p *Pipe) convert(ctx context.Context, s *session.Session) error {
	plan, err := p.Dest.Plan(s)
	r := &Result{Head: s.Head, Plan: plan, Err: err}
	if err != nil || plan.Do == Skip {
		r.Losses = p.next()
		return p.inOrder(r)
	}
	j := &judge{validator: p.Validator, progress: p.Progress, buf: p.buf}
	defer func() { p.buf, j.buf, j.last = j.buf, nil, nil }() // a draft may keep j for long
	if p.Full && p.To.Text {
		j.sum = new(maphash.Hash)
	}
	judged, err := j.tap(s)
	if plan.Do == Count {
		if err == nil {
			err = drain(ctx, judged)
		}
		p.next()
		r.Err, r.Losses = err, &loss.Log{}
		j.count(r)
		return p.inOrder(r)
	}
	b := plan.Build
	b.Path, b.Line, b.OnLoss = filepath.Join(p.Dir, strconv.Itoa(p.started)), j.line, p.Note
	p.started++
	r.Path = b.Path
	if err == nil {
		r.Draft, err = p.sink.Put(ctx, judged, b)
	}
	r.Err, r.Losses = err, p.next()
	j.count(r)
	if err != nil {
		return p.inOrder(r)
	}
	return p.verifyLater(ctx, r, j)
}

// inOrder finishes a session after all pending ones.
func (p *Pipe) inOrder(r *Result) error {
	if err := p.finishAll(); p.Fatal(err) {
		return err
	}
	return p.finish(r)
}

// finish hands on a result, and removes the draft unless it is to be kept.
func (p *Pipe) finish(r *Result) error {
	err := r.Err
	if keep := p.Dest.Done(r); keep || r.Path == "" {
		return err
	}
	return errors.Join(err, r.Remove())
}

// Remove removes the files of a draft.
func (r *Result) Remove() error {
	paths := []string{r.Path}
	if r.Draft != nil && r.Draft.Companion != "" {
		paths = append(paths, r.Path+r.Draft.Companion)
	}
	for _, path := range paths {
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

// Package pipe takes the sessions of one store from decoder to draft. Every line is
// validated, every draft is verified while the next sessions are written, and each
// result is handed on in the order of the sessions. Where they go is the business of
// a Destination.
//
// If the sink is a formats.FamilySink, a session and its subagents share a draft, and so
// a fate: their results wait until it is complete, see family.
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
	Alone bool                 // it is a subagent's, and goes without the link to its parent, which is not written
	Tag   any                  // for Done: ids need not be unique

	Redacted any // for Done, too
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
	Plan                   Plan     // zero if the session could not be started
	Messages, Turns, Bytes int64    // only messages that were said
	Servers, Commands      []string // MCP servers and commands that its calls used, if a client is to continue it
	Losses                 *loss.Log
	Worst                  loss.Kind      // of the losses of all sessions in the draft
	Draft                  *formats.Draft // nil if the session was not written
	Path                   string         // of the draft's first file, or its folder
	Err                    error          // why the session was not read, written or verified
	Root                   *Result        // of the outermost session above a subagent, if the sink writes families
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
	Text      string // the name of the file, if sessions come from text of this schema, which people edit
	Progress  func(bytes int)
	OnLoss    loss.Sink            // receives every loss
	Fatal     func(err error) bool // reports whether an error would occur with every session, too
	sink      formats.Sink
	family    *family // of the last session; nil if the sink does not write families
	started   int     // number of drafts
	pending   []*pending
	buf       []byte // for the lines of the next session

	mu      sync.Mutex
	current *loss.Log // of the session being read, or the next one
}

// New returns a pipe to a format.
func New(to *formats.Format) *Pipe {
	p := &Pipe{To: to, sink: to.Writer.New(), current: &loss.Log{}}
	if sink, ok := p.sink.(formats.FamilySink); ok {
		p.family = &family{pipe: p, sink: sink}
	}
	return p
}

// Note adds a loss to the session being read. Losses between two sessions count for
// the next one.
func (p *Pipe) Note(n loss.Loss) {
	p.log().Add(n)
	p.OnLoss.Add(n)
}

// log returns the losses of the session being read.
func (p *Pipe) log() *loss.Log {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.current
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
			p.family.end(ctx) // what is reported does not depend on the number of workers
			p.finishAll()
			return nil, err
		}
		if err == nil {
			err = p.convert(ctx, s)
		} else {
			err = p.unread(ctx, s, err)
		}
		if p.Fatal(err) {
			return nil, err
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	if err := p.family.end(ctx); p.Fatal(err) {
		return nil, err
	}
	if err := p.finishAll(); p.Fatal(err) {
		return nil, err
	}
	return p.next(), ctx.Err()
}

// convert writes a session, and returns why it failed, if it did.
func (p *Pipe) convert(ctx context.Context, s *session.Session) error {
	old := s.ID
	plan, err := p.Dest.Plan(s)
	r := &Result{Head: s.Head, Plan: plan, Err: err, Losses: p.log()}
	if err := p.family.enter(ctx, s, old, r); r.Err == nil || p.Fatal(err) {
		r.Err = err
	}
	if r.Err != nil || plan.Do == Skip {
		p.next()
		return p.settle(ctx, r, nil)
	}
	j := &judge{validator: p.Validator, text: p.Text, progress: p.Progress, buf: p.buf}
	if p.To.Home != nil {
		j.used = &used{}
	}
	defer func() { p.buf, j.buf, j.last = j.buf, nil, nil }() // a draft may keep j for long
	if p.Full && p.To.Text && len(p.To.Clients) == 0 {
		j.sum = new(maphash.Hash)
	}
	judged, err := j.tap(s)
	switch {
	case err != nil:
	case plan.Do == Count:
		err, r.Losses = drain(ctx, judged), &loss.Log{}
	default:
		err = p.put(ctx, judged, j, r)
	}
	p.next()
	r.Err = err
	j.count(r)
	return p.settle(ctx, r, j)
}

// unread passes on that a session could not be read.
func (p *Pipe) unread(ctx context.Context, s *session.Session, why error) error {
	r := &Result{Head: s.Head, Err: why, Losses: p.next()}
	if err := p.family.enter(ctx, s, s.ID, r); p.Fatal(err) {
		return err
	}
	return p.settle(ctx, r, nil)
}

// put writes a session to a draft. The sink may report losses of a session until its
// family is complete.
func (p *Pipe) put(ctx context.Context, s *session.Session, j *judge, r *Result) (err error) {
	b := r.Plan.Build
	b.Path, b.Line, b.OnLoss = filepath.Join(p.Dir, strconv.Itoa(p.started)), j.line, func(n loss.Loss) { p.lose(r, n) }
	p.started++
	r.Path = b.Path
	if r.Plan.Alone || p.family != nil && r.Root == nil && s.Parent != nil {
		s.Parent, s.Graph = nil, nil // it was selected without its parent, whose state holds its own
		n := loss.Loss{Code: loss.LinkDropped}
		n.At.File = s.ID
		p.lose(r, n)
	}
	r.Draft, err = p.sink.Put(ctx, s, b)
	return err
}

// settle passes a result on, at once or when its family is complete.
func (p *Pipe) settle(ctx context.Context, r *Result, j *judge) error {
	if p.family == nil {
		r.Worst = r.Losses.Worst()
		return p.pass(ctx, r, j)
	}
	p.family.results = append(p.family.results, waiting{r, j})
	return r.Err
}

// pass passes a result on, after the verification of its draft if it has one.
func (p *Pipe) pass(ctx context.Context, r *Result, j *judge) error {
	if r.Err != nil || r.Draft == nil {
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
	if r.Path == "" {
		return nil
	}
	paths := []string{r.Path}
	if r.Draft != nil && r.Draft.Companion != "" {
		paths = append(paths, r.Path+r.Draft.Companion)
	}
	for _, path := range paths {
		if err := os.RemoveAll(path); err != nil {
			return err
		}
	}
	return nil
}

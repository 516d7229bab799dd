package pipe

import (
	"context"
	"fmt"
	"hash/maphash"

	"rehome/formats"
	"rehome/formats/loss"
	"rehome/formats/session"
)

// pending is a draft that is verified while the next sessions are being written.
type pending struct {
	result *Result
	done   chan error
}

// verifyLater verifies a draft in another goroutine. When as many as may run at
// once are pending, it finishes the oldest: results are in the order of the
// sessions, however long each takes.
func (p *Pipe) verifyLater(ctx context.Context, r *Result, j *judge) error {
	w := &pending{result: r, done: make(chan error, 1)}
	p.pending = append(p.pending, w)
	go func() { w.done <- p.verify(ctx, r, j) }()
	if len(p.pending) < p.Jobs {
		return nil
	}
	return p.finishOldest()
}

func (p *Pipe) finishOldest() error {
	w := p.pending[0]
	p.pending = p.pending[1:]
	if w.result.Err = <-w.done; w.result.Draft.Within && w.result.Root.Err != nil {
		w.result.Err = errRootFailed(w.result)
	}
	w.result.Draft.Verify = nil // its buffers are not needed until the commit
	return p.finish(w.result)
}

// finishAll finishes all pending sessions. It returns the first error, but a fatal one
// if there is one.
func (p *Pipe) finishAll() (err error) {
	for len(p.pending) > 0 {
		if e := p.finishOldest(); err == nil || !p.Fatal(err) && p.Fatal(e) {
			err = e
		}
	}
	return err
}

// abandon waits for pending verifications, and removes their drafts.
func (p *Pipe) abandon() {
	p.family.abandon()
	for _, w := range p.pending {
		<-w.done
		w.result.Remove() // the rest is removed with the staging folder
	}
	p.pending = nil
}

// verify verifies a draft. If the pipe is full, text must also decode to a session
// that makes the lines that were judged.
func (p *Pipe) verify(ctx context.Context, r *Result, j *judge) error {
	if r.Draft.Within {
		return nil // the draft has been verified
	}
	if err := r.Draft.Verify(ctx); err != nil || j.sum == nil {
		return err
	}
	l, err := formats.Locate(r.Path)
	if err != nil {
		return err
	}
	again, found := &judge{sum: new(maphash.Hash)}, 0
	again.sum.SetSeed(j.sum.Seed())
	view := formats.View{OnLoss: func(loss.Loss) {}, OnNotice: func(string) {}, Jobs: 1}
	for s, err := range p.To.Sessions.Decode(ctx, l, view, session.Selection{History: true}) {
		if err == nil {
			s, err = again.tap(s)
		}
		if err == nil {
			err = drain(ctx, s)
		}
		if err != nil {
			return err
		}
		found++
	}
	if found != 1 || j.sum.Sum64() != again.sum.Sum64() {
		return &formats.Error{Format: p.To.Name, Op: "verify", Err: fmt.Errorf("1 session written, %d read back, with different content", found), Hint: BugHint}
	}
	return nil
}

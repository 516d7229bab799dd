// Package prefetch decodes the parts of a store in goroutines, ahead of the
// consumer of its sessions.
package prefetch

import (
	"context"
	"iter"
	"sync"

	"rehome/formats"
	"rehome/formats/loss"
	"rehome/formats/session"
)

// Bounds of what is decoded and waits for the consumer: for each part so many
// batches of about so many bytes.
const (
	maxParts   = 8
	maxBatches = 4
	maxBatch   = 256 << 10
)

// Decode decodes one part of a store. It calls v.OnLoss on the goroutine that
// iterates, and its messages stay valid after the next one.
type Decode func(ctx context.Context, v formats.View, sel session.Selection) iter.Seq2[*session.Session, error]

// Sessions yields the sessions of all parts in their order, and reports their losses
// and counts where Decode would have: as the sessions are read. Up to v.Jobs parts
// are decoded at once. All goroutines have ended when the loop over it has.
func Sessions(ctx context.Context, v formats.View, sel session.Selection, parts []Decode) iter.Seq2[*session.Session, error] {
	jobs := formats.Workers(v.Jobs)
	if jobs == 1 {
		return inTurn(ctx, v, sel, parts)
	}
	return func(yield func(*session.Session, error) bool) {
		ctx, stop := context.WithCancel(ctx)
		var running sync.WaitGroup
		defer running.Wait()
		defer stop()
		var ahead []chan []any
		for i := range parts {
			for next := i + len(ahead); next < len(parts) && len(ahead) < min(jobs, maxParts); next++ {
				p := &producer{ctx: ctx, out: make(chan []any, maxBatches)}
				running.Go(func() { p.run(parts[next], v, sel) })
				ahead = append(ahead, p.out)
			}
			c := &consumer{in: ahead[0], ctx: ctx, view: v, sel: sel, yield: yield}
			ahead = ahead[1:]
			if !c.part() {
				return
			}
		}
	}
}

// inTurn decodes one part after the other, as their sessions are read.
func inTurn(ctx context.Context, v formats.View, sel session.Selection, parts []Decode) iter.Seq2[*session.Session, error] {
	return func(yield func(*session.Session, error) bool) {
		for _, decode := range parts {
			if err := ctx.Err(); err != nil {
				yield(nil, err)
				return
			}
			for s, err := range decode(ctx, v, sel) {
				if !yield(s, err) || s == nil {
					return
				}
			}
		}
	}
}

// What a producer hands over, in this order: a *session.Session, its messages as
// item[*session.Message], its files as item[*session.File], and an end. Before any
// of them can be a loss.Loss, or a session.Account of what was read since the last;
// where a session fails there is a failure.
type (
	item[T any] struct {
		value T
		err   error
	}
	end     struct{}
	failure struct {
		of  *session.Session // may be nil
		err error
	}
)

// producer decodes one part.
type producer struct {
	ctx     context.Context
	out     chan []any
	account session.SharedAccount
	batch   []any
	size    int
}

func (p *producer) run(decode Decode, v formats.View, sel session.Selection) {
	defer close(p.out)
	sel.Account = &p.account
	v.OnLoss = func(l loss.Loss) { p.put(l, 64) }
	for s, err := range decode(p.ctx, v, sel) {
		if err != nil {
			p.put(failure{s, err}, 64)
			continue
		}
		if !p.put(s, 1024) || !produce(p, s.Messages, messageSize) || !produce(p, s.Files, fileSize) || !p.put(end{}, 64) {
			return
		}
	}
	p.send()
}

func produce[T any](p *producer, from iter.Seq2[T, error], size func(T) int) bool {
	if from == nil {
		return true
	}
	for one, err := range from {
		n := 64
		if err == nil {
			n = size(one)
		}
		if !p.count() || !p.put(item[T]{one, err}, n) {
			return false
		}
	}
	return p.count()
}

// count puts what was read since the last call.
func (p *producer) count() bool {
	a := p.account.Take()
	return a == session.Account{} || p.put(a, 128)
}

// put adds to the batch; false if the consumer has stopped.
func (p *producer) put(x any, size int) bool {
	p.batch, p.size = append(p.batch, x), p.size+size
	return p.size < maxBatch || p.send()
}

func (p *producer) send() bool {
	select {
	case p.out <- p.batch:
		p.batch, p.size = nil, 0
		return true
	case <-p.ctx.Done():
		return false
	}
}

// consumer yields what a producer decoded.
type consumer struct {
	in    chan []any
	batch []any
	ctx   context.Context
	view  formats.View
	sel   session.Selection
	yield func(*session.Session, error) bool
}

// peek returns what is next without taking it; false if there is no more.
func (c *consumer) peek() (x any, ok bool) {
	for len(c.batch) == 0 {
		if c.batch, ok = <-c.in; !ok {
			return nil, false
		}
	}
	return c.batch[0], true
}

func (c *consumer) take() {
	c.batch[0] = nil // the consumer may keep the batch for long
	c.batch = c.batch[1:]
}

// part yields the sessions of a part; false if the stream ends with it.
func (c *consumer) part() bool {
	for {
		x, ok := c.peek()
		if !ok {
			break
		}
		c.take()
		switch x := x.(type) {
		case loss.Loss:
			c.view.OnLoss.Add(x)
		case session.Account:
			c.sel.Account.Add(x)
		case failure:
			if !c.yield(x.of, x.err) || x.of == nil {
				return false
			}
		case *session.Session:
			if !c.session(x) {
				return false
			}
		}
	}
	if err := c.ctx.Err(); err != nil {
		c.yield(nil, err)
		return false
	}
	return true
}

// session yields a session, and passes over what was not read of it.
func (c *consumer) session(s *session.Session) bool {
	out := *s
	out.Messages = stream[*session.Message](c)
	if s.Files != nil {
		out.Files = stream[*session.File](c)
	}
	if !c.yield(&out, nil) {
		return false
	}
	for {
		x, ok := c.peek()
		if !ok {
			return true
		}
		c.take()
		if x == (end{}) {
			return true
		}
	}
}

// stream yields the items of one type that are next.
func stream[T any](c *consumer) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for {
			x, ok := c.peek()
			if !ok {
				var none T
				yield(none, c.ctx.Err())
				return
			}
			switch x := x.(type) {
			case loss.Loss:
				c.view.OnLoss.Add(x)
			case session.Account:
				c.sel.Account.Add(x)
			case item[T]:
				c.take()
				if !yield(x.value, x.err) || x.err != nil {
					return
				}
				continue
			default:
				return
			}
			c.take()
		}
	}
}

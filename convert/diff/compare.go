package diff

import (
	"context"
	"errors"
	"sync"

	"rehome/formats"
	"rehome/formats/loss"
)

// Options are the options of Compare.
type Options struct {
	Live     bool // read a store in use in place
	Jobs     int  // workers; 0 = one per CPU
	OnNotice func(string)
	Verbose  bool      // also report which stores are read from a copy
	OnLoss   loss.Sink // receives what of the compared sessions cannot be read
}

// Comparison is the result of Compare.
type Comparison struct {
	Added, Removed, Changed, Same int
	// Across is how many of the same and changed sessions are of different clients on both
	// sides: their results, for example, are only compared by whether they are errors.
	Across int
	// Failed are the errors of stores and sessions that could not be read.
	Failed []error

	ctx   context.Context
	sides [2]*side
	pairs []pair
}

// pair is a session of both sides, or of one.
type pair [2]*entry

// cross reports whether the sessions are of different clients.
func (p pair) cross() bool { return p[0] != nil && p[1] != nil && p[0].head.Agent != p[1].head.Agent }

// Compare compares the sessions of two sides. Close must be called.
func Compare(ctx context.Context, reg *formats.Registry, before, after Side, o Options) (*Comparison, error) {
	c := &Comparison{ctx: ctx}
	for i, s := range []Side{before, after} {
		c.sides[i] = &side{Side: s, reg: reg, o: o}
		if err := c.sides[i].list(ctx); err != nil {
			return nil, err
		}
	}
	all := match(reg, c.sides[0].entries, c.sides[1].entries)
	var both sync.WaitGroup
	for i, s := range c.sides {
		both.Go(func() { s.summarize(ctx, all, i) })
	}
	both.Wait()
	for _, p := range all {
		if p.cross() && p[0].read && p[1].read {
			c.Across++
		}
		switch {
		case p[0] == nil:
			c.Added++
		case p[1] == nil:
			c.Removed++
		case !p[0].read || !p[1].read: // reported below
			continue
		case p[0].sum == p[1].sum && !namedOtherwise(p):
			c.Same++
			continue
		default:
			c.Changed++
		}
		c.pairs = append(c.pairs, p)
	}
	for _, s := range c.sides {
		c.Failed = append(c.Failed, s.failed...)
	}
	if err := ctx.Err(); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// namedOtherwise reports whether both stores name a folder, and not the same one, or of
// different clients a title. Text can name the folder that was inferred when it was made,
// and a client makes a title of the first prompt.
func namedOtherwise(p pair) bool {
	other := func(a, b string) bool { return a != "" && b != "" && a != b }
	return other(p[0].folder, p[1].folder) || p.cross() && other(p[0].title, p[1].title)
}

// Differs reports whether anything differs.
func (c *Comparison) Differs() bool { return len(c.pairs) > 0 }

// Each calls f for each session that differs, those of the first side first.
func (c *Comparison) Each(f func(*Session) error) error {
	for _, p := range c.pairs {
		s, err := c.session(p)
		if err == nil {
			err = f(s)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Close releases what was restored to be read.
func (c *Comparison) Close() error {
	return errors.Join(c.sides[0].release(), c.sides[1].release())
}

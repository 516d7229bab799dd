// Package tally is how every reader ends: each batch is counted and digested
// before it is handed on, so that a summary speaks of what was given and of
// nothing else.
package tally

import (
	"errors"

	"rehome/formats/internal/digest"
	"rehome/formats/store"
)

// Tally hands batches to whoever ranges over a reader.
type Tally struct {
	sums  store.Summary
	yield func(*store.Batch, error) bool
}

var errStopped = errors.New("the reader was stopped")

// Scan lets scan give its batches to yield, tells yield of its error, and
// returns the summary of a scan that came to its end, nil otherwise.
func Scan(sets int, yield func(*store.Batch, error) bool, scan func(*Tally) error) store.Summary {
	t := &Tally{sums: make(store.Summary, sets), yield: yield}
	switch err := scan(t); {
	case err == nil:
		return t.sums
	case !errors.Is(err, errStopped):
		yield(nil, err)
	}
	return nil
}

// Give hands a batch on. Nothing, and a batch without a record, is passed over.
// An error means that nobody wants more; the scan returns it.
func (t *Tally) Give(b *store.Batch) error {
	if b == nil {
		return nil
	}
	if b.Rows() == 0 {
		b.Release()
		return nil
	}
	c, sum := digest.Batch(b), &t.sums[b.Set]
	sum.Rows += c.Rows
	sum.Bytes += c.Bytes
	sum.Digest.Add(c.Digest)
	if !t.yield(b, nil) {
		return errStopped
	}
	return nil
}

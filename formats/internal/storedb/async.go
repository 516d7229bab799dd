package storedb

import (
	"sync"

	"rehome/formats/store"
)

const (
	// maxWaiting is how many batches wait for the goroutine of an AsyncPut.
	maxWaiting = 2

	// maxAhead is the size of the largest batch that waits.
	maxAhead = 4 << 20
)

// Large reports whether no other batch is to be made until this one has been put.
func Large(b *store.Batch) bool { return b.Size() > maxAhead }

// AsyncPut puts batches into a database in a goroutine of its own, so that rows
// are made while SQLite takes in those before.
type AsyncPut struct {
	in     chan *store.Batch
	took   chan struct{} // for each large batch
	failed chan struct{}
	ended  chan struct{}
	once   sync.Once
	err    error // valid when failed or ended is closed
}

// NewAsyncPut returns an AsyncPut that calls put, from one goroutine. End must be called.
func NewAsyncPut(put func(*store.Batch) error) *AsyncPut {
	b := &AsyncPut{in: make(chan *store.Batch, maxWaiting), took: make(chan struct{}, maxWaiting), failed: make(chan struct{}), ended: make(chan struct{})}
	go func() {
		defer close(b.ended)
		for batch := range b.in {
			large := Large(batch)
			if b.err != nil {
				batch.Release()
			} else if b.err = put(batch); b.err != nil {
				close(b.failed)
			}
			if large {
				b.took <- struct{}{}
			}
		}
	}()
	return b
}

// Put puts a batch, soon. Its error is that of an earlier one.
func (b *AsyncPut) Put(batch *store.Batch) error {
	large := Large(batch)
	select {
	case b.in <- batch:
		if large {
			<-b.took
		}
		return nil
	case <-b.failed:
		batch.Release()
		return b.err
	}
}

// End waits for the last batch. It is safe to call twice.
func (b *AsyncPut) End() error {
	b.once.Do(func() { close(b.in) })
	<-b.ended
	return b.err
}

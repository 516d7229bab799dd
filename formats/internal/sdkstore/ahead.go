package sdkstore

import (
	"context"
	"iter"
	"sync"

	"rehome/formats/store"
)

// handOver is how many batches may wait between two goroutines.
const handOver = 2

// ahead runs a scan in a goroutine of its own, so that SQLite reads while
// lines are made of what it has read. The goroutine has ended when the loop
// over it has.
func ahead(ctx context.Context, jobs int, scan func(context.Context) iter.Seq2[*store.Batch, error]) iter.Seq2[*store.Batch, error] {
	if jobs == 1 {
		return scan(ctx)
	}
	return func(yield func(*store.Batch, error) bool) {
		ctx, stop := context.WithCancel(ctx)
		type step struct {
			batch *store.Batch
			err   error
		}
		steps := make(chan step, handOver)
		var wg sync.WaitGroup
		wg.Go(func() {
			defer close(steps)
			for b, err := range scan(ctx) {
				select {
				case steps <- step{b, err}:
				case <-ctx.Done():
					if b != nil {
						b.Release()
					}
					return
				}
			}
		})
		defer func() {
			stop()
			for s := range steps {
				if s.batch != nil {
					s.batch.Release()
				}
			}
			wg.Wait()
		}()
		for s := range steps {
			if !yield(s.batch, s.err) || s.err != nil {
				return
			}
		}
	}
}

// asyncPut puts batches into a database in a goroutine of its own, so that rows
// are made while SQLite takes in those before.
type asyncPut struct {
	in     chan *store.Batch
	failed chan struct{}
	ended  chan struct{}
	once   sync.Once
	err    error // valid when failed or ended is closed
}

func newAsyncPut(put func(*store.Batch) error) *asyncPut {
	b := &asyncPut{in: make(chan *store.Batch, handOver), failed: make(chan struct{}), ended: make(chan struct{})}
	go func() {
		defer close(b.ended)
		for batch := range b.in {
			if b.err != nil {
				batch.Release()
			} else if b.err = put(batch); b.err != nil {
				close(b.failed)
			}
		}
	}()
	return b
}

func (b *asyncPut) put(batch *store.Batch) error {
	select {
	case b.in <- batch:
		return nil
	case <-b.failed:
		batch.Release()
		return b.err
	}
}

// end waits for the last batch. It is safe to call twice.
func (b *asyncPut) end() error {
	b.once.Do(func() { close(b.in) })
	<-b.ended
	return b.err
}

package sdkstore

import (
	"context"
	"iter"
	"sync"

	"rehome/formats/internal/storedb"
	"rehome/formats/store"
)

// handOver is how many batches may wait between two goroutines.
const handOver = 2

// Ahead runs a scan in a goroutine of its own, so that SQLite reads while
// lines are made of what it has read. While a large batch is in use, no other is
// read. The goroutine has ended when the loop over it has.
func Ahead(ctx context.Context, jobs int, scan func(context.Context) iter.Seq2[*store.Batch, error]) iter.Seq2[*store.Batch, error] {
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
		used := make(chan struct{}, 1) // the last large batch
		var wg sync.WaitGroup
		wg.Go(func() {
			defer close(steps)
			for b, err := range scan(ctx) {
				large := b != nil && storedb.Large(b)
				select {
				case steps <- step{b, err}:
				case <-ctx.Done():
					if b != nil {
						b.Release()
					}
					return
				}
				if !large {
					continue
				}
				select {
				case <-used:
				case <-ctx.Done():
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
			large := s.batch != nil && storedb.Large(s.batch)
			if !yield(s.batch, s.err) || s.err != nil {
				return
			}
			if large {
				used <- struct{}{}
			}
		}
	}
}

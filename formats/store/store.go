package store

import (
	"context"
	"iter"
)

// Reader reads one store.
type Reader interface {
	// Schema is known before the first record.
	Schema() *Schema
	// Batches yields every record once, sets in schema order, each set in a
	// stable order. A second call scans again.
	Batches(ctx context.Context) iter.Seq2[*Batch, error]
	// Summary is known after a complete scan.
	Summary() Summary
	// Close releases the store. It returns an error if the source changed while
	// it was read.
	Close() error
}

// Positioned is a reader of text that knows the lines of its records.
type Positioned interface {
	Reader
	// Position returns the file and line of the first record of the last batch.
	// Each record is one line.
	Position() (file string, line int)
}

// Writer creates one store, in a place that no other program reads yet.
type Writer interface {
	// Put takes ownership of the batch. Batches arrive in the reader's order.
	Put(ctx context.Context, b *Batch) error
	// Finish completes the store on disk. Put must not be called afterwards.
	Finish(ctx context.Context) error
	// Close releases everything, finished or not. It can be called twice.
	Close() error
}

// EachRow hands each row of some batches to do, by its batch and number there, and
// releases the batches. It stops at the first error.
func EachRow(batches iter.Seq2[*Batch, error], do func(b *Batch, i int) error) error {
	for b, err := range batches {
		if err != nil {
			return err
		}
		for i := 0; i < b.Rows() && err == nil; i++ {
			err = do(b, i)
		}
		b.Release()
		if err != nil {
			return err
		}
	}
	return nil
}

// Records yields the records of a reader, for tests and small stores. Each record
// is valid until the next one.
func Records(ctx context.Context, r Reader) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		for b, err := range r.Batches(ctx) {
			if err != nil {
				yield(Record{}, err)
				return
			}
			for i := range b.Rows() {
				if !yield(b.Record(i), nil) {
					b.Release()
					return
				}
			}
			b.Release()
		}
	}
}

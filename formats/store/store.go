package store

import (
	"context"
	"iter"
)

// Reader reads one store.
type Reader interface {
	// Schema is known before the first record.
	Schema() *Schema
	// Batches yields every record once, the sets in schema order, each set in
	// a stable order. A second call scans again.
	Batches(ctx context.Context) iter.Seq2[*Batch, error]
	// Summary is known after a scan that ran to its end.
	Summary() Summary
	// Close lets go of the store. It reports a source that changed while it
	// was being read.
	Close() error
}

// Positioned is a reader of text that knows where its records stand.
type Positioned interface {
	Reader
	// Position is the file and the line at which the records of the batch begin
	// that was yielded last, one record a line.
	Position() (file string, line int)
}

// Writer builds one store from nothing, in a place nobody else sees yet.
type Writer interface {
	// Put takes over the batch. Batches arrive in the reader's order.
	Put(ctx context.Context, b *Batch) error
	// Finish completes the store on disk. Nothing may be put afterwards.
	Finish(ctx context.Context) error
	// Close lets go of everything, finished or not. It is safe to call twice.
	Close() error
}

// Records is a convenient view of a reader for tests and small work. Each
// record is valid until the next step.
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

package archive

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"sync"

	"rehome/formats/archive/internal/rowtext"
	"rehome/formats/internal/lines"
	"rehome/formats/store"
)

// unit is a sequence of complete lines of one set, or a piece of a plain file, which
// becomes batches.
type unit struct {
	set     int   // -1: a line that names a table
	trailer *text // the line that states the count and digest of the rows; no text
	file    string
	at      place // of file, for digests
	text    []byte
	seen    text
	first   int64 // row ids, where there are any
	last    int64
	batches []*store.Batch
	err     error
	wrong   int  // line of err, from 1 for the first line of the unit; 0: the whole file
	piece   int  // number of the piece of a plain file
	whole   bool // text is a complete buffer, which can be reused
	done    chan struct{}
}

var errOrder = errors.New("rows are not sorted by row id")

func (u *unit) ascends(id int64) error {
	if u.seen.rows == 1 {
		u.first = id
	} else if id <= u.last {
		return errOrder
	}
	u.last = id
	return nil
}

// parseRow reads one line into a batch.
type parseRow func(b *store.Batch, line []byte, rowids bool) error

func (u *unit) release() {
	for _, b := range u.batches {
		if b != nil {
			b.Release()
		}
	}
	u.batches = nil
}

// parse parses the text into batches. It runs in a worker.
func (u *unit) parse(sets []store.Set, row parseRow) {
	if u.set < 0 || u.err != nil {
		return
	}
	set := &sets[u.set]
	if set.Kind == store.Plain {
		u.seen.bytes = int64(len(u.text))
		b := store.NewBatch(u.set, 1)
		b.Row(int64(u.piece))
		b.AddBytes(store.Blob, u.text)
		u.batches = append(u.batches, b)
		return
	}
	var b *store.Batch
	for rest := u.text; len(rest) > 0; {
		if b == nil {
			b = store.NewBatch(u.set, len(set.Columns))
			u.batches = append(u.batches, b)
		}
		n := bytes.IndexByte(rest, '\n') + 1
		line, err := u.line(rest[:n])
		if err == nil {
			err = row(b, line[:len(line)-1], set.RowIDs)
		}
		if err == nil && set.RowIDs && !stream(u.file) && !common(u.file) {
			err = u.ascends(b.RowID(b.Rows() - 1))
		}
		if err != nil && lines.Conflict(rest[:n]) {
			err = errConflict
		}
		if err != nil {
			u.err, u.wrong = err, int(u.seen.rows)
			return
		}
		if rest = rest[n:]; b.Full() {
			b = nil
		}
	}
}

// line counts a line and returns its row.
func (u *unit) line(line []byte) ([]byte, error) {
	if !common(u.file) {
		u.seen.add(line, u.at)
		return line, nil
	}
	u.seen.rows++
	return u.at.unseal(line)
}

// units yields all units in order, parsed by the workers of the reader.
func (r *reader) units(ctx context.Context) iter.Seq2[*unit, error] {
	row := parseRow(rowtext.Parse)
	if r.view.Fresh {
		row = rowtext.ParseFresh
	}
	if r.jobs == 1 {
		return func(yield func(*unit, error) bool) {
			for u := range r.cut(ctx) {
				u.parse(r.schema.Sets, row)
				r.reuse(u)
				if !yield(u, nil) {
					return
				}
			}
			if err := ctx.Err(); err != nil {
				yield(nil, err)
			}
		}
	}
	return r.unitsParallel(ctx, row)
}

func (r *reader) unitsParallel(ctx context.Context, row parseRow) iter.Seq2[*unit, error] {
	return func(yield func(*unit, error) bool) {
		ctx, stop := context.WithCancel(ctx)
		work, order := make(chan *unit, r.jobs), make(chan *unit, r.jobs+2)
		var all sync.WaitGroup
		defer all.Wait()
		defer stop()
		all.Go(func() {
			defer close(order)
			defer close(work)
			for u := range r.cut(ctx) {
				u.done = make(chan struct{})
				select {
				case work <- u:
				case <-ctx.Done():
					return
				}
				order <- u
			}
		})
		for range r.jobs {
			all.Go(func() {
				for u := range work {
					u.parse(r.schema.Sets, row)
					r.reuse(u)
					close(u.done)
				}
			})
		}
		stopped := false
		for u := range order {
			<-u.done
			if stopped {
				u.release()
			} else if !yield(u, nil) {
				stopped = true
				stop()
			}
		}
		if err := ctx.Err(); err != nil && !stopped {
			yield(nil, err)
		}
	}
}

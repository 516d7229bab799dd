package archive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"unicode/utf8"

	"rehome/formats"
	"rehome/formats/internal/entries"
	"rehome/formats/internal/packed"
	"rehome/formats/store"
)

// writer turns batches into text. Workers encode the rows; one goroutine writes the text
// to files, in the order of the batches. With a single worker everything happens in Put.
// The text is the same either way.
type writer struct {
	root   *os.Root
	schema *store.Schema
	shard  func(*store.Set, store.Record) formats.Shard
	keyed  []bool                        // of each set: its first column is a key, see common
	lists  []map[string][]entries.Member // of each set, see listsOf
	pack   packed.Kind

	sink    *sink
	single  *job      // of a single worker; nil if there are more
	jobs    chan *job // to the workers
	ordered chan *job // the same jobs in order, to the sink
	idle    chan *job // finished jobs, for reuse
	quit    chan struct{}
	done    chan struct{} // closed when the sink has ended
	err     error         // of the sink; valid after done
	live    bool          // not ended

}

func create(_ context.Context, b formats.Build) (store.Writer, error) {
	pack, err := packed.ParseKind(b.Compress)
	if err != nil {
		return nil, err
	}
	if err := encodable(b.Schema); err != nil {
		return nil, err
	}
	if err := checkPaths(b.Schema, version); err != nil {
		return nil, &formats.Error{Format: name, Err: err, Hint: "rename it in a copy of the store, and archive the copy"}
	}
	if err := os.Mkdir(b.Path, 0o777); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(b.Path)
	if err != nil {
		return nil, err
	}
	w := &writer{
		root: root, schema: b.Schema, shard: b.Shard, pack: pack,
		quit: make(chan struct{}), done: make(chan struct{}), live: true,
	}
	for i, keys := range keysOf(b.Schema) {
		w.keyed, w.lists = append(w.keyed, keys.first()), append(w.lists, nil)
		if keys.first() && pack == packed.None {
			w.lists[i] = listsOf(&b.Schema.Sets[i], b.Lists)
		}
	}
	workers := formats.Workers(b.Jobs)
	w.sink = newSink(w, workers)
	if workers == 1 {
		w.single = new(job)
	} else {
		w.start(workers)
	}
	return w, nil
}

func (w *writer) start(workers int) {
	n := workers + 2
	w.jobs, w.ordered, w.idle = make(chan *job, n), make(chan *job, n), make(chan *job, n)
	for range n {
		w.idle <- &job{done: make(chan struct{}, 1)}
	}
	for range workers {
		go func() {
			for j := range w.jobs {
				j.encode(w)
				j.done <- struct{}{}
			}
		}()
	}
	go func() {
		defer close(w.done)
		if w.err = w.sink.run(); w.err == nil {
			w.err = w.sink.finish()
		}
	}()
}

// Put passes the batch to a worker.
func (w *writer) Put(ctx context.Context, b *store.Batch) error {
	if w.single != nil {
		if w.err == nil {
			w.single.batch = b
			w.single.encode(w)
			w.err = w.sink.take(w.single)
		}
		return w.err
	}
	select {
	case j := <-w.idle:
		j.batch = b
		w.jobs <- j
		w.ordered <- j
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-w.done:
		return w.failed()
	}
}

func (w *writer) failed() error {
	if w.err != nil {
		return w.err
	}
	return errors.New("archive: Put after Finish")
}

// Finish waits for the last row, and then writes the documents, unless it is canceled.
func (w *writer) Finish(ctx context.Context) error {
	w.end()
	if err := cmp.Or(w.err, ctx.Err()); err != nil {
		return err
	}
	for path, doc := range documents(w.schema, w.pack) {
		b, err := signed(doc)
		if err == nil {
			err = w.sink.file(path, b)
		}
		if err != nil {
			return err
		}
	}
	return w.sink.file(attributesName, []byte(attributes))
}

// end stops the workers and the sink, after all batches are written.
func (w *writer) end() {
	switch {
	case !w.live:
		return
	case w.single == nil:
		close(w.jobs)
		close(w.ordered)
		<-w.done
	case w.err == nil:
		w.err = w.sink.finish()
	}
	w.live = false
	w.sink.close()
}

// Close ends the writer, whether it has finished or not.
func (w *writer) Close() error {
	if w.root == nil {
		return nil
	}
	if w.live {
		if close(w.quit); w.single != nil && w.err == nil {
			w.err = errQuit
		}
		w.end()
	}
	err := w.root.Close()
	w.root = nil
	return err
}

// encodable returns an error for names and statements that are not valid UTF-8, because
// encoding/json would change them.
func encodable(s *store.Schema) error {
	refuse := func(db, what, title string) error {
		return &formats.Error{Format: name, At: db, Err: fmt.Errorf("%s %s: invalid UTF-8", what, quote(title)), Hint: "an archive can hold only valid UTF-8; fix the name or SQL in a copy of the database, and archive the copy"}
	}
	for _, d := range s.Databases {
		for _, o := range d.Objects {
			if !utf8.ValidString(o.Name + o.Table + o.SQL) {
				return refuse(d.Path, o.Type, o.Name)
			}
		}
	}
	for _, set := range s.Sets {
		for _, c := range set.Columns {
			if !utf8.ValidString(c) {
				return refuse(set.File, "column", c)
			}
		}
	}
	return nil
}

func lineTooLong(set *store.Set, rowid int64) error {
	at := store.Addr{File: set.File, Set: set.Name, RowID: rowid, HasID: set.RowIDs}
	return &formats.Error{Format: name, At: at.String(), Err: fmt.Errorf("row is longer than %d MB as text", maxLine>>20),
		Hint: "keep the store file itself; an archive cannot hold longer lines"}
}

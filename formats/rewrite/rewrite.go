package rewrite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"

	"rehome/formats"
	"rehome/formats/internal/secret"
	"rehome/formats/internal/tally"
	"rehome/formats/loss"
	"rehome/formats/store"
)

// Rewriter says what becomes of values.
type Rewriter interface {
	// Learn receives every value before the first call of Value, in the store's order.
	// blob says that it can be a protobuf message that looks like text.
	Learn(ctx context.Context, b []byte, blob bool) error
	// Value returns what becomes of a value: b itself, or other bytes. The result does
	// not depend on earlier calls. onHit, which may be nil, is called for each
	// replacement.
	Value(ctx context.Context, b []byte, blob bool, onHit func(kind string)) ([]byte, error)
	// Idle reports, after the last call of Learn, whether Value changes nothing.
	Idle() bool
}

// Options say how to rewrite a store.
type Options struct {
	Name string // of a store that is one plain file: the name of the file
	// Client leaves out what the reader withheld: a client would read the marker in its
	// place as data.
	Client bool
	OnLoss loss.Sink
	// OnHit, if set, is called for each replacement in a scan, with the address of its
	// record in the new store.
	OnHit func(kind string, at store.Addr)
}

// Reader is the Reader of a store with other values.
type Reader struct {
	src    store.Reader
	rw     Rewriter
	o      Options
	schema *store.Schema
	to     []int // the set that each set of the source is
	sorted bool  // they are in another order
	graph  *graph
	deltas bool              // there are some
	retold map[record]retold // texts of deltas that change
	sum    store.Summary
}

// New returns a Reader of what src reads, rewritten, and owns src. It reads all of the
// store first.
func New(ctx context.Context, src store.Reader, rw Rewriter, o Options) (*Reader, error) {
	r := &Reader{src: src, rw: rw, o: o, graph: newGraph(), retold: map[record]retold{}}
	err := r.prepare(ctx)
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

func (r *Reader) prepare(ctx context.Context) error {
	if err := r.learn(ctx); err != nil {
		return err
	}
	if err := r.rename(ctx); err != nil || r.rw.Idle() {
		return err
	}
	if err := r.retellAll(ctx); err != nil {
		return err
	}
	return r.plan(ctx)
}

// retellAll decides on the texts of deltas.
func (r *Reader) retellAll(ctx context.Context) error {
	if !r.deltas {
		return nil
	}
	d := newDeltas(func(t *told) error { return r.retell(ctx, t) })
	err := r.each(ctx, visitor{
		row: func(n int64, b *store.Batch, i int) (err error) {
			for c := 0; c < b.Width() && err == nil; c++ {
				err = d.see(record{b.Set, c, n}, b.Cell(i, c).Bytes())
			}
			return err
		},
		text: func(set, line int, v []byte) error { return d.see(record{set, 0, int64(line)}, v) },
	})
	return cmp.Or(err, d.finish())
}

// Schema returns the schema with the names of files rewritten.
func (r *Reader) Schema() *store.Schema { return r.schema }

// Summary returns the counts of the rewritten records, after a complete scan.
func (r *Reader) Summary() store.Summary { return r.sum }

// Close closes the reader of the source.
func (r *Reader) Close() error { return r.src.Close() }

// learn passes every value and name to the Rewriter, and collects the ids of blobs.
func (r *Reader) learn(ctx context.Context) error {
	schema := r.src.Schema()
	for _, name := range names(schema) {
		if err := r.rw.Learn(ctx, []byte(name), false); err != nil {
			return err
		}
	}
	d := newDeltas(func(t *told) error {
		r.deltas = true
		return r.rw.Learn(ctx, []byte(t.text.String()), false)
	})
	err := r.each(ctx, visitor{
		row: func(n int64, b *store.Batch, i int) error {
			a, ok := addressed(b, i, schema.Sets[b.Set].Kind)
			if ok {
				r.graph.add(a.id)
				if err := r.rw.Learn(ctx, a.content, true); err != nil {
					return r.failure(b, i, err)
				}
			}
			for c := range b.Width() {
				if v := b.Cell(i, c).Bytes(); len(v) > 0 && !(ok && c == a.col) {
					if err := cmp.Or(r.rw.Learn(ctx, v, false), d.see(record{b.Set, c, n}, v)); err != nil {
						return r.failure(b, i, err)
					}
				}
			}
			return nil
		},
		text: func(set, line int, v []byte) error {
			return cmp.Or(r.rw.Learn(ctx, v, false), d.see(record{set, 0, int64(line)}, v))
		},
	})
	return cmp.Or(err, d.finish())
}

// names returns all names of a schema.
func names(s *store.Schema) (out []string) {
	for _, d := range s.Databases {
		out = append(out, d.Path)
		for _, o := range d.Objects {
			out = append(out, o.Name, o.SQL)
		}
	}
	for _, set := range s.Sets {
		if set.Kind != store.Table {
			out = append(out, set.File)
		}
	}
	return out
}

// rename refuses names that cannot be rewritten: those of databases, tables and columns.
// Files get other names.
func (r *Reader) rename(ctx context.Context) error {
	schema := *r.src.Schema()
	for i, name := range names(&store.Schema{Databases: schema.Databases}) {
		if out, err := r.rw.Value(ctx, []byte(name), false, nil); err != nil || string(out) != name {
			return &formats.Error{At: schema.Databases[0].Path, Err: errors.Join(fmt.Errorf("name %d of its databases, tables and columns holds a value to redact", i+1), err), Hint: "names cannot be redacted: convert the sessions instead, with --to canonical"}
		}
	}
	r.schema = &schema
	return r.renameFiles(ctx)
}

// Batches yields the records, rewritten.
func (r *Reader) Batches(ctx context.Context) iter.Seq2[*store.Batch, error] {
	return func(yield func(*store.Batch, error) bool) {
		r.sum = tally.Scan(len(r.schema.Sets), yield, func(t *tally.Tally) error {
			c := &copier{Reader: r, give: t.Give, filter: secret.NewFilter(r.schema, formats.View{Secrets: formats.OmitWithheld})}
			return c.run(ctx)
		})
	}
}

// failure returns the error of a value with the address of its record. The key of the
// record is not part of it: it may be what is to be redacted.
func (r *Reader) failure(b *store.Batch, i int, err error) error {
	set := r.src.Schema().Sets[b.Set]
	at := store.Addr{File: set.File, Set: set.Name, RowID: b.RowID(i), HasID: set.Kind == store.Table}
	if set.Kind == store.Lines {
		at.Line = int(b.RowID(i))
	}
	return &formats.Error{At: at.String(), Err: err}
}

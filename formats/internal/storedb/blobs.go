package storedb

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"iter"
	"math"

	"rehome/formats/internal/agentstate"
	"rehome/formats/internal/blobs"
	"rehome/formats/internal/sqlitefile"
	"rehome/formats/store"
)

const (
	// BlobsTable is the name of the table of blobs.
	BlobsTable = "blobs"

	// maxHeld bounds the size of a database whose blobs are held in memory:
	// reading all of them is many times faster than looking up each. Of a
	// larger one only the index is held.
	maxHeld = 16 << 20

	// maxOdd bounds how many ids of a large table are held because they are
	// not in lower case.
	maxOdd = 1 << 16

	// maxKept bounds the buffer that is kept for the next blob.
	maxKept = 1 << 20
)

// Blobs reads the table of blobs. It implements agentstate.Blobs.
type Blobs struct {
	Rows      int64 // all of them
	Misnamed  int64 // rows whose key is not the id of a blob
	Deleted   int64 // rows whose data is NULL; not counted in a table that is looked up
	db        *sqlitefile.DB
	o         Options
	table     sqlitefile.Table // its two columns
	index     *blobs.Index[int64]
	batches   []*store.Batch                 // of a table held in memory; a place is a batch and a row
	lookup    *sqlitefile.Keyed              // of a larger one; a place is a row id
	buffer    []byte                         // of the blob that was looked up last
	odd       map[agentstate.ID]string       // of a larger one: ids that are not in lower case
	key, data int                            // columns
	text      [2 * len(agentstate.ID{})]byte // of the id that is looked up
}

// Options say how Blobs names what it reads.
type Options struct {
	File     string           // the database, in addresses
	Digits   int              // of an id, in addresses
	Misnamed func(store.Addr) // receives the rows whose key is not the id of a blob; may be nil
}

// OpenBlobs reads a small table and the keys of a large one. A table that lacks
// one of the two columns has no blobs.
func OpenBlobs(ctx context.Context, db *sqlitefile.DB, t sqlitefile.Table, o Options) (*Blobs, error) {
	b := &Blobs{db: db, o: o, table: t, index: blobs.New(cmp.Compare[int64])}
	b.key, b.data = store.FindColumn(t.Columns, "id"), store.FindColumn(t.Columns, "data")
	if b.key < 0 || b.data < 0 {
		return b, nil
	}
	open := b.hold
	if db.Size() > maxHeld {
		open = b.openLarge
	}
	if err := open(ctx); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

// columns is the table with only some of its columns.
func (b *Blobs) columns(columns ...int) sqlitefile.Table {
	t := sqlitefile.Table{Name: b.table.Name, RowIDs: b.table.RowIDs}
	for _, c := range columns {
		t.Columns = append(t.Columns, b.table.Columns[c])
	}
	return t
}

// hold reads the whole table.
func (b *Blobs) hold(ctx context.Context) error {
	for batch, err := range b.db.Scan(ctx, 0, b.columns(b.key, b.data)) {
		if err != nil {
			return err
		}
		b.batches = append(b.batches, batch)
	}
	for n, batch := range b.batches {
		for i := range batch.Rows() {
			if batch.Cell(i, 1).Class == store.Null {
				b.Rows, b.Deleted = b.Rows+1, b.Deleted+1
			} else {
				b.add(batch, i, int64(n)<<32|int64(i))
			}
		}
	}
	return nil
}

// openLarge reads the keys of the table, and prepares to look up blobs.
func (b *Blobs) openLarge(ctx context.Context) (err error) {
	if b.lookup, err = b.db.Keyed(ctx, b.table.Name, b.table.Columns[b.key], b.table.Columns[b.data]); err != nil {
		return err
	}
	for batch, err := range b.db.Scan(ctx, 0, b.columns(b.key)) {
		if err != nil {
			return err
		}
		for i := range batch.Rows() {
			b.add(batch, i, batch.RowID(i))
		}
		batch.Release()
	}
	return nil
}

// add adds a row to the index.
func (b *Blobs) add(batch *store.Batch, i int, place int64) {
	b.Rows++
	key := batch.Cell(i, 0)
	id, exact, ok := blobs.ParseID(key.Bytes())
	if !ok {
		b.Misnamed++
		if b.o.Misnamed != nil {
			b.o.Misnamed(store.Addr{File: b.o.File, Set: b.table.Name, RowID: batch.RowID(i), HasID: b.table.RowIDs})
		}
		return
	}
	exact = exact && key.Class == store.Text
	b.index.Add(id, exact, place)
	if b.lookup != nil && !exact && len(b.odd) < maxOdd && b.odd[id] == "" {
		if b.odd == nil {
			b.odd = map[agentstate.ID]string{}
		}
		b.odd[id] = string(key.Bytes())
	}
}

// Len returns the number of blobs.
func (b *Blobs) Len() int64 { return int64(b.index.Len()) }

// Close releases the rows or the statement. It does not close the database.
func (b *Blobs) Close() (err error) {
	for _, batch := range b.batches {
		batch.Release()
	}
	if b.lookup != nil {
		err = b.lookup.Close()
	}
	b.batches, b.lookup = nil, nil
	return err
}

// row returns the batch and the row of a place in a table held in memory.
func (b *Blobs) row(place int64) (*store.Batch, int) {
	return b.batches[place>>32], int(place & (1<<32 - 1))
}

func (b *Blobs) find(id agentstate.ID) (place int64, ok bool) {
	if b.lookup != nil {
		return b.index.Find(id, nil)
	}
	return b.index.Find(id, func(place int64) bool {
		batch, i := b.row(place)
		named, _, _ := blobs.ParseID(batch.Cell(i, 0).Bytes())
		return named == id
	})
}

// Has reports whether there is a blob with that id.
func (b *Blobs) Has(id agentstate.ID) bool {
	_, ok := b.find(id)
	return ok
}

// Blob returns the bytes of a blob, nil if there is none with that id. They are
// valid until the next call.
func (b *Blobs) Blob(ctx context.Context, id agentstate.ID) ([]byte, error) {
	place, ok := b.find(id)
	if !ok || ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if b.lookup != nil {
		return b.lookUp(ctx, id)
	}
	batch, i := b.row(place)
	c := batch.Cell(i, 1)
	if c.Bytes() == nil && (c.Class == store.Text || c.Class == store.Blob) {
		return []byte{}, nil
	}
	return c.Bytes(), nil
}

// lookUp returns the bytes of a blob of a large table.
func (b *Blobs) lookUp(ctx context.Context, id agentstate.ID) ([]byte, error) {
	if cap(b.buffer) > maxKept {
		b.buffer = nil
	}
	hex.Encode(b.text[:], id[:])
	found, ok, err := b.lookup.GetInto(ctx, b.buffer, string(b.text[:]), math.MaxInt64)
	if odd := b.odd[id]; err == nil && !ok && odd != "" {
		found, _, err = b.lookup.GetInto(ctx, b.buffer, odd, math.MaxInt64)
	}
	if err != nil || found.Class != store.Text && found.Class != store.Blob {
		return nil, err
	}
	b.buffer = found.Bytes
	return found.Bytes, nil
}

// At returns the address of a blob.
func (b *Blobs) At(id agentstate.ID) store.Addr {
	digits := hex.AppendEncode(nil, id[:(b.o.Digits+1)/2])[:b.o.Digits]
	a := store.Addr{File: b.o.File, Set: cmp.Or(b.table.Name, BlobsTable), Key: store.TextCell(digits)}
	if place, ok := b.find(id); ok && b.table.RowIDs {
		a.RowID, a.HasID = place, true
		if b.lookup == nil {
			batch, i := b.row(place)
			a.RowID = batch.RowID(i)
		}
	}
	return a
}

// All yields the ids of all blobs in the order of their rows.
func (b *Blobs) All(ctx context.Context) iter.Seq2[agentstate.ID, error] {
	return func(yield func(agentstate.ID, error) bool) {
		ids, err := b.ids(ctx)
		if err != nil {
			yield(agentstate.ID{}, err)
			return
		}
		for _, id := range ids {
			if !yield(id, nil) {
				return
			}
		}
	}
}

// ids is held in memory: a caller may look blobs up while it goes through them.
func (b *Blobs) ids(ctx context.Context) (ids []agentstate.ID, err error) {
	add := func(batch *store.Batch) {
		for i := range batch.Rows() {
			if id, _, ok := blobs.ParseID(batch.Cell(i, 0).Bytes()); ok && (b.lookup != nil || batch.Cell(i, 1).Class != store.Null) {
				ids = append(ids, id)
			}
		}
	}
	for _, batch := range b.batches {
		add(batch)
	}
	if b.lookup != nil {
		for batch, err := range b.db.Scan(ctx, 0, b.columns(b.key)) {
			if err != nil {
				return nil, err
			}
			add(batch)
			batch.Release()
		}
	}
	return ids, nil
}

package cursorchat

import (
	"context"
	"encoding/hex"
	"iter"

	"rehome/formats/internal/agentstate"
	"rehome/formats/internal/sqlitefile"
	"rehome/formats/store"
)

// smallStore is how many bytes of blobs are held at once: reading them in one
// go is many times faster than asking for each. Of a larger store only the keys
// are held.
const smallStore = 16 << 20

// blobs are the rows of the table blobs.
type blobs struct {
	file  string // as addresses name it
	rows  map[agentstate.ID]place
	order []agentstate.ID
	count int64 // rows, those included whose key is no blob's name

	batches []*store.Batch     // of a small store
	lookup  *sqlitefile.Lookup // of a larger one
	text    [64]byte
}

// place is where a blob lies: its row id, and in which batch.
type place struct {
	rowid      int64
	batch, row int32
}

// openBlobs reads a small store's blobs, and of a larger one the names.
func openBlobs(ctx context.Context, db *sqlitefile.DB, t sqlitefile.Table, file string) (b *blobs, err error) {
	b = &blobs{file: file, rows: map[agentstate.ID]place{}}
	key, data := column(t, "id"), column(t, "data")
	if key < 0 || data < 0 {
		return b, nil
	}
	two := sqlitefile.Table{Name: t.Name, Columns: []string{t.Columns[key], t.Columns[data]}, RowIDs: t.RowIDs}
	size := 0
	for batch, err := range db.Scan(ctx, 0, two) {
		if err != nil {
			b.close()
			return nil, err
		}
		size += batch.Size()
		b.batches = append(b.batches, batch)
		if size > smallStore {
			break
		}
		b.enter(batch)
	}
	if size <= smallStore {
		return b, nil
	}
	b.close()
	clear(b.rows)
	b.batches, b.order, b.count = nil, nil, 0
	if b.lookup, err = db.Lookup(ctx, t.Name, t.Columns[key], t.Columns[data]); err != nil {
		return nil, err
	}
	for k, err := range b.lookup.Keys(ctx) {
		if err != nil {
			b.close()
			return nil, err
		}
		b.count++
		b.name([]byte(k.Text), place{rowid: k.RowID})
	}
	return b, nil
}

func (b *blobs) enter(batch *store.Batch) {
	for i := range batch.Rows() {
		b.count++
		b.name(batch.Cell(i, 0).Bytes(), place{batch.RowID(i), int32(len(b.batches) - 1), int32(i)})
	}
}

// name enters a row under its key. Of two keys that differ only in case the
// one that clients write counts.
func (b *blobs) name(key []byte, at place) {
	id, ok := agentstate.ParseID(string(key))
	if !ok {
		return
	}
	if _, twice := b.rows[id]; twice {
		if id.String() != string(key) {
			return
		}
	} else {
		b.order = append(b.order, id)
	}
	b.rows[id] = at
}

func (b *blobs) close() error {
	for _, batch := range b.batches {
		batch.Release()
	}
	b.batches = nil
	if b.lookup != nil {
		err := b.lookup.Close()
		b.lookup = nil
		return err
	}
	return nil
}

// Blob is agentstate.Blobs.
func (b *blobs) Blob(ctx context.Context, id agentstate.ID) ([]byte, error) {
	at, ok := b.rows[id]
	if !ok {
		return nil, nil
	}
	var c store.Cell
	if b.lookup == nil {
		c = b.batches[at.batch].Cell(int(at.row), 1)
	} else {
		hex.Encode(b.text[:], id[:])
		found, ok, err := b.lookup.Get(ctx, string(b.text[:]))
		if err != nil || !ok {
			return nil, err
		}
		c = found.Cell
	}
	if c.Class != store.Text && c.Class != store.Blob {
		return nil, nil
	}
	if c.Bytes() == nil {
		return []byte{}, nil
	}
	return c.Bytes(), nil
}

// at is a blob's address.
func (b *blobs) at(id agentstate.ID) store.Addr {
	a := store.Addr{File: b.file, Set: "blobs", Key: store.TextCell([]byte(id.String()[:12]))}
	if at, ok := b.rows[id]; ok {
		a.RowID, a.HasID = at.rowid, true
	}
	return a
}

// all lists the blobs in the order in which they were made.
func (b *blobs) all() iter.Seq2[agentstate.ID, error] {
	return func(yield func(agentstate.ID, error) bool) {
		for _, id := range b.order {
			if !yield(id, nil) {
				return
			}
		}
	}
}

func column(t sqlitefile.Table, name string) int {
	for i, c := range t.Columns {
		if c == name {
			return i
		}
	}
	return -1
}

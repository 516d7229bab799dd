package cursorchat

import (
	"cmp"
	"context"
	"encoding/binary"
	"encoding/hex"
	"iter"
	"slices"

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
	list  []mark // sorted by name
	count int64  // rows, those included whose key is no blob's name

	batches []*store.Batch     // of a small store
	lookup  *sqlitefile.Lookup // of a larger one
	text    [64]byte
}

// mark is one blob: 16 bytes. Names are hashes, so that their first bytes find
// them.
type mark struct {
	name uint64
	at   int64 // of a small store batch and row in it, of a larger one the row id
}

// openBlobs reads a small store's blobs, and of a larger one the names.
func openBlobs(ctx context.Context, db *sqlitefile.DB, t sqlitefile.Table, file string) (b *blobs, err error) {
	b = &blobs{file: file}
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
	}
	if size <= smallStore {
		b.enter()
		return b, nil
	}
	b.close()
	if b.lookup, err = db.Lookup(ctx, t.Name, t.Columns[key], t.Columns[data]); err != nil {
		return nil, err
	}
	for k, err := range b.lookup.Keys(ctx) {
		if err != nil {
			b.close()
			return nil, err
		}
		b.count++
		if id, ok := agentstate.ParseID(k.Text); ok {
			b.list = append(b.list, mark{prefix(id), k.RowID})
		}
	}
	b.sort()
	return b, nil
}

func (b *blobs) enter() {
	for n, batch := range b.batches {
		for i := range batch.Rows() {
			b.count++
			if id, ok := agentstate.ParseID(string(batch.Cell(i, 0).Bytes())); ok {
				b.list = append(b.list, mark{prefix(id), int64(n)<<32 | int64(i)})
			}
		}
	}
	b.sort()
}

func (b *blobs) sort() {
	slices.SortFunc(b.list, func(x, y mark) int { return cmp.Or(cmp.Compare(x.name, y.name), cmp.Compare(x.at, y.at)) })
}

func prefix(id agentstate.ID) uint64 { return binary.BigEndian.Uint64(id[:]) }

// row is where a blob of a small store lies.
func (b *blobs) row(m mark) (*store.Batch, int) {
	return b.batches[m.at>>32], int(m.at & (1<<32 - 1))
}

// find looks for a blob's mark. Of two keys that differ only in case the one
// that clients write counts.
func (b *blobs) find(id agentstate.ID) (found mark, ok bool) {
	i, _ := slices.BinarySearchFunc(b.list, prefix(id), func(m mark, name uint64) int { return cmp.Compare(m.name, name) })
	for ; i < len(b.list) && b.list[i].name == prefix(id); i++ {
		m := b.list[i]
		if b.lookup != nil {
			return m, true
		}
		batch, row := b.row(m)
		key := string(batch.Cell(row, 0).Bytes())
		if same, _ := agentstate.ParseID(key); same == id && (!ok || key == id.String()) {
			found, ok = m, true
		}
	}
	return found, ok
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
	m, ok := b.find(id)
	if !ok {
		return nil, nil
	}
	var c store.Cell
	if b.lookup == nil {
		batch, row := b.row(m)
		c = batch.Cell(row, 1)
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
	m, ok := b.find(id)
	switch {
	case !ok:
		return a
	case b.lookup != nil:
		a.RowID = m.at
	default:
		batch, row := b.row(m)
		a.RowID = batch.RowID(row)
	}
	a.HasID = true
	return a
}

// all lists the blobs in the order in which they were made.
func (b *blobs) all(ctx context.Context) iter.Seq2[agentstate.ID, error] {
	return func(yield func(agentstate.ID, error) bool) {
		if b.lookup != nil {
			for k, err := range b.lookup.Keys(ctx) {
				id, ok := agentstate.ParseID(k.Text)
				if (ok || err != nil) && !yield(id, err) {
					return
				}
			}
			return
		}
		for _, batch := range b.batches {
			for i := range batch.Rows() {
				if id, ok := agentstate.ParseID(string(batch.Cell(i, 0).Bytes())); ok && !yield(id, nil) {
					return
				}
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

package cursorchat

import (
	"cmp"
	"context"
	"encoding/hex"
	"hash/maphash"
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
	seed  maphash.Seed
	odd   map[agentstate.ID]bool // names that are not in lower case
	count int64                  // rows, those included whose key is no blob's name

	batches []*store.Batch     // of a small store
	lookup  *sqlitefile.Lookup // of a larger one
	text    [64]byte
}

// mark is one blob: 16 bytes.
type mark struct {
	name uint64 // a hash of it
	at   int64  // of a small store batch and row in it, of a larger one the row id
}

func noBlobs(file string) *blobs { return &blobs{file: file, seed: maphash.MakeSeed()} }

// openBlobs reads a small store's blobs, and of a larger one the names.
func openBlobs(ctx context.Context, db *sqlitefile.DB, t sqlitefile.Table, file string) (b *blobs, err error) {
	b = noBlobs(file)
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
		b.add(k.Text, k.RowID)
	}
	b.sort()
	return b, nil
}

// add enters a row by its key. Of keys of one name that clients do not write so
// the first is enough.
func (b *blobs) add(key string, at int64) {
	id, ok := agentstate.ParseID(key)
	if !ok || key != id.String() && b.odd[id] {
		return
	}
	if key != id.String() {
		if b.odd == nil {
			b.odd = map[agentstate.ID]bool{}
		}
		b.odd[id] = true
	}
	b.list = append(b.list, mark{id.Hash(b.seed), at})
}

func (b *blobs) enter() {
	for n, batch := range b.batches {
		for i := range batch.Rows() {
			b.count++
			b.add(string(batch.Cell(i, 0).Bytes()), int64(n)<<32|int64(i))
		}
	}
	b.sort()
}

func (b *blobs) sort() {
	slices.SortFunc(b.list, func(x, y mark) int { return cmp.Or(cmp.Compare(x.name, y.name), cmp.Compare(x.at, y.at)) })
}

// row is where a blob of a small store lies.
func (b *blobs) row(m mark) (*store.Batch, int) {
	return b.batches[m.at>>32], int(m.at & (1<<32 - 1))
}

// find looks for a blob's mark. Of two keys that differ only in case the one
// that clients write counts.
func (b *blobs) find(id agentstate.ID) (found mark, ok bool) {
	i, _ := slices.BinarySearchFunc(b.list, id.Hash(b.seed), func(m mark, name uint64) int { return cmp.Compare(m.name, name) })
	for name := id.Hash(b.seed); i < len(b.list) && b.list[i].name == name; i++ {
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

package cursorsdk

import (
	"cmp"
	"context"
	"errors"
	"hash/maphash"
	"os"
	"slices"
	"strconv"

	"rehome/formats/internal/agentstate"
	"rehome/formats/internal/sdkdoc"
	"rehome/formats/internal/sdksession"
	"rehome/formats/internal/sqlitefile"
	"rehome/formats/internal/sqlitestore"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/formats/store"
)

// smallShelf is how many bytes of blobs are held at once: reading them in one go
// is many times faster than asking for each. Of a larger shelf only the names
// are held.
const smallShelf = 16 << 20

// blobShelf is the blobs of one agent.
type blobShelf struct {
	db    *sqlitefile.DB
	seed  maphash.Seed
	held  []byte             // the blobs of a small shelf, each with its name in front
	large *sqlitefile.Lookup // those of a large one
	upper map[agentstate.ID]string
	list  []mark // by name, then as the rows came
	file  string
	table string
	out   sdksession.Shelf
}

// mark is where a blob lies: in what is held, or else its place among the rows.
type mark struct {
	name   uint64
	offset int64
	row    int64
	len    uint32
}

const nameLen = 32

// shelf opens an agent's database and reads it once.
func (d *decoder) shelf(ctx context.Context, agent string) (_ *sdksession.Shelf, err error) {
	p, ok := d.stores[agent]
	if !ok {
		return nil, nil
	}
	db, err := d.openDB(p)
	if err != nil {
		return nil, err
	}
	s := &blobShelf{db: db, seed: maphash.MakeSeed(), file: p.Path, table: sdkdoc.Checkpoint.Table()}
	s.out = sdksession.Shelf{Blobs: s, All: s.all, At: s.at, Close: s.close}
	if err := s.read(ctx, d, p); err != nil {
		return nil, errors.Join(err, s.close())
	}
	slices.SortStableFunc(s.list, func(a, b mark) int { return cmp.Compare(a.name, b.name) })
	s.out.Count = int64(len(s.list))
	return &s.out, nil
}

func (s *blobShelf) close() (err error) {
	if s.large != nil {
		err = s.large.Close()
	}
	return errors.Join(err, s.db.Close())
}

func (s *blobShelf) read(ctx context.Context, d *decoder, p sqlitestore.File) error {
	design, taken := designOf(s.db), map[string]bool{}
	if t, ok := design.table(sdkdoc.Checkpoint.Table()); ok {
		s.table = t.Name
		c := pair(sdkdoc.Checkpoint, t)
		if c.of[sdkdoc.BlobID] >= 0 && c.of[sdkdoc.BlobData] >= 0 {
			taken[t.Name] = true
			if err := s.blobs(ctx, d, t, c, size(p.Name) > smallShelf); err != nil {
				return err
			}
		}
	}
	if t, ok := design.table(metaTable); ok {
		taken[t.Name] = true
		for b, err := range s.db.Scan(ctx, 0, t) {
			if err != nil {
				return err
			}
			for i := range b.Rows() {
				s.meta(d, b, i, t)
			}
			b.Release()
		}
	}
	sum, err := d.strangers(s.db, p, taken)
	s.out.Account.Add(sum)
	return err
}

// size is that of a database with its log: no less than what is in it.
func size(name string) (n int64) {
	for _, end := range []string{"", "-wal"} {
		if info, err := os.Stat(name + end); err == nil {
			n += info.Size()
		}
	}
	return n
}

// blobs takes in the table of blobs: whole, or only the names.
func (s *blobShelf) blobs(ctx context.Context, d *decoder, t sqlitefile.Table, c columns, large bool) (err error) {
	for col, of := range c.at {
		if of < 0 {
			d.note(loss.Loss{Code: loss.ColumnForeign, At: store.Addr{File: s.file, Set: t.Name}, Args: []string{strconv.QuoteToASCII(t.Columns[col])}})
		}
	}
	key, data := c.of[sdkdoc.BlobID], c.of[sdkdoc.BlobData]
	if large {
		if s.large, err = s.db.Lookup(ctx, t.Name, t.Columns[key], t.Columns[data]); err != nil {
			return err
		}
	}
	two := sqlitefile.Table{Name: t.Name, Columns: []string{t.Columns[key], t.Columns[data]}, RowIDs: t.RowIDs}
	if large {
		two.Columns = two.Columns[:1]
	}
	for b, err := range s.db.Scan(ctx, 0, two) {
		if err != nil {
			return err
		}
		for i := range b.Rows() {
			at := store.Addr{File: s.file, Set: t.Name, RowID: b.RowID(i), HasID: t.RowIDs}
			if large {
				s.name(d, at, b.Cell(i, 0))
			} else {
				s.blob(d, at, b.Cell(i, 0), b.Cell(i, 1))
			}
		}
		b.Release()
	}
	return nil
}

// blob takes in a row.
func (s *blobShelf) blob(d *decoder, at store.Addr, key, data store.Cell) {
	id, ok := s.id(d, at, key)
	switch {
	case !ok:
	case data.Class == store.Null: // deleted
		s.out.Account.Add(session.Account{Read: 1, Converted: 1, Members: 1, MembersConverted: 1})
	default:
		s.out.Account.Add(session.Account{Members: 2, MembersConverted: 2})
		s.list = append(s.list, mark{id.Hash(s.seed), int64(len(s.held)), at.RowID, uint32(len(data.Bytes()))})
		s.held = append(append(s.held, id[:]...), data.Bytes()...)
	}
}

// name takes in the name of a row. One that is spelled as the SDK does not
// spell it has to be asked for so.
func (s *blobShelf) name(d *decoder, at store.Addr, key store.Cell) {
	id, ok := s.id(d, at, key)
	if !ok {
		return
	}
	s.out.Account.Add(session.Account{Members: 2, MembersConverted: 2})
	s.list = append(s.list, mark{id.Hash(s.seed), int64(len(s.list)), at.RowID, 0})
	if text := string(key.Bytes()); text != id.String() && len(s.upper) < mostUpper {
		if s.upper == nil {
			s.upper = map[agentstate.ID]string{}
		}
		s.upper[id] = text
	}
}

// mostUpper bounds how many names in upper case are remembered.
const mostUpper = 1 << 16

func (s *blobShelf) id(d *decoder, at store.Addr, key store.Cell) (agentstate.ID, bool) {
	id, ok := agentstate.ParseID(string(key.Bytes()))
	if !ok {
		s.out.Account.Add(session.Account{Read: 1, CarriedRaw: 1})
		d.note(loss.Loss{Code: loss.BlobMisnamed, At: at})
	}
	return id, ok
}

// find is the place of the first mark that may be the blob's.
func (s *blobShelf) find(id agentstate.ID) (i int, there bool) {
	return slices.BinarySearchFunc(s.list, id.Hash(s.seed), func(m mark, name uint64) int { return cmp.Compare(m.name, name) })
}

// Blob reads a blob.
func (s *blobShelf) Blob(ctx context.Context, id agentstate.ID) ([]byte, error) {
	i, there := s.find(id)
	if !there || ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if s.large != nil {
		return s.ask(ctx, id)
	}
	for key := id.Hash(s.seed); i < len(s.list) && s.list[i].name == key; i++ {
		m := s.list[i]
		if b := s.held[m.offset:]; agentstate.ID(b[:nameLen]) == id {
			return b[nameLen : nameLen+m.len : nameLen+m.len], nil
		}
	}
	return nil, nil
}

// ask looks a blob up.
func (s *blobShelf) ask(ctx context.Context, id agentstate.ID) ([]byte, error) {
	for _, key := range []string{id.String(), s.upper[id]} {
		if key == "" {
			continue
		}
		c, ok, err := s.large.Get(ctx, key)
		switch {
		case err != nil:
			return nil, err
		case ok && c.Class != store.Text && c.Class != store.Blob: // deleted
			return nil, nil
		case ok && c.Bytes() == nil:
			return []byte{}, nil
		case ok:
			return c.Bytes(), nil
		}
	}
	return nil, nil
}

func (s *blobShelf) at(id agentstate.ID) store.Addr {
	a := store.Addr{File: s.file, Set: s.table, Key: store.TextCell([]byte(id.String()[:16]))}
	if i, there := s.find(id); there {
		a.RowID, a.HasID = s.list[i].row, true
	}
	return a
}

// all yields the names of all blobs in the order of their rows.
func (s *blobShelf) all(yield func(agentstate.ID, error) bool) {
	var ids []agentstate.ID // held: whoever asks for names looks blobs up meanwhile
	if s.large != nil {
		for k, err := range s.large.Keys(context.Background()) {
			if err != nil {
				yield(agentstate.ID{}, err)
				return
			}
			if id, ok := agentstate.ParseID(k.Text); ok {
				ids = append(ids, id)
			}
		}
	} else {
		order := slices.Clone(s.list)
		slices.SortFunc(order, func(a, b mark) int { return cmp.Compare(a.offset, b.offset) })
		for _, m := range order {
			ids = append(ids, agentstate.ID(s.held[m.offset:m.offset+nameLen]))
		}
	}
	for _, id := range ids {
		if !yield(id, nil) {
			return
		}
	}
}

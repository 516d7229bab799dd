package sdkstore

import (
	"cmp"
	"encoding/binary"
	"errors"
	"slices"

	"rehome/formats/internal/sdkdoc"
	"rehome/formats/internal/storedb"
	"rehome/formats/store"
)

// agentStoreBuilder makes one database an agent. Their lines come in any order, and
// there may be thousands of agents: the rows of all but the first wait in a file, and
// are put in their place agent by agent at the end.
type agentStoreBuilder struct {
	*builder
	bins  map[string]*bin
	order []*bin
	runs  []run // by bin, as the lines came
	rows  Spool
	work  []byte
	last  *bin             // the only one that holds rows
	made  map[string]int64 // when the agents of the catalog were made
}

// bin is the rows of one agent.
type bin struct {
	*base
	*filler
	number int
	rows   []extent // in the spool
	db     store.Writer
	async  *storedb.AsyncPut // of db, nil where there is but one worker
}

type extent struct {
	from int64
	size int
}

// of is the table of an agent's blobs. What the agent before it has waits in the
// file from then on, so that no more is held however many agents there are.
func (s *agentStoreBuilder) of(agent string) (*filler, error) {
	if s.last != nil && s.last.base.agent == agent {
		return s.last.filler, nil
	}
	if s.last != nil {
		if err := s.last.flush(); err != nil {
			return nil, err
		}
	}
	b := s.bins[agent]
	if b == nil {
		b = &bin{base: s.plan.agentStore(agent), number: len(s.order)}
		b.filler = newFiller(sdkdoc.Checkpoint, b.base, setOf(b.design, sdkdoc.Checkpoint.Table()), nil)
		if b.put = func(batch *store.Batch) error { return s.spool(b, batch) }; len(s.order) == 0 {
			if err := s.open(b); err != nil {
				return nil, err
			}
		}
		if s.bins == nil {
			s.bins = map[string]*bin{}
		}
		s.bins[agent] = b
		s.order = append(s.order, b)
	}
	s.last = b
	return b.filler, nil
}

// counted notes that a line became a row of the last bin.
func (s *agentStoreBuilder) counted() {
	if n := len(s.runs); n > 0 && s.runs[n-1].group == s.last.number {
		s.runs[n-1].lines++
		return
	}
	s.runs = append(s.runs, run{s.last.number, 1})
}

// spool lets rows wait.
func (s *agentStoreBuilder) spool(b *bin, batch *store.Batch) error {
	defer batch.Release()
	s.work = s.work[:0]
	for i := range batch.Rows() {
		s.work = binary.LittleEndian.AppendUint64(s.work, uint64(batch.RowID(i)))
		for col := range batch.Width() {
			s.work = appendCell(s.work, batch.Cell(i, col))
		}
	}
	from, err := s.rows.Add(s.work)
	b.rows = append(b.rows, extent{from, len(s.work)})
	return err
}

// finish makes the databases, and tells the order of the lines if it is not
// the one in which they will be read.
func (s *agentStoreBuilder) finish() error {
	if s.last != nil {
		if err := s.last.flush(); err != nil {
			return err
		}
	}
	for _, b := range s.plan.bases {
		if b.agent != "" && b.told && s.bins[b.agent] == nil {
			if _, err := s.of(b.agent); err != nil {
				return err
			}
		}
	}
	places := s.natural()
	s.tellOrder(places)
	byPlace := slices.Clone(s.order)
	slices.SortFunc(byPlace, func(a, b *bin) int { return places[a.number] - places[b.number] })
	for _, b := range byPlace {
		if err := s.build(b); err != nil {
			return err
		}
	}
	return s.close()
}

// natural is the order in which the stores of agents will be read, by number of the bin:
// the catalog's agents first, the others by path.
func (s *agentStoreBuilder) natural() []int {
	catalog := map[string]int{}
	for i, a := range s.agents {
		if _, there := catalog[a.id]; !there {
			catalog[a.id] = i
		}
	}
	sorted := slices.Clone(s.order)
	slices.SortFunc(sorted, func(a, b *bin) int {
		i, known := catalog[a.agent]
		j, also := catalog[b.agent]
		switch {
		case known && also:
			return i - j
		case known:
			return -1
		case also:
			return 1
		}
		return cmp.Compare(a.path, b.path)
	})
	places := make([]int, len(sorted))
	for i, b := range sorted {
		places[b.number] = i
	}
	return places
}

func (s *agentStoreBuilder) tellOrder(places []int) {
	straight := true
	var text []byte
	for i, r := range s.runs {
		straight = straight && (i == 0 || places[s.runs[i-1].group] < places[r.group])
		text = appendRun(text, run{places[r.group], r.lines})
	}
	if !straight {
		s.keep(store.SidecarItem{At: store.Addr{File: sdkdoc.Checkpoint.File(), Set: orderSet}, Row: []store.Cell{store.TextCell(text)}})
	}
}

// build makes one database.
func (s *agentStoreBuilder) build(b *bin) (err error) {
	defer func() { err = errors.Join(err, b.shut()) }()
	if b.db == nil {
		if err := s.open(b); err != nil {
			return err
		}
	}
	for _, e := range b.rows {
		if err := s.unspool(b, e); err != nil {
			return err
		}
	}
	if err := b.flush(); err != nil {
		return err
	}
	if t, ok := b.design.Table(MetaTable); ok && len(t.Columns) == 2 && len(b.base.rows[t.Name]) == 0 && !b.bare[t.Name] {
		batch := store.NewBatch(setOf(b.design, t.Name), 2)
		batch.Row(1)
		for _, c := range metaRow(b.agent, s.created(b.agent)) {
			batch.Add(c)
		}
		if err := b.put(batch); err != nil {
			return err
		}
	}
	if err := s.rest(b.base, b.put); err != nil {
		return err
	}
	if b.async != nil {
		if err := b.async.End(); err != nil {
			return err
		}
	}
	return b.db.Finish(s.ctx)
}

// open begins the database of a bin, which takes its rows from now on.
func (s *agentStoreBuilder) open(b *bin) error {
	db, err := s.database(b.base)
	if err != nil {
		return err
	}
	ctx := s.ctx
	b.db, b.put = db, func(batch *store.Batch) error { return db.Put(ctx, batch) }
	if s.Jobs != 1 {
		b.async = storedb.NewAsyncPut(b.put)
		b.put = b.async.Put
	}
	return nil
}

// shut lets go of the database of a bin, finished or not.
func (b *bin) shut() (err error) {
	if b.async != nil {
		b.async.End() // its error was told when it happened
	}
	if b.db != nil {
		err = b.db.Close()
	}
	b.db, b.async = nil, nil
	return err
}

func (s *agentStoreBuilder) created(id string) int64 {
	if s.made == nil {
		s.made = map[string]int64{}
		for _, a := range s.agents {
			if _, there := s.made[a.id]; !there {
				s.made[a.id] = a.created
			}
		}
	}
	return s.made[id]
}

// unspool takes rows out of the spool again.
func (s *agentStoreBuilder) unspool(b *bin, e extent) error {
	if err := s.ctx.Err(); err != nil {
		return err
	}
	rows, err := s.rows.Read(e.from, e.size)
	if err != nil {
		return err
	}
	for len(rows) > 0 {
		b.begin(int64(binary.LittleEndian.Uint64(rows)))
		rows = rows[8:]
		for range b.table.Columns {
			class, bits := store.Class(rows[0]), binary.LittleEndian.Uint64(rows[1:])
			rows = rows[9:]
			if class != store.Text && class != store.Blob {
				b.batch.Add(store.BitsCell(class, bits))
				continue
			}
			b.batch.AddBytes(class, rows[:bits])
			rows = rows[bits:]
		}
		if b.batch.Full() {
			if err := b.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// close lets go of the rows.
func (s *agentStoreBuilder) close() error {
	err := s.rows.Close()
	for _, b := range s.order {
		b.drop()
		err = errors.Join(err, b.shut())
	}
	return err
}

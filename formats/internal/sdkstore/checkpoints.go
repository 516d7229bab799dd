package sdkstore

import (
	"errors"
	"slices"
	"strings"

	"rehome/formats/internal/sdkdoc"
	"rehome/formats/internal/storedb"
	"rehome/formats/loss"
	"rehome/formats/store"
)

// agentStore is the checkpoints of one agent: a database, and whose it is.
type agentStore struct {
	path string
	agent
	known bool // the catalog has the agent
}

// checkpoints makes lines of all blobs, agent by agent in the order of the
// catalog, then those of agents it lacks by path.
func (s *docScan) checkpoints() (err error) {
	agentStores, err := s.agentStores()
	if err != nil {
		return err
	}
	s.lines.start(s, int(sdkdoc.Checkpoint), s.back.wholes[sdkdoc.Checkpoint])
	out := sink(&s.lines)
	var shuffled *shuffle
	if runs := s.back.runs(len(agentStores)); runs != nil {
		shuffled = newShuffle(s, runs)
		defer func() { err = errors.Join(err, shuffled.lines.Close()) }()
		out = shuffled
	} else if s.back.order != nil {
		s.note(loss.Loss{Code: loss.StaleOrder, At: s.back.order.At})
	}
	for i := range agentStores {
		if shuffled != nil {
			shuffled.group = i
		}
		if err := s.agentStore(&agentStores[i], out); err != nil {
			return err
		}
	}
	if shuffled != nil {
		if err := shuffled.deal(); err != nil {
			return err
		}
	}
	return s.lines.finish()
}

// agentStores finds out whose each database is, and puts them in order: those of
// the catalog's agents in its order, then the others by path.
func (s *docScan) agentStores() (out []agentStore, err error) {
	place := map[string]int{} // of the first agent of an id
	var ids []string
	for i, a := range s.agents {
		id := strings.ToValidUTF8(a.id, "\ufffd")
		if _, twice := place[id]; !twice {
			place[id] = i
			ids = append(ids, id)
		}
	}
	owners, err := OwnersOf(ids, s.Stores, s.askMeta)
	if err != nil {
		return nil, err
	}
	for _, o := range owners {
		sh := agentStore{o.Path, agent{id: o.Agent}, false}
		var at int
		if at, sh.known = place[o.Agent]; sh.known {
			sh.created = s.agents[at].created
		}
		if note := (store.Addr{File: o.Path}); !o.ByFolder {
			if o.Named {
				s.note(loss.Loss{Code: loss.AgentAdded, At: note})
			}
			if !sh.known {
				s.note(loss.Loss{Code: loss.AgentUnlisted, At: note})
			}
			if o.Path != s.Root+StorePath(o.Agent) {
				s.note(loss.Loss{Code: loss.FolderMisnamed, At: note})
			}
		}
		out = append(out, sh)
	}
	slices.SortStableFunc(out, func(a, b agentStore) int {
		switch {
		case a.known && b.known:
			return place[a.id] - place[b.id]
		case a.known:
			return -1
		case b.known:
			return 1
		}
		return 0
	})
	return out, nil
}

// askMeta reads the name in a database's meta table.
func (s *docScan) askMeta(p string) (id string, err error) {
	db, err := s.Open(s.ctx, p)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	t, ok := DesignOf(db).Table(MetaTable)
	if !ok || !slices.Equal(t.Columns, []string{"key", "value"}) {
		return "", nil
	}
	err = store.EachRow(db.Scan(s.ctx, 0, t), func(b *store.Batch, i int) error {
		if id == "" && string(b.Cell(i, 0).Bytes()) == storedb.MetaKey {
			id = MetaAgent(b.Cell(i, 1).Bytes())
		}
		return nil
	})
	return id, err
}

// agentStore makes lines of one agent's blobs.
func (s *docScan) agentStore(sh *agentStore, out sink) (err error) {
	db, err := s.Open(s.ctx, sh.path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	is, usual := DesignOf(db), storeDesign()
	lines := 0
	if t, ok := is.Table(sdkdoc.Checkpoint.Table()); ok {
		m := &maker{docScan: s, file: sh.path, table: t, Columns: Pair(sdkdoc.Checkpoint, t), odd: !is.equal(usual), id: sh.id, sink: out}
		if err := store.EachRow(db.Scan(s.ctx, int(sdkdoc.Checkpoint), t), m.record); err != nil {
			return err
		}
		lines = m.made
	}
	s.leftDesign(sh.path, lines > 0 && sh.path == s.Root+StorePath(sh.id), is, usual, store.TextCell([]byte(sh.id)))
	if err := s.leftMeta(db, sh, is); err != nil {
		return err
	}
	return s.strangers(db, sh.path, is, usual)
}

// leftMeta tells the rows of the meta table, unless they are what a writer
// makes of the agent anyway.
func (s *docScan) leftMeta(db Database, sh *agentStore, is *Design) error {
	t, ok := is.Table(MetaTable)
	if !ok || s.view.OnLeftover == nil {
		return nil
	}
	usual, n := metaRow(sh.id, sh.created), 0
	var one bool
	if err := store.EachRow(db.Scan(s.ctx, 0, t), func(b *store.Batch, i int) error {
		if n++; n == 1 && b.RowID(i) == 1 && b.Width() == 2 {
			one = b.Cell(i, 0).Equal(usual[0]) && b.Cell(i, 1).Equal(usual[1])
		}
		return nil
	}); err != nil {
		return err
	}
	switch {
	case n == 1 && one:
		return nil
	case n == 0:
		s.view.OnLeftover(store.SidecarItem{At: store.Addr{File: sh.path, Set: t.Name}, Row: []store.Cell{store.NullCell()}})
		return nil
	}
	return s.leftTable(db, sh.path, t)
}

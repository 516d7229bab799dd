package cursorsdk

import (
	"errors"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"rehome/formats/internal/sdkdoc"
	"rehome/formats/internal/sqlitefile"
	"rehome/formats/internal/sqlitestore"
	"rehome/formats/internal/storedb"
	"rehome/formats/loss"
	"rehome/formats/store"
)

// shelf is the checkpoints of one agent: a database, and whose it is.
type shelf struct {
	sqlitestore.File
	agent
	known bool // the catalog has the agent
}

// checkpoints makes lines of all blobs, agent by agent in the order of the
// catalog, then those of agents it lacks by path.
func (s *docScan) checkpoints() (err error) {
	shelves, err := s.shelves()
	if err != nil {
		return err
	}
	s.lines.start(s, int(sdkdoc.Checkpoint), s.back.wholes[sdkdoc.Checkpoint])
	out := sink(&s.lines)
	var shuffled *shuffle
	if runs := s.back.runs(len(shelves)); runs != nil {
		shuffled = newShuffle(s, runs)
		defer func() { err = errors.Join(err, shuffled.lines.close()) }()
		out = shuffled
	} else if s.back.order != nil {
		s.note(loss.Loss{Code: loss.StaleOrder, At: s.back.order.At})
	}
	for i := range shelves {
		if shuffled != nil {
			shuffled.shelf = i
		}
		if err := s.shelf(&shelves[i], out); err != nil {
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

// shelves finds out whose each database is.
func (s *docScan) shelves() ([]shelf, error) {
	byPath := map[string]int{}
	for i, p := range s.stores {
		byPath[p.Path] = i
	}
	var known, rest []shelf
	ids, taken := map[string]agent{}, map[string]bool{}
	claimed := make([]bool, len(s.stores))
	for _, a := range s.agents {
		a.id = strings.ToValidUTF8(a.id, "\ufffd")
		if _, twice := ids[a.id]; twice {
			continue
		}
		ids[a.id] = a
		for _, dir := range []string{storePath(a.id), "agents/" + idHash(a.id) + "/" + storeName} {
			if i, there := byPath[s.root+dir]; there && !claimed[i] {
				claimed[i], taken[a.id] = true, true
				known = append(known, shelf{s.stores[i], a, true})
				break
			}
		}
	}
	for i, p := range s.stores {
		if claimed[i] {
			continue
		}
		id, err := s.askMeta(p)
		if err != nil {
			return nil, err
		}
		sh := s.stranger(p, id, ids, taken)
		rest = append(rest, sh)
	}
	// A database under a strange name may yet be that of an agent.
	known = append(known, slices.DeleteFunc(slices.Clone(rest), func(sh shelf) bool { return !sh.known })...)
	place := map[string]int{}
	for i, a := range s.agents {
		place[strings.ToValidUTF8(a.id, "\ufffd")] = i
	}
	slices.SortStableFunc(known, func(a, b shelf) int { return place[a.id] - place[b.id] })
	return append(known, slices.DeleteFunc(rest, func(sh shelf) bool { return sh.known })...), nil
}

// stranger names the owner of a database that lies in no agent's folder: the
// one that it names itself, or else one named like the folder.
func (s *docScan) stranger(p sqlitestore.File, id string, ids map[string]agent, taken map[string]bool) shelf {
	at := store.Addr{File: p.Path}
	if id == "" || taken[id] || !utf8.ValidString(id) {
		id = path.Base(path.Dir(p.Path))
		for _, there := ids[id]; there || taken[id]; _, there = ids[id] {
			id += "'"
		}
		s.note(loss.Loss{Code: loss.AgentAdded, At: at})
	}
	taken[id] = true
	a, known := ids[id]
	if !known {
		a = agent{id: id}
		s.note(loss.Loss{Code: loss.AgentUnlisted, At: at})
	}
	if p.Path != s.root+storePath(id) {
		s.note(loss.Loss{Code: loss.FolderMisnamed, At: at})
	}
	return shelf{p, a, known}
}

// askMeta reads the name in a database's meta table.
func (s *docScan) askMeta(p sqlitestore.File) (id string, err error) {
	db, err := s.openDB(s.ctx, p)
	if err != nil {
		return "", err
	}
	defer func() {
		if e := db.Close(); err == nil {
			err = e
		}
	}()
	t, ok := designOf(db).table(metaTable)
	if !ok || !slices.Equal(t.Columns, []string{"key", "value"}) {
		return "", nil
	}
	for b, err := range db.Scan(s.ctx, 0, t) {
		if err != nil {
			return "", err
		}
		for i := range b.Rows() {
			if id == "" && string(b.Cell(i, 0).Bytes()) == storedb.MetaKey {
				id = metaAgent(b.Cell(i, 1).Bytes())
			}
		}
		b.Release()
	}
	return id, nil
}

// shelf makes lines of one agent's blobs.
func (s *docScan) shelf(sh *shelf, out sink) (err error) {
	db, err := s.openDB(s.ctx, sh.File)
	if err != nil {
		return err
	}
	defer func() {
		if e := db.Close(); err == nil {
			err = e
		}
	}()
	is, usual := designOf(db), storeDesign()
	lines := 0
	if t, ok := is.table(sdkdoc.Checkpoint.Table()); ok {
		m := &maker{docScan: s, file: sh.Path, table: t, columns: pair(sdkdoc.Checkpoint, t), odd: !is.equal(usual), id: sh.id, sink: out}
		for b, err := range db.Scan(s.ctx, int(sdkdoc.Checkpoint), t) {
			if err != nil {
				return err
			}
			err = m.batch(b)
			b.Release()
			if err != nil {
				return err
			}
		}
		lines = m.made
	}
	s.leftDesign(sh.Path, lines > 0 && sh.Path == s.root+storePath(sh.id), is, usual, store.TextCell([]byte(sh.id)))
	if err := s.leftMeta(db, sh, is); err != nil {
		return err
	}
	return s.strangers(db, sh.Path, is, usual)
}

// leftMeta tells the rows of the meta table, unless they are what a writer
// makes of the agent anyway.
func (s *docScan) leftMeta(db *sqlitefile.DB, sh *shelf, is *design) error {
	t, ok := is.table(metaTable)
	if !ok || s.view.OnLeftover == nil {
		return nil
	}
	usual, n := metaRow(sh.id, sh.created), 0
	var one bool
	for b, err := range db.Scan(s.ctx, 0, t) {
		if err != nil {
			return err
		}
		if n += b.Rows(); n == 1 && b.Rows() == 1 && b.RowID(0) == 1 && b.Width() == 2 {
			one = same(b.Cell(0, 0), usual[0]) && same(b.Cell(0, 1), usual[1])
		}
		b.Release()
	}
	switch {
	case n == 1 && one:
		return nil
	case n == 0:
		s.view.OnLeftover(store.SidecarItem{At: store.Addr{File: sh.Path, Set: t.Name}, Row: []store.Cell{store.NullCell()}})
		return nil
	}
	return s.leftTable(db, sh.Path, t)
}

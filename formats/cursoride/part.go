package cursoride

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"

	"rehome/formats"
	"rehome/formats/internal/sqlitefile"
	"rehome/formats/internal/sqlitestore"
	"rehome/formats/loss"
	"rehome/formats/store"
)

// parter finds what belongs to some sessions.
func parter(known *sqlitefile.Known) func(context.Context, *formats.Location, formats.View) (*sqlitestore.Part, error) {
	return func(ctx context.Context, l *formats.Location, v formats.View) (*sqlitestore.Part, error) {
		quiet := v
		quiet.OnNotice, quiet.OnLoss = func(string) {}, func(loss.Loss) {}
		p, err := survey(ctx, l, quiet, known)
		if err != nil {
			return nil, err
		}
		m := &marks{index: newIndex(p, quiet.OnLoss), note: v.OnLoss, say: v.OnNotice, single: !l.IsDir(),
			ids: map[string]bool{}, spaces: map[string]bool{}, rows: map[tableKey][]int64{}, cuts: map[itemKey][]byte{}, hashes: map[tableKey]bool{}, names: map[string]bool{}}
		if m.note == nil {
			m.note = quiet.OnLoss
		}
		if m.say == nil {
			m.say = quiet.OnNotice
		}
		err = m.all(ctx, v.Sessions)
		if err = errors.Join(err, p.close()); err != nil {
			return nil, err
		}
		return &sqlitestore.Part{File: m.file, Row: m.row, Rows: m.wanted, Cut: m.cut}, nil
	}
}

// marks are what of a store some sessions own, and what that refers to. Only
// these rows are read: they are found by their keys, by ranges of keys, and by
// the references of what was found.
type marks struct {
	*index
	note   loss.Sink // of who reads the part
	say    func(string)
	single bool // the store is one file, whose path inside it is ""

	ids    map[string]bool // of sessions
	spaces map[string]bool // ids of workspaces
	rows   map[tableKey][]int64
	cuts   map[itemKey][]byte
	hashes map[tableKey]bool // of blobs and contents, in hexadecimal, by database
	names  map[string]bool   // of pictures
	todo   []string          // hashes whose blobs have not been looked into
}

// tableKey is a table of a database, or a hash in one.
type tableKey struct{ file, name string }

func (m *marks) take(file, table string, id int64) {
	k := tableKey{file, table}
	m.rows[k] = append(m.rows[k], id)
}

// all marks sessions, and those that they started.
func (m *marks) all(ctx context.Context, ids []string) error {
	if err := m.read(ctx); err != nil {
		return err
	}
	for len(ids) > 0 {
		id := ids[len(ids)-1]
		ids = ids[:len(ids)-1]
		e := m.byID[id]
		if e == nil || m.ids[id] {
			continue
		}
		m.ids[id] = true
		c, err := m.prepare(ctx, e, func(loss.Loss) {})
		if err != nil {
			return err
		}
		for _, kid := range c.out.Children {
			ids = append(ids, kid.Session)
		}
		if err := m.session(ctx, c); err != nil {
			return err
		}
	}
	if err := m.lists(ctx); err != nil {
		return err
	}
	for k, list := range m.rows {
		slices.Sort(list)
		m.rows[k] = slices.Compact(list)
	}
	return nil
}

// session marks one session's rows, and follows what they name.
func (m *marks) session(ctx context.Context, c *chat) error {
	if c.space != "" {
		m.spaces[c.space] = true
	}
	for _, at := range c.heads {
		if s := at.page.space; s != nil {
			m.spaces[s.id] = true
		}
	}
	if m.mine && c.shelf != nil && c.shelf == m.global {
		m.say(c.id + ": its bubbles are in the user dir's global database, which is not part of a workspace folder")
	}
	if g := m.global; g != nil && g.heads != nil {
		f, ok, err := g.heads.Get(ctx, c.id, 0)
		if err != nil {
			return err
		}
		if ok {
			m.take(g.file, headTable, f.RowID)
		}
	}
	if c.shelf == nil || c.shelf.disk == nil {
		return nil
	}
	for _, family := range owned {
		if err := m.own(ctx, c.shelf, family+c.id); err != nil {
			return err
		}
	}
	return m.follow(ctx, c.shelf)
}

// own marks the row of a key, and those of all that go on behind a colon.
func (m *marks) own(ctx context.Context, s *shelf, key string) error {
	keys := []string{key}
	if err := s.family(ctx, key+":", func(rest string) bool {
		keys = append(keys, key+":"+rest)
		return true
	}); err != nil {
		return err
	}
	for _, key := range keys {
		f, ok, err := s.disk.Get(ctx, key, mostValue)
		if err != nil {
			return err
		}
		switch {
		case ok:
			m.take(s.file, diskTable, f.RowID)
			m.look(s, f.Bytes)
		case key != keys[0]: // the first was not listed
			m.note(loss.Loss{Code: loss.KeyUnusable, At: s.addr(diskTable, key, 0)})
		}
	}
	return nil
}

// lists marks what the lists say of the sessions.
func (m *marks) lists(ctx context.Context) error {
	if err := m.tables(ctx, nil, m.global); err != nil {
		return err
	}
	for _, s := range m.index.spaces {
		if s.file == "" || !m.spaces[s.id] && s != m.only {
			continue
		}
		shelf, err := m.shelf(ctx, s)
		if err == nil {
			err = m.tables(ctx, s, shelf)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// file reports whether a file is part of it: the global database, what is a
// workspace's of one of the sessions, pictures that they name.
func (m *marks) file(at string) bool {
	rest, inside := strings.CutPrefix(at, spacesName+"/")
	if !inside {
		return path.Base(path.Dir(at)) != "images" || m.names[path.Base(at)]
	}
	id, rest, _ := strings.Cut(rest, "/")
	return m.spaces[id] && (!strings.HasPrefix(rest, "images/") || m.names[path.Base(rest)])
}

// table is a table's place among the marks.
func (m *marks) table(set *store.Set) tableKey {
	file := set.File
	if m.single && m.only != nil {
		file = m.only.file
	} else if m.single && m.global != nil {
		file = m.global.file
	}
	return tableKey{file, set.Name}
}

// wanted are the row ids of a table.
func (m *marks) wanted(set *store.Set) ([]int64, bool) { return m.rows[m.table(set)], true }

// row reports whether a row of a table without row ids is part of it: no client
// has ever made one.
func (m *marks) row(*store.Set, *store.Batch, int) bool { return false }

// cut is what a list has of the sessions.
func (m *marks) cut(set *store.Set, b *store.Batch, i, column int) ([]byte, bool) {
	if set.Name != itemTable || set.Columns[column] != "value" || len(m.cuts) == 0 {
		return nil, false
	}
	key := slices.Index(set.Columns, "key")
	if key < 0 {
		return nil, false
	}
	value, ok := m.cuts[itemKey{m.table(set).file, string(b.Cell(i, key).Bytes())}]
	return value, ok
}

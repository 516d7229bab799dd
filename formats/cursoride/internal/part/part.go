// Package part finds the rows and files of a Cursor IDE store that belong to some
// of its sessions.
package part

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"

	"rehome/formats"
	"rehome/formats/cursoride/internal/lists"
	"rehome/formats/cursoride/internal/read"
	"rehome/formats/internal/members"
	"rehome/formats/internal/sqlitefile"
	"rehome/formats/internal/sqlitestore"
	"rehome/formats/loss"
	"rehome/formats/store"
)

// Finder returns the function that finds what belongs to the sessions of a View.
func Finder(known *sqlitefile.Known) func(context.Context, *formats.Location, formats.View) (*sqlitestore.Part, error) {
	return func(ctx context.Context, l *formats.Location, v formats.View) (*sqlitestore.Part, error) {
		quiet := v
		quiet.OnNotice, quiet.OnLoss = func(string) {}, func(loss.Loss) {}
		p, err := lists.Open(ctx, l, quiet, known)
		if err != nil {
			return nil, err
		}
		m := &marks{Reader: read.New(p, quiet.OnLoss), note: v.OnLoss, say: v.OnNotice, single: !l.IsDir(),
			ids: map[string]bool{}, spaces: map[string]bool{}, rows: map[tableKey][]int64{}, cuts: map[itemKey][]byte{}, hashes: map[tableKey]bool{}, names: map[string]bool{}}
		if m.note == nil {
			m.note = quiet.OnLoss
		}
		if m.say == nil {
			m.say = quiet.OnNotice
		}
		err = m.all(ctx, v.Sessions)
		if err = errors.Join(err, p.Close()); err != nil {
			return nil, err
		}
		return &sqlitestore.Part{File: m.file, Row: m.row, Rows: m.wanted, Cut: m.cut}, nil
	}
}

// marks are what of a store some sessions own, and what that refers to. Only
// these rows are read: they are found by their keys, by ranges of keys, and by
// the references of what was found.
type marks struct {
	*read.Reader
	f      members.Object
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
	if err := m.Reader.Read(ctx); err != nil {
		return err
	}
	for len(ids) > 0 {
		id := ids[len(ids)-1]
		ids = ids[:len(ids)-1]
		e := m.ByID[id]
		if e == nil || m.ids[id] {
			continue
		}
		m.ids[id] = true
		c, err := m.Prepare(ctx, e, func(loss.Loss) {})
		if err != nil {
			return err
		}
		for _, kid := range c.Out.Children {
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
func (m *marks) session(ctx context.Context, c *read.Chat) error {
	if c.Workspace != "" {
		m.spaces[c.Workspace] = true
	}
	for _, at := range c.Heads {
		if s := at.Page.Workspace; s != nil {
			m.spaces[s.ID] = true
		}
	}
	if m.Mine && c.Database != nil && c.Database == m.Global {
		m.say(c.ID + ": its bubbles are in the user dir's global database, which is not part of a workspace folder")
	}
	if g := m.Global; g != nil && g.Heads != nil {
		f, ok, err := g.Heads.Get(ctx, c.ID, 0)
		if err != nil {
			return err
		}
		if ok {
			m.take(g.File, lists.HeadTable, f.RowID)
		}
	}
	if c.Database == nil || c.Database.Disk == nil {
		return nil
	}
	for _, f := range lists.Families() {
		if !f.Owned {
			continue
		}
		if err := m.own(ctx, c.Database, f.Prefix+c.ID); err != nil {
			return err
		}
	}
	return m.follow(ctx, c.Database)
}

// own marks the row of a key, and those of all that go on behind a colon.
func (m *marks) own(ctx context.Context, s *lists.Database, key string) error {
	keys := []string{key}
	if err := s.Family(ctx, key+":", func(rest string) bool {
		keys = append(keys, key+":"+rest)
		return true
	}); err != nil {
		return err
	}
	for _, key := range keys {
		f, ok, err := s.Disk.Get(ctx, key, lists.MaxValue)
		if err != nil {
			return err
		}
		switch {
		case ok:
			m.take(s.File, lists.DiskTable, f.RowID)
			m.pictures(f.Bytes)
			lists.EachRef(f.Bytes, func(h string) { m.hash(s, h) })
		case key != keys[0]: // the first was not listed
			m.note.Add(loss.Loss{Code: loss.KeyUnusable, At: s.Addr(lists.DiskTable, key, 0)})
		}
	}
	return nil
}

// lists marks what the lists say of the sessions.
func (m *marks) lists(ctx context.Context) error {
	if err := m.tables(ctx, nil, m.Global); err != nil {
		return err
	}
	for _, s := range m.Reader.Workspaces {
		if s.File == "" || !m.spaces[s.ID] && s != m.Only {
			continue
		}
		db, err := m.Database(ctx, s)
		if err == nil {
			err = m.tables(ctx, s, db)
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
	rest, inside := strings.CutPrefix(at, lists.SpacesName+"/")
	if !inside {
		return path.Base(path.Dir(at)) != "images" || m.names[path.Base(at)]
	}
	id, rest, _ := strings.Cut(rest, "/")
	return m.spaces[id] && (!strings.HasPrefix(rest, "images/") || m.names[path.Base(rest)])
}

// table is a table's place among the marks.
func (m *marks) table(set *store.Set) tableKey {
	file := set.File
	if m.single && m.Only != nil {
		file = m.Only.File
	} else if m.single && m.Global != nil {
		file = m.Global.File
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
	if set.Name != lists.ItemTable || set.Columns[column] != "value" || len(m.cuts) == 0 {
		return nil, false
	}
	key := slices.Index(set.Columns, "key")
	if key < 0 {
		return nil, false
	}
	value, ok := m.cuts[itemKey{m.table(set).file, string(b.Cell(i, key).Bytes())}]
	return value, ok
}

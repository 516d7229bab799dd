package cursoride

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"path"
	"strings"

	"rehome/formats"
	"rehome/formats/internal/sqlitefile"
	"rehome/formats/internal/sqlitestore"
	"rehome/formats/internal/wire"
	"rehome/formats/loss"
	"rehome/formats/store"
)

// parter finds what belongs to some sessions.
func parter(known *sqlitefile.Known) func(context.Context, *formats.Location, formats.View) (*sqlitestore.Part, error) {
	return func(ctx context.Context, l *formats.Location, v formats.View) (*sqlitestore.Part, error) {
		quiet := v
		quiet.Say, quiet.Note = func(string) {}, func(loss.Note) {}
		p, err := survey(ctx, l, quiet, known)
		if err != nil {
			return nil, err
		}
		m := &marks{index: newIndex(p, quiet.Note), ids: map[string]bool{}, spaces: map[string]bool{}, items: map[string]bool{}, hashes: map[string]bool{}, names: map[string]bool{}}
		err = m.all(ctx, v.Sessions)
		if err = errors.Join(err, p.close()); err != nil {
			return nil, err
		}
		return &sqlitestore.Part{File: m.file, Row: m.row}, nil
	}
}

// marks are what of a store some sessions own, and what that refers to. Blobs
// that several sessions share are found by following the references: every
// hash that a record or a blob names, whether or not it means a blob there.
type marks struct {
	*index
	ids    map[string]bool // of sessions
	spaces map[string]bool // ids of workspaces
	items  map[string]bool // rows of ItemTable: file, NUL, key
	hashes map[string]bool // of blobs and contents, in hexadecimal
	names  map[string]bool // of pictures
	todo   []string        // hashes whose blobs have not been looked into
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
		c, err := m.prepare(ctx, e, func(loss.Note) {})
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
	return nil
}

// session marks one session's rows, and follows what they name.
func (m *marks) session(ctx context.Context, c *chat) error {
	if c.agent != nil && !c.spine {
		c.agent.stop()
	}
	if c.space != "" {
		m.spaces[c.space] = true
	}
	for _, at := range c.heads {
		file := globalDB
		if s := at.page.space; s != nil {
			m.spaces[s.id] = true
			file = s.file
		} else if m.global != nil {
			file = m.global.file
		}
		m.items[file+"\x00"+at.page.key] = true
	}
	if c.shelf == nil || c.shelf.disk == nil {
		return nil
	}
	keys := []string{composerRow + c.id, rootRow + c.id}
	for _, family := range append([]string{bubbleRow}, ownedRows[:]...) {
		prefix := family + c.id + ":"
		if err := c.shelf.family(ctx, prefix, func(rest string) bool {
			keys = append(keys, prefix+rest)
			return true
		}); err != nil {
			return err
		}
	}
	for _, key := range keys {
		f, ok, err := c.shelf.disk.Get(ctx, key, mostValue)
		if err != nil {
			return err
		}
		if ok {
			m.look(f.Bytes)
		}
	}
	return m.follow(ctx, c.shelf)
}

// follow looks into blobs that were named until no new one is.
func (m *marks) follow(ctx context.Context, s *shelf) error {
	for len(m.todo) > 0 {
		hash := m.todo[len(m.todo)-1]
		m.todo = m.todo[:len(m.todo)-1]
		f, ok, err := s.disk.Get(ctx, blobRow+hash, mostValue)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		b := f.Bytes
		if plain, err := hex.DecodeString(string(b)); err == nil && f.Class == store.Text {
			b = plain
		}
		m.look(b)
		m.proto(b, 0)
	}
	return nil
}

// hash marks a hash that something names.
func (m *marks) hash(h string) {
	if h = strings.ToLower(h); !m.hashes[h] {
		m.hashes[h] = true
		m.todo = append(m.todo, h)
	}
}

// look finds hashes in hexadecimal, states in base64 and names of pictures in
// any text.
func (m *marks) look(b []byte) {
	run := 0
	for i := 0; i <= len(b); i++ {
		if i < len(b) && isHex(b[i]) {
			run++
			continue
		}
		if run == 64 {
			m.hash(string(b[i-64 : i]))
		}
		run = 0
	}
	for rest := b; ; {
		i := bytes.Index(rest, []byte(`"~`))
		if i < 0 {
			break
		}
		rest = rest[i+2:]
		if text, _, ok := bytes.Cut(rest, []byte{'"'}); ok {
			if root, err := base64.StdEncoding.DecodeString(string(text)); err == nil {
				m.proto(root, 0)
			}
		}
	}
	for rest := b; ; {
		i := bytes.Index(rest, []byte("images"))
		if i < 0 {
			return
		}
		rest = bytes.TrimLeft(rest[i+len("images"):], `\/`)
		if name, _, ok := bytes.Cut(rest, []byte{'"'}); ok && len(name) < 256 {
			m.names[string(name)] = true
		}
	}
}

func isHex(c byte) bool { return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f' }

// proto finds hashes in protobuf: fields of 32 bytes, however deep.
func (m *marks) proto(b []byte, depth int) {
	r := wire.Read(b)
	for r.Next() {
		switch {
		case r.Type != wire.Bytes:
		case len(r.Body) == 32:
			m.hash(hex.EncodeToString(r.Body))
		case depth < 20:
			m.proto(r.Body, depth+1)
		}
	}
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

// row reports whether a row is.
func (m *marks) row(set *store.Set, b *store.Batch, i int) bool {
	column := 0
	for n, name := range set.Columns {
		if name == "key" || name == "composerId" {
			column = n
		}
	}
	key := string(b.Cell(i, column).Bytes())
	switch set.Name {
	case headTable:
		return m.ids[key]
	case itemTable:
		return m.items[set.File+"\x00"+key] || set.File == "" && m.items[dbName+"\x00"+key]
	case diskTable:
		return m.owns(key)
	}
	return false
}

// owns reports whether a key of cursorDiskKV belongs to a marked session.
func (m *marks) owns(key string) bool {
	for _, f := range owned {
		if rest, ok := strings.CutPrefix(key, f); ok {
			id, _, _ := strings.Cut(rest, ":")
			return m.ids[id]
		}
	}
	for _, f := range shared {
		if hash, ok := strings.CutPrefix(key, f.prefix); ok {
			return m.hashes[strings.ToLower(hash)]
		}
	}
	return false
}

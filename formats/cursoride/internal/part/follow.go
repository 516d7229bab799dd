package part

import (
	"bytes"
	"context"

	"rehome/formats/cursoride/internal/lists"
)

// Blobs that several sessions share are found by following the references:
// every hash that a record or a blob names, whether or not it means a blob
// there.

// follow looks into blobs that were named until no new one is.
func (m *marks) follow(ctx context.Context, s *lists.Database) error {
	for len(m.todo) > 0 {
		hash := m.todo[len(m.todo)-1]
		m.todo = m.todo[:len(m.todo)-1]
		if f, ok, err := s.Disk.Get(ctx, lists.ContentRow+hash, 0); err != nil {
			return err
		} else if ok {
			m.take(s.File, lists.DiskTable, f.RowID)
		}
		f, ok, err := s.Disk.Get(ctx, lists.BlobRow+hash, lists.MaxValue)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		m.take(s.File, lists.DiskTable, f.RowID)
		b := lists.BlobBytes(f.Class, f.Bytes)
		m.pictures(b)
		lists.EachBlobRef(b, func(h string) { m.hash(s, h) })
	}
	return nil
}

// hash marks a hash that something names.
func (m *marks) hash(s *lists.Database, h string) {
	if k := (tableKey{s.File, h}); !m.hashes[k] {
		m.hashes[k] = true
		m.todo = append(m.todo, h)
	}
}

// pictures finds the names of pictures in any text.
func (m *marks) pictures(b []byte) {
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

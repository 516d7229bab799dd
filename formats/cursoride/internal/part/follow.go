package part

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"strings"

	"rehome/formats/cursoride/internal/lists"
	"rehome/formats/internal/wire"
	"rehome/formats/store"
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
		b := f.Bytes
		if plain, err := hex.DecodeString(string(b)); err == nil && f.Class == store.Text {
			b = plain
		}
		m.look(s, b)
		m.proto(s, b, 0)
	}
	return nil
}

// hash marks a hash that something names.
func (m *marks) hash(s *lists.Database, h string) {
	for _, h := range [...]string{strings.ToLower(h), h} {
		if k := (tableKey{s.File, h}); !m.hashes[k] {
			m.hashes[k] = true
			m.todo = append(m.todo, h)
		}
	}
}

// look finds hashes in hexadecimal, states in base64 and names of pictures in
// any text.
func (m *marks) look(s *lists.Database, b []byte) {
	run := 0
	for i := 0; i <= len(b); i++ {
		if i < len(b) && isHex(b[i]) {
			run++
			continue
		}
		if run == 64 {
			m.hash(s, string(b[i-64:i]))
		} else if run > 64 && run%2 == 0 { // a state that is spelled so
			if root, err := hex.DecodeString(string(b[i-run : i])); err == nil {
				m.proto(s, root, 0)
			}
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
				m.proto(s, root, 0)
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
func (m *marks) proto(s *lists.Database, b []byte, depth int) {
	r := wire.Read(b)
	for r.Next() {
		switch {
		case r.Type != wire.Bytes:
		case len(r.Body) == 32:
			m.hash(s, hex.EncodeToString(r.Body))
		case depth < 20:
			m.proto(s, r.Body, depth+1)
		}
	}
}

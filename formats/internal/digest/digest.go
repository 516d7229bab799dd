// Package digest is the only door to the hash library: 128 bits of XXH3, fast
// enough that comparing a whole store costs next to nothing. It guards against
// accidents, not against an adversary.
package digest

import (
	"encoding/binary"
	"io"

	"github.com/zeebo/xxh3"

	"rehome/formats/store"
)

// Batch counts the records of a batch. A record's digest covers its row id and
// each cell's class and bytes; records add up, so their order does not matter.
func Batch(b *store.Batch) store.Count {
	c := store.Count{Rows: int64(b.Rows()), Bytes: int64(b.Size())}
	var space [512]byte
	for i := range b.Rows() {
		head := binary.LittleEndian.AppendUint64(space[:0], uint64(b.RowID(i)))
		for col := range b.Width() {
			cell := b.Cell(i, col)
			head = append(head, byte(cell.Class))
			head = binary.LittleEndian.AppendUint64(head, cell.Bits())
		}
		span := xxh3.Hash128(b.Span(i))
		head = binary.LittleEndian.AppendUint64(head, span.Hi)
		head = binary.LittleEndian.AppendUint64(head, span.Lo)
		h := xxh3.Hash128(head)
		c.Digest.Add(store.Digest{Hi: h.Hi, Lo: h.Lo})
	}
	return c
}

// Bytes is the digest of a byte string.
func Bytes(p []byte) store.Digest {
	h := xxh3.Hash128(p)
	return store.Digest{Hi: h.Hi, Lo: h.Lo}
}

// Cell is the digest of one cell: its class and its bytes.
func Cell(c store.Cell) store.Digest {
	head := binary.LittleEndian.AppendUint64([]byte{byte(c.Class)}, c.Bits())
	return Bytes(append(head, c.Bytes()...))
}

// Name is 64 bits of a name, for spreading names over shards and folders.
func Name(s string) uint64 { return xxh3.HashString(s) }

// Stream hashes what is written to it.
type Stream struct{ h *xxh3.Hasher }

// NewStream starts a stream.
func NewStream() *Stream { return &Stream{xxh3.New()} }

// Write never fails.
func (s *Stream) Write(p []byte) (int, error) { return s.h.Write(p) }

// Sum is the digest of everything written so far.
func (s *Stream) Sum() store.Digest {
	h := s.h.Sum128()
	return store.Digest{Hi: h.Hi, Lo: h.Lo}
}

var (
	_ io.Writer = (*Stream)(nil)
)

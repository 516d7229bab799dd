package sqlitefile

import (
	"encoding/binary"
	"errors"
	"fmt"

	"rehome/formats"
)

// Damage is why a file is no database that can be read at all.
type Damage struct {
	Kind DamageKind
	Err  error // a *formats.Error that names the file
}

func (d *Damage) Error() string { return d.Err.Error() }
func (d *Damage) Unwrap() error { return d.Err }

// DamageKind is what is wrong with it.
type DamageKind uint8

// The kinds.
const (
	NoDatabase DamageKind = iota // other bytes, or encrypted ones
	NoBytes                      // a file of zero bytes
	CutShort                     // shorter than its header says
	NoHeader                     // a header that SQLite refuses
	BadSchema                    // sqlite_schema cannot be read
)

// judge sorts what judge says into kinds.
func (m *Image) judge(head []byte) error {
	if len(head) >= 100 && IsDatabase(head) && !m.Hot {
		if page := int(binary.BigEndian.Uint16(head[16:])); page != 1 && (page < 512 || page&(page-1) != 0) {
			return nil // which header says: a file is not short by such a measure
		}
	}
	err := judge(m.path, head, m.was)
	if err == nil {
		return nil
	}
	d := &Damage{NoDatabase, err}
	switch {
	case m.Bytes == 0:
		d.Kind = NoBytes
	case IsDatabase(head), m.Bytes < int64(len(magic)) && len(head) < len(magic) && magic[:len(head)] == string(head):
		d.Kind = CutShort
	}
	return d
}

// header reads what the pages' sizes are.
func (m *Image) header() error {
	h := m.Head[:]
	m.Page = int(binary.BigEndian.Uint16(h[16:]))
	if m.Page == 1 {
		m.Page = 65536
	}
	m.Usable = m.Page - int(h[20])
	bad := func(format string, args ...any) error {
		return &Damage{NoHeader, &formats.Error{At: m.path, Err: fmt.Errorf(format, args...), Hint: "take the file from a backup"}}
	}
	switch {
	case m.Page < 512 || m.Page&(m.Page-1) != 0:
		return bad("its header says %d bytes a page", m.Page)
	case m.Usable < 480:
		return bad("its header leaves %d bytes of a page", m.Usable)
	case h[18] < 1 || h[18] > 2 || h[19] < 1 || h[19] > 2:
		return bad("its header asks for file format %d and %d, which no version writes", h[18], h[19])
	case h[21] != 64 || h[22] != 32 || h[23] != 32:
		return bad("its header says %d, %d and %d where 64, 32 and 32 have to stand", h[21], h[22], h[23])
	}
	if n := binary.BigEndian.Uint32(h[44:]); n > 4 {
		return bad("its header asks for schema format %d, which no version writes", n)
	}
	if n := binary.BigEndian.Uint32(h[56:]); n > 3 {
		return bad("its header names a text encoding %d, which there is not", n)
	}
	m.Pages = binary.BigEndian.Uint32(h[28:])
	if !m.Hot {
		there := m.Bytes / int64(m.Page)
		if m.Pages == 0 || string(h[24:28]) != string(h[92:96]) {
			m.Pages = uint32(min(there, 1<<32-2)) // of a version that left the count alone
		}
		if there < 1 {
			return &Damage{CutShort, &formats.Error{At: m.path, Err: errors.New("truncated: its first page is not all there"), Hint: "copy it again from where it is whole"}}
		}
	}
	return nil
}

package sqlitepages

import (
	"encoding/binary"

	"rehome/formats/store"
)

// Header is the beginning of a database, 100 bytes at least.
type Header []byte

const HeaderBytes = 100

func (h Header) Word(at int) uint32 { return binary.BigEndian.Uint32(h[at:]) }

// Page is how many bytes a page has, if sane.
func (h Header) Page() int {
	if n := int(binary.BigEndian.Uint16(h[16:])); n != 1 {
		return n
	}
	return 65536
}

// Sane reports whether pages have a size that SQLite knows.
func (h Header) Sane() bool {
	n := h.Page()
	return n >= 512 && n&(n-1) == 0
}

// Pages is how many pages the database has. It is not ok where a version before
// 3.7.0 wrote last: those left the count alone.
func (h Header) Pages() (n uint32, ok bool) {
	n = h.Word(28)
	return n, n > 0 && h.Word(24) == h.Word(92)
}

// encoding is that of texts, as PRAGMA encoding spells it.
func (h Header) encoding() string {
	switch h.Word(56) {
	case 2:
		return "UTF-16le"
	case 3:
		return "UTF-16be"
	}
	return "UTF-8"
}

// Pragmas are the settings that a database keeps in its header.
func (h Header) Pragmas() store.Pragmas {
	p := store.Pragmas{
		PageSize:      h.Page(),
		Encoding:      h.encoding(),
		JournalMode:   "delete",
		UserVersion:   int32(h.Word(60)),
		ApplicationID: int32(h.Word(68)),
	}
	if h[19] == 2 {
		p.JournalMode = "wal"
	}
	if h.Word(52) != 0 { // the largest root page: kept by both kinds of auto_vacuum
		p.AutoVacuum = 1
		if h.Word(64) != 0 {
			p.AutoVacuum = 2
		}
	}
	return p
}

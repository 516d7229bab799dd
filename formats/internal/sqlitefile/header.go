package sqlitefile

import (
	"encoding/binary"

	"rehome/formats/store"
)

// header is the beginning of a database, 100 bytes at least.
type header []byte

const headerBytes = 100

func (h header) word(at int) uint32 { return binary.BigEndian.Uint32(h[at:]) }

// page is how many bytes a page has, if sane.
func (h header) page() int {
	if n := int(binary.BigEndian.Uint16(h[16:])); n != 1 {
		return n
	}
	return 65536
}

// sane reports whether pages have a size that SQLite knows.
func (h header) sane() bool {
	n := h.page()
	return n >= 512 && n&(n-1) == 0
}

// pages is how many pages the database has. It is not ok where a version before
// 3.7.0 wrote last: those left the count alone.
func (h header) pages() (n uint32, ok bool) {
	n = h.word(28)
	return n, n > 0 && h.word(24) == h.word(92)
}

// encoding is that of texts, as PRAGMA encoding spells it.
func (h header) encoding() string {
	switch h.word(56) {
	case 2:
		return "UTF-16le"
	case 3:
		return "UTF-16be"
	}
	return "UTF-8"
}

// pragmas are the settings that a database keeps in its header.
func (h header) pragmas() store.Pragmas {
	p := store.Pragmas{
		PageSize:      h.page(),
		Encoding:      h.encoding(),
		JournalMode:   "delete",
		UserVersion:   int32(h.word(60)),
		ApplicationID: int32(h.word(68)),
	}
	if h[19] == 2 {
		p.JournalMode = "wal"
	}
	if h.word(52) != 0 { // the largest root page: kept by both kinds of auto_vacuum
		p.AutoVacuum = 1
		if h.word(64) != 0 {
			p.AutoVacuum = 2
		}
	}
	return p
}

package sqlitefile

import (
	"errors"
	"fmt"

	"rehome/formats"
	"rehome/formats/internal/sqlitepages"
)

// measure takes from the header what the pages' sizes are. size is that of the
// file.
func (m *Image) measure(head []byte, size int64) error {
	if len(head) < sqlitepages.HeaderBytes {
		return &Damage{CutShort, &formats.Error{At: m.path, Err: errors.New("truncated: the first page is incomplete"), Hint: "copy it again from an intact original"}}
	}
	copy(m.Head[:], head)
	h := sqlitepages.Header(m.Head[:])
	m.Bytes, m.Page = size, h.Page()
	m.Usable = m.Page - int(h[20])
	bad := func(format string, args ...any) error {
		return &Damage{NoHeader, &formats.Error{At: m.path, Err: fmt.Errorf(format, args...), Hint: "restore the file from a backup"}}
	}
	switch {
	case !h.Sane():
		return bad("invalid header: page size %d", m.Page)
	case m.Usable < 480:
		return bad("invalid header: %d usable bytes per page", m.Usable)
	case h[18] < 1 || h[18] > 2 || h[19] < 1 || h[19] > 2:
		return bad("invalid header: file format versions %d and %d", h[18], h[19])
	case h[21] != 64 || h[22] != 32 || h[23] != 32:
		return bad("invalid header: payload fractions %d, %d and %d, not 64, 32 and 32", h[21], h[22], h[23])
	}
	if n := h.Word(44); n > 4 {
		return bad("invalid header: schema format %d", n)
	}
	if n := h.Word(56); n > 3 {
		return bad("invalid header: text encoding %d", n)
	}
	there := size / int64(m.Page)
	if there < 1 {
		return &Damage{CutShort, &formats.Error{At: m.path, Err: errors.New("truncated: the first page is incomplete"), Hint: "copy it again from an intact original"}}
	}
	n, ok := h.Pages()
	if !ok || int64(n) > there {
		n = uint32(min(there, 1<<32-2))
	}
	m.Pages = n
	return nil
}

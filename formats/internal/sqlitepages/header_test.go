package sqlitepages

import (
	"encoding/binary"
	"testing"
)

func TestPageSizes(t *testing.T) {
	for stored, want := range map[uint16]int{0: 0, 1: 65536, 256: 0, 511: 0, 512: 512, 513: 0, 1024: 1024, 32768: 32768, 65535: 0} {
		h := make(Header, HeaderBytes)
		binary.BigEndian.PutUint16(h[16:], stored)
		if h.Sane() != (want > 0) || want > 0 && h.Page() != want {
			t.Errorf("%d: pages of %d bytes, valid %v", stored, h.Page(), h.Sane())
		}
	}
}

package rewrite

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"math/bits"
)

// id is the SHA-256 by which a blob is named.
type id [sha256.Size]byte

// maxNested is how many encodings are looked through: an id in hexadecimal, in JSON in
// hexadecimal, and so on.
const maxNested = 4

// finder finds ids in bytes. A bitmap tells most positions apart from those where an
// id of the set may begin.
type finder struct {
	bits  []uint64
	shift int
	// lookup returns what is put in the place of an id; false to leave it.
	lookup func(id) (id, bool)
}

// newFinder returns a finder of about n ids, to be passed to add.
func newFinder(n int, lookup func(id) (id, bool)) *finder {
	size := max(10, bits.Len(uint(n))+5) // about one position of 256 has to be looked up
	return &finder{bits: make([]uint64, 1<<(size-6)), shift: 64 - size, lookup: lookup}
}

func (f *finder) add(x id) {
	v := binary.LittleEndian.Uint64(x[:])
	for _, h := range [2]uint64{f.hash(v), f.other(v)} {
		f.bits[h>>6] |= 1 << (h & 63)
	}
}

// hash and other are where the two bits of an id are that begins with v.
func (f *finder) hash(v uint64) uint64  { return v * 0x9e3779b97f4a7c15 >> f.shift }
func (f *finder) other(v uint64) uint64 { return v * 0xc2b2ae3d27d4eb4f >> f.shift }

// may reports whether an id may begin with v.
func (f *finder) may(v uint64) bool {
	h := f.hash(v)
	if f.bits[h>>6]&(1<<(h&63)) == 0 {
		return false
	}
	h = f.other(v)
	return f.bits[h>>6]&(1<<(h&63)) != 0
}

// replace returns the bytes with every id that lookup replaces: as 32 bytes, in
// hexadecimal, or inside of base64. It copies b if something changes.
func (f *finder) replace(b []byte, depth int) (out []byte, changed bool) {
	out = b
	own := func() {
		if !changed {
			out, changed = bytes.Clone(b), true
		}
	}
	for i := 0; i+len(id{}) <= len(b); i++ {
		if !f.may(binary.LittleEndian.Uint64(b[i:])) {
			continue
		}
		if to, ok := f.lookup(id(b[i : i+len(id{})])); ok {
			own()
			copy(out[i:], to[:])
			i += len(id{}) - 1
		}
	}
	if depth == maxNested {
		return out, changed
	}
	for from := 0; from+minRun <= len(b); {
		// Look at the end of the shortest run that could begin here.
		last := from + minRun - 1
		for last >= from && alphabet[b[last]] != 0 {
			last--
		}
		if last >= from {
			from = last + 1
			continue
		}
		to, kinds := from, uint8(0xff)
		for to < len(b) && alphabet[b[to]] != 0 {
			kinds &= alphabet[b[to]]
			to++
		}
		if re, ok := f.run(b[from:to], kinds, depth); ok {
			own()
			copy(out[from:], re)
		}
		from = to
	}
	return out, changed
}

// minRun is the length of the shortest run of letters that can spell an id.
const minRun = 43 // in base64 without padding

// The alphabets in which ids are spelled.
const (
	hexDigit uint8 = 1 << iota
	stdLetter
	urlLetter
)

var alphabet = func() (t [256]uint8) {
	for c := range t {
		switch c := byte(c); {
		case '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F':
			t[c] = hexDigit | stdLetter | urlLetter
		case 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z':
			t[c] = stdLetter | urlLetter
		case c == '+' || c == '/':
			t[c] = stdLetter
		case c == '-' || c == '_':
			t[c] = urlLetter
		}
	}
	return t
}()

// run replaces ids in a run of letters. The result has the same length.
func (f *finder) run(b []byte, kinds uint8, depth int) ([]byte, bool) {
	switch {
	case kinds&hexDigit != 0:
		return f.digits(b, depth)
	case kinds&stdLetter != 0:
		if out, ok := f.letters(b, base64.RawStdEncoding, depth); ok {
			return out, true
		}
	case kinds&urlLetter != 0:
		if out, ok := f.letters(b, base64.RawURLEncoding, depth); ok {
			return out, true
		}
	}
	return f.within(b, depth)
}

// within looks at the runs of digits in a longer run, such as a path.
func (f *finder) within(b []byte, depth int) (out []byte, changed bool) {
	for from := 0; from < len(b); from++ {
		to := from
		for to < len(b) && alphabet[b[to]]&hexDigit != 0 {
			to++
		}
		if to-from >= 2*len(id{}) {
			if re, ok := f.digits(b[from:to], depth); ok {
				if !changed {
					out, changed = bytes.Clone(b), true
				}
				copy(out[from:], re)
			}
		}
		from = to
	}
	return out, changed
}

// digits decodes a run of digits, from its first and from its second one.
func (f *finder) digits(b []byte, depth int) ([]byte, bool) {
	if len(b) < 2*len(id{}) {
		return nil, false
	}
	text := make([]byte, len(b)/2)
	for skip := range min(2, len(b)-2*len(id{})+1) {
		pairs := b[skip : len(b)-(len(b)-skip)%2]
		n, err := hex.Decode(text, pairs)
		if err != nil {
			return nil, false
		}
		re, ok := f.replace(text[:n], depth+1)
		if !ok {
			continue
		}
		out := bytes.Clone(b)
		spelled := hex.AppendEncode(nil, re)
		if bytes.ContainsAny(b, "ABCDEF") {
			spelled = bytes.ToUpper(spelled)
		}
		copy(out[skip:], spelled)
		return out, true
	}
	return nil, false
}

func (f *finder) letters(b []byte, enc *base64.Encoding, depth int) ([]byte, bool) {
	text := make([]byte, enc.DecodedLen(len(b)))
	n, err := enc.Decode(text, b)
	if err != nil {
		return nil, false
	}
	re, ok := f.replace(text[:n], depth+1)
	if !ok || enc.EncodeToString(text[:n]) != string(b) {
		return nil, false
	}
	return enc.AppendEncode(nil, re), true
}

package secret

import (
	"bytes"
	"encoding/binary"
	"strings"
	"sync"
)

// ending is what the names of several members end in, in lower case: one search
// instead of several. This search looks at a whole store, so it looks at every
// eighth byte only: wherever the ending lies, one of its grams begins there.
type ending struct {
	core  string
	grams []uint32    // all runs of four letters in it
	maybe [1024]uint8 // 1 if it is one of them, by hash
}

const (
	gram   = 4
	lows   = 0x20202020 // makes ASCII letters small, and muddles some other bytes
	stride = 32         // bytes of text that are looked at in one step
)

// spot is the place of a gram in ending.maybe.
func spot(g uint32) uint32 { return g * 0x9e3779b1 >> 22 }

// memberEnding is of all members there are rules for.
var memberEnding = sync.OnceValue(func() *ending { return endingOf(memberNames()) })

// endingOf is the longest ending of all names: letters, eleven at least, so
// that a gram begins at every eighth byte.
func endingOf(names []string) *ending {
	core := strings.ToLower(names[0])
	for _, n := range names[1:] {
		for !strings.HasSuffix(strings.ToLower(n), core) {
			core = core[1:]
		}
	}
	e := &ending{core: core}
	for i := range len(core) - gram + 1 {
		g := binary.LittleEndian.Uint32([]byte(core[i : i+gram]))
		e.grams = append(e.grams, g)
		e.maybe[spot(g)] = 1
	}
	return e
}

// in is the cheap question: may this text name a member? It may where the
// ending stands in it, in any case, or a letter spelled as an escape.
func (e *ending) in(text []byte) bool {
	for at := 0; at < len(text); {
		at += e.skip(text[at:])
		stop := min(at+stride, len(text))
		for i := at; i < stop && i+gram <= len(text); i += 8 {
			g := binary.LittleEndian.Uint32(text[i:]) | lows
			if e.maybe[spot(g)] != 0 && e.around(text, i, g) {
				return true
			}
		}
		if escapedLetter(text[at:min(stop+5, len(text))]) >= 0 {
			return true
		}
		at = stop
	}
	return false
}

// around reports whether the gram at i is part of a whole ending.
func (e *ending) around(text []byte, i int, g uint32) bool {
	for n, h := range e.grams {
		if g == h && i >= n && hasPrefix(text[i-n:], e.core) {
			return true
		}
	}
	return false
}

// hasPrefix ignores the case of ASCII letters.
func hasPrefix(b []byte, prefix string) bool {
	if len(b) < len(prefix) {
		return false
	}
	for i := range prefix {
		if c, d := b[i], prefix[i]; c != d && (c^d != 0x20 || (c|0x20)-'a' >= 26) {
			return false
		}
	}
	return true
}

// lowered is a copy with its ASCII letters in lower case, all else as it is.
func lowered(b []byte) []byte {
	out := bytes.Clone(b)
	for i, c := range out {
		if c-'A' < 26 {
			out[i] = c | 0x20
		}
	}
	return out
}

// skip passes over text by strides while no \u begins in them and no gram
// stands where it is looked for. Text in JSON is full of backslashes, so that
// looking for those alone takes longer than all else. A byte of a is zero where
// one word has a backslash and the word one byte further on a u.
func (e *ending) skip(text []byte) int {
	const ones, highs, slash, u = 0x0101010101010101, 0x8080808080808080, '\\' * 0x0101010101010101, 'u' * 0x0101010101010101
	word := binary.LittleEndian.Uint64
	i := 0
	for ; i+stride < len(text); i += stride {
		t := (*[stride + 1]byte)(text[i : i+stride+1]) // one check of bounds for all
		w, x, y, z := word(t[0:]), word(t[8:]), word(t[16:]), word(t[24:])
		a := (w ^ slash) | (word(t[1:]) ^ u)
		b := (x ^ slash) | (word(t[9:]) ^ u)
		c := (y ^ slash) | (word(t[17:]) ^ u)
		d := (z ^ slash) | (word(t[25:]) ^ u)
		pairs := ((a-ones)&^a | (b-ones)&^b | (c-ones)&^c | (d-ones)&^d) & highs
		grams := e.maybe[spot(uint32(w)|lows)] | e.maybe[spot(uint32(x)|lows)] | e.maybe[spot(uint32(y)|lows)] | e.maybe[spot(uint32(z)|lows)]
		if pairs|uint64(grams) != 0 {
			break
		}
	}
	return i
}

// escapedLetter finds \u0041 and the like, -1 if there is none.
func escapedLetter(text []byte) int {
	for at := 0; at < len(text); at++ {
		i := bytes.Index(text[at:], []byte(`\u`))
		if i < 0 {
			break
		}
		at += i
		if t := text[at:]; len(t) >= 6 && t[2] == '0' && t[3] == '0' && t[4] >= '4' && t[4] <= '7' {
			return at
		}
	}
	return -1
}

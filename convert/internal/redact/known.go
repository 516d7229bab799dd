package redact

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"
)

// value is something that must not stay.
type value struct {
	kind        string
	placeholder []byte
	count       atomic.Int64 // how often it was replaced
}

// spelling is a normal form of a value.
type spelling struct {
	*value
	text  []byte
	whole bool // only between characters that are no letters and digits
	// escaped: the first character of the value looks like that of an escape, because a
	// backslash that is not part of the value precedes it.
	escaped bool
}

// gram is how many bytes of a spelling are looked up. No spelling is shorter.
const gram = 3

// maxWhole is up to which length a secret is replaced only as a whole word.
const maxWhole = 7

// index finds spellings in bytes.
type index struct {
	filter [1 << 16 / 64]uint64 // hashes of all grams
	byGram map[uint32][]spelling
	pairs  [1 << 16 / 64]uint64 // of bytes in grams, in any spelling without escapes
	// shortest is the length of the shortest bytes that can hold a spelling or the beginning
	// of one.
	shortest int
	mu       sync.Mutex
	dirty    bool // not sorted
}

func hashGram(w uint32) uint32 { return (w & 0xFFFFFF) * 0x9E3779B1 >> 16 }

// has reports whether the last bytes of w may be the gram of a spelling.
func (x *index) has(w uint32) bool {
	h := hashGram(w)
	return x.filter[h>>6]&(1<<(h&63)) != 0
}

func gramOf(b []byte) uint32 { return uint32(b[0])<<16 | uint32(b[1])<<8 | uint32(b[2]) }

func (x *index) add(s spelling) {
	w := gramOf(s.text)
	h := hashGram(w)
	x.filter[h>>6] |= 1 << (h & 63)
	x.addPairs(s.text)
	if n := s.shortest(); len(x.byGram) == 0 || n < x.shortest {
		x.shortest = n
	}
	x.byGram[w] = append(x.byGram[w], s)
	x.dirty = true
}

// shortest returns the length of the shortest beginning that longest reports.
func (s *spelling) shortest() int {
	if s.whole || s.escaped {
		return len(s.text)
	}
	return min(len(s.text), max(minCut, len(s.text)/2))
}

// maxInside is how much is read to find what begins in another value, for each byte. Values
// that repeat themselves would take too long.
const maxInside = 16

// match is where a value is spelled.
type match struct {
	from, to int
	*value
}

// each calls f with each place in b that spells a value, sorted, until f returns false.
// Of several values at one place, it is the longest. A match that begins in another one is
// reported if it ends after it. In a string of JSON, an odd number of backslashes is always an
// escape.
func (x *index) each(b []byte, isJSON bool, f func(match) bool) {
	if len(x.byGram) == 0 || len(b) < x.shortest { // the normal form is not longer
		return
	}
	end := 0 // of the matches so far
	inside := maxInside * (len(b) + maxKept/maxInside)
	try := func(from int, w uint32, follows bool) bool {
		if from < end && inside < 0 {
			return true
		}
		m, read, ok := x.longest(b, from, w, follows, isJSON)
		if from < end {
			inside -= read
		}
		if !ok {
			return true
		}
		if m.to > end && !f(m) {
			return false
		}
		end = max(end, m.to)
		return true
	}
	var w uint32
	var origin [4]int // of the last bytes of the normal form
	n, gap := 0, 0    // gap is where a backslash was left out
	for i := 0; i < len(b); {
		c, at := b[i], i
		if c != '\\' && c != '%' {
			i++
			w = w<<8 | uint32(unplus(c))
			origin[n&3] = at
			n++
			if !x.has(w) || n < gram {
				if n > 1 && origin[(n-2)&3] == i-2 && i+skipStep <= len(b) {
					j := x.skip(b, i)
					for i = max(i, j-len(origin)); i < j; i++ {
						w = w<<8 | uint32(unplus(b[i]))
						origin[n&3] = i
						n++
					}
				}
				continue
			}
			if !try(origin[(n-gram)&3], w, n > gram && gap != n-gram) {
				return
			}
			continue
		}
		out, k, size := [utf8.UTFMax]byte{}, 1, 2
		if i+1 < len(b) && c == '\\' && shortEscapes[b[i+1]] != 0 { // most of them
			out[0] = shortEscapes[b[i+1]]
		} else {
			out, k, size = next(b, i)
		}
		if i += size; k == 0 {
			gap = n
		}
		for read := range k {
			w = w<<8 | uint32(out[read])
			origin[n&3] = at
			n++
			if n < gram || !x.has(w) {
				continue
			}
			if !try(origin[(n-gram)&3], w, n > gram && gap != n-gram) {
				return
			}
		}
	}
}

// secret reports whether a rule for secrets found the value.
func (v *value) secret() bool {
	return v.kind != wordKind && v.kind != patternKind && v.kind != userKind
}

// replaced reports whether a match is in a placeholder. What a pattern found can also end
// with the first letters of one, or begin with the last.
func (r *Redactor) replaced(b []byte, m match) bool {
	from, to := max(0, m.from-maxPlaceholder), min(len(b), m.to+maxPlaceholder)
	if !bytes.Contains(b[from:to], []byte("redacted-")) {
		return false
	}
	for _, p := range r.placeholders.FindAllIndex(b[from:to], -1) {
		begin, end := from+p[0], from+p[1]
		before, after := m.from < begin && begin < m.to && m.to < end, begin < m.from && m.from < end && end < m.to
		if begin <= m.from && m.to <= end || !m.secret() && (before || after) {
			return true
		}
	}
	return false
}

// minSecret is how much of a secret must not be placeholders: after a word such as "secret",
// what holds one can look random.
const minSecret = 16

// isPlaceholder reports whether a value is a placeholder, or a secret that is mostly one.
func (r *Redactor) isPlaceholder(kind string, text []byte) bool {
	if !bytes.Contains(text, []byte("redacted-")) {
		return false
	}
	rest := len(r.placeholders.ReplaceAll(text, nil))
	return rest == 0 || rest < minSecret && rest < len(text) && (&value{kind: kind}).secret()
}

// longest returns the longest value that is spelled at a place, whose gram are the last
// bytes of w, preceded by the first one if there is any. read is how many bytes it read. Its time does not depend on how
// many values begin alike.
func (x *index) longest(b []byte, from int, w uint32, preceded, isJSON bool) (m match, read int, ok bool) {
	list := x.byGram[w&0xFFFFFF]
	slashes := skipBackslashes(b, from)
	var cut match
	i, k := from, 0
	for len(list) > 0 {
		for ; len(list) > 0 && len(list[0].text) == k; list = list[1:] {
			switch s := &list[0]; {
			case s.escaped && (slashes == from || isJSON && (slashes-from)%2 == 1):
			case s.whole && (!s.escaped && preceded && isWord(byte(w>>24)) || startsWord(b, i)):
			case s.escaped:
				m, ok = match{slashes, i, s.value}, true
			default:
				m, ok = match{from, i, s.value}, true
			}
		}
		if len(list) == 0 {
			break
		}
		if s := &list[0]; k >= minCut && k >= len(s.text)/2 && !s.whole && !s.escaped && isCut(b, i) {
			cut = match{from, i, s.value}
		}
		if i == len(b) {
			break
		}
		out, n, size := next(b, i)
		for _, c := range out[:n] {
			list = narrow(list, k, c)
			k++
		}
		i += size
	}
	if !ok && cut.value != nil {
		return cut, i - from, true
	}
	return m, i - from, ok
}

// narrow returns the spellings whose byte at k is c. They are sorted, and the same up to k.
func narrow(list []spelling, k int, c byte) []spelling {
	if len(list) == 1 {
		if text := list[0].text; len(text) <= k || text[k] != c {
			return nil
		}
		return list
	}
	byteAt := func(s spelling, c int) int {
		if len(s.text) <= k {
			return -1
		}
		return int(s.text[k]) - c
	}
	from, _ := slices.BinarySearchFunc(list, int(c), byteAt)
	to, _ := slices.BinarySearchFunc(list, int(c)+1, byteAt)
	return list[from:to]
}

// minCut is the min length of the beginning of a value that is recognized where a text was
// cut: half of the value, at least. Titles and long results are cut.
const minCut = 10

// isCut reports whether a text ends at i, or says that the rest was left out.
func isCut(b []byte, i int) bool {
	rest := b[i:]
	quote := skipBackslashes(b, i)
	return len(rest) == 0 || quote < len(b) && b[quote] == '"' || bytes.HasPrefix(rest, []byte("…")) || bytes.HasPrefix(rest, []byte("..."))
}

// startsWord reports whether a letter or digit is at i.
func startsWord(b []byte, i int) bool {
	if i == len(b) {
		return false
	}
	out, n, _ := next(b, i)
	return n > 0 && isWord(out[0])
}

// sort makes the index ready after values were added.
func (x *index) sort() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.dirty {
		return
	}
	x.dirty = false
	for _, list := range x.byGram {
		slices.SortStableFunc(list, func(a, b spelling) int { return bytes.Compare(a.text, b.text) })
	}
}

// maxPlaceholder is the max length of a placeholder.
const maxPlaceholder = 128

// placeholdersOf returns what number can make for kinds of values, with or without a key. What
// only looks like one can hold a value.
func placeholdersOf(kinds []string) *regexp.Regexp {
	quoted := make([]string, len(kinds))
	for i, k := range kinds {
		quoted[i] = regexp.QuoteMeta(k)
	}
	return regexp.MustCompile(`redacted-(?:` + strings.Join(quoted, "|") + `)-(?:[0-9]{1,9}|[0-9a-f]{16})\b`)
}

// number returns the placeholder of a value: the how manieth of its kind it is, or
// a number that only the owner of the key can compute, which is the same in every store.
func number(kind string, n int, key, text []byte) []byte {
	out := append([]byte("redacted-"), kind...)
	out = append(out, '-')
	if key == nil {
		return strconv.AppendInt(out, int64(n), 10)
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(kind + "\x00"))
	mac.Write(text)
	return hex.AppendEncode(out, mac.Sum(nil)[:8])
}

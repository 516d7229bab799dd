package leaks

import (
	"regexp/syntax"
	"unicode/utf8"
)

// mark is a character that every match has soon after its start, such as an equals sign
// after a name. Most words are ruled out by its absence, at a tenth of the price of trying
// the expression.
type mark struct {
	set   [2]uint64 // the ASCII characters that it can be
	reach int       // max number of characters up to and with it; 0: there is no mark
}

// maxReach is how far a mark may be from the start: looking further costs as much as trying.
const maxReach = 64

// markOf returns the last mark of an expression.
func markOf(row []*syntax.Regexp) (m mark) {
	before := 0
	for _, re := range row {
		if before >= maxReach {
			break
		}
		if set, ok := firstOf(re); ok && minWidth(re) > 0 {
			m = mark{set, before + 1}
		}
		before = min(before+maxWidth(re), maxReach)
	}
	return m
}

// firstOf returns the characters with which a match begins. ok is false if it can begin with
// letters, digits, or too many others.
func firstOf(re *syntax.Regexp) (set [2]uint64, ok bool) {
	add := func(from, to rune) bool {
		if to >= utf8.RuneSelf || to-from > 8 {
			return false
		}
		for r := from; r <= to; r++ {
			if r >= '0' && r <= '9' || r|0x20 >= 'a' && r|0x20 <= 'z' || r <= ' ' {
				return false
			}
			set[r>>6] |= 1 << (r & 63)
		}
		return true
	}
	switch re.Op {
	case syntax.OpLiteral:
		ok = add(re.Rune[0], re.Rune[0])
		return set, ok
	case syntax.OpCharClass:
		for i := 0; i < len(re.Rune); i += 2 {
			if !add(re.Rune[i], re.Rune[i+1]) {
				return set, false
			}
		}
		return set, true
	case syntax.OpAlternate:
		for _, sub := range re.Sub {
			of, ok := firstOf(sub)
			if !ok {
				return set, false
			}
			set[0], set[1] = set[0]|of[0], set[1]|of[1]
		}
		return set, true
	case syntax.OpConcat, syntax.OpCapture, syntax.OpPlus, syntax.OpRepeat:
		if minWidth(re.Sub[0]) == 0 || re.Op == syntax.OpRepeat && re.Min == 0 {
			return set, false
		}
		return firstOf(re.Sub[0])
	}
	return set, false
}

// follows reports whether the mark is where a match that begins at i needs it.
func (m *mark) follows(b []byte, i int) bool {
	for n := 0; n < m.reach && i < len(b); n++ {
		r, size := rune(b[i]), 1
		if r == '\\' {
			r, size = readRune(b, i)
		}
		if r < utf8.RuneSelf && m.set[r>>6]>>(r&63)&1 != 0 {
			return true
		}
		i += size
	}
	return m.reach == 0
}

package search

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// needle is a literal to find in stored bytes: in UTF-8, or with any of its characters
// as an escape of JSON, which itself may be escaped several times.
type needle struct {
	plain  []byte    // with fold: in lower case
	fold   bool      // ASCII letters match in either case
	skip   [256]byte // with fold: how far to move on, by the last byte (Horspool)
	others [][]byte  // other forms of its characters in UTF-8
	runes  []rune    // all forms of its characters
	slow   *regexp.Regexp
	span   int // bytes that it takes at most, if JSON escapes it once
}

// needles returns literals one of which is in the stored bytes of every text that re
// matches, and nil if there is no such list.
func needles(re *regexp.Regexp) []*needle {
	tree, err := syntax.Parse(re.String(), syntax.Perl)
	if err != nil {
		return nil
	}
	var out []*needle
	for _, l := range required(tree.Simplify()) {
		out = append(out, newNeedle(l))
	}
	return out
}

// literal is a piece of a pattern.
type literal struct {
	runes []rune
	fold  bool
}

// required returns literals one of which is in every match, nil if there are none.
func required(re *syntax.Regexp) []literal {
	switch re.Op {
	case syntax.OpLiteral:
		if run := longestRun(re.Rune); len(run) > 0 {
			return []literal{{run, re.Flags&syntax.FoldCase != 0}}
		}
	case syntax.OpCapture, syntax.OpPlus:
		return required(re.Sub[0])
	case syntax.OpConcat:
		var best []literal
		for _, sub := range re.Sub {
			if list := required(sub); shortest(list) > shortest(best) {
				best = list
			}
		}
		return best
	case syntax.OpAlternate:
		var all []literal
		for _, sub := range re.Sub {
			list := required(sub)
			if list == nil {
				return nil
			}
			all = append(all, list...)
		}
		return all
	}
	return nil
}

// shortest returns the length of the shortest of some literals, 0 if there are none.
func shortest(list []literal) int {
	n := 0
	for _, l := range list {
		if n == 0 || len(l.runes) < n {
			n = len(l.runes)
		}
	}
	return n
}

// longestRun returns the longest run of characters that decoders take over as they
// are. JSON has short escapes for some of the others, and decoders replace, join and
// trim the rest.
func longestRun(text []rune) []rune {
	var best []rune
	for from := 0; from < len(text); {
		to := from
		for to < len(text) && !unicode.IsSpace(text[to]) && !unicode.IsControl(text[to]) && text[to] != utf8.RuneError && !strings.ContainsRune("\"\\/&<>\u2028\u2029\ufeff", text[to]) {
			to++
		}
		if to-from > len(best) {
			best = text[from:to]
		}
		from = to + 1
	}
	return best
}

func newNeedle(l literal) *needle {
	n := &needle{fold: l.fold, span: len(l.runes) * len(`\ud83d\ude00`)}
	var slow strings.Builder
	for _, r := range l.runes {
		forms := []rune{r}
		for f := unicode.SimpleFold(r); l.fold && f != r; f = unicode.SimpleFold(f) {
			forms = append(forms, f)
		}
		base := r
		if low := unicode.ToLower(r); slices.Contains(forms, low) {
			base = low
		}
		n.plain = utf8.AppendRune(n.plain, base)
		for i, f := range forms {
			n.runes = append(n.runes, f)
			if f != base && f >= utf8.RuneSelf {
				n.others = append(n.others, []byte(string(f)))
			}
			slow.WriteString([]string{"(?:", "|"}[min(i, 1)] + regexp.QuoteMeta(string(f)) + "|" + escaped(f))
		}
		slow.WriteString(")")
	}
	slices.Sort(n.runes)
	n.runes = slices.Compact(n.runes)
	slices.SortFunc(n.others, bytes.Compare)
	n.others = slices.CompactFunc(n.others, bytes.Equal)
	n.slow = regexp.MustCompile(slow.String())
	last := len(n.plain) - 1
	for i := range n.skip {
		n.skip[i] = byte(min(last+1, 255))
	}
	for i, c := range n.plain[:last] {
		n.skip[c], n.skip[upper(c)] = byte(min(last-i, 255)), byte(min(last-i, 255))
	}
	return n
}

// escaped returns a regular expression for the JSON escapes of a character.
func escaped(r rune) string {
	if r > 0xffff {
		r -= 0x10000
		return fmt.Sprintf(`\\+u(?i:%04x)\\+u(?i:%04x)`, 0xd800+r>>10, 0xdc00+r&0x3ff)
	}
	return fmt.Sprintf(`\\+u(?i:%04x)`, r)
}

// in reports whether stored bytes contain the needle.
func (n *needle) in(b []byte) bool {
	if n.fold && n.folded(b) || !n.fold && bytes.Contains(b, n.plain) {
		return true
	}
	return n.unusual(b) && n.slow.Match(b)
}

// folded searches with ASCII letters in either case.
func (n *needle) folded(b []byte) bool {
	last := len(n.plain) - 1
	for i := last; i < len(b); i += int(n.skip[b[i]]) {
		for k := last; lower(b[i-last+k]) == n.plain[k]; k-- {
			if k == 0 {
				return true
			}
		}
	}
	return false
}

// unusual reports whether some bytes contain a character of the needle in another form
// than plain has it.
func (n *needle) unusual(b []byte) bool {
	for _, o := range n.others {
		if bytes.Contains(b, o) {
			return true
		}
	}
	for {
		i := bytes.Index(b, []byte(`\u`))
		if i < 0 || i+6 > len(b) {
			return false
		}
		var code [2]byte
		if _, err := hex.Decode(code[:], b[i+2:i+6]); err == nil {
			r := rune(code[0])<<8 | rune(code[1])
			if _, ok := slices.BinarySearch(n.runes, r); ok || r >= 0xd800 && r < 0xdc00 && n.runes[len(n.runes)-1] > 0xffff {
				return true
			}
		}
		b = b[i+2:]
	}
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c | 0x20
	}
	return c
}

func upper(c byte) byte {
	if c >= 'a' && c <= 'z' {
		return c &^ 0x20
	}
	return c
}

package leaks

import (
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
)

// beginnings returns words in lower case such that each match of parts begins
// with one of them, or nil if they cannot be listed.
func beginnings(row []*syntax.Regexp) []string {
	starts, _ := spellings(row, []string{""})
	slices.Sort(starts)
	starts = slices.Compact(starts)
	var out []string
	for _, s := range starts { // sorted: a word with another as its prefix follows it
		if len(out) == 0 || !strings.HasPrefix(s, out[len(out)-1]) {
			out = append(out, s)
		}
	}
	if len(out) == 1 && out[0] == "" {
		return nil
	}
	return out
}

// spellings extends starts as far as the parts can be listed; whole means to
// their end.
func spellings(row []*syntax.Regexp, starts []string) (out []string, whole bool) {
	const longest, widest = 20, 24 // more would not find anything sooner
	for _, re := range row {
		if len(starts) > widest || len(starts[0]) > longest {
			return starts, false
		}
		switch re.Op {
		case syntax.OpEmptyMatch, syntax.OpWordBoundary:
		case syntax.OpLiteral:
			starts = each(starts, strings.ToLower(string(re.Rune)))
		case syntax.OpCharClass:
			letters := letters(re.Rune)
			if letters == nil {
				return starts, false
			}
			starts = each(starts, letters...)
		case syntax.OpConcat, syntax.OpCapture:
			if starts, whole = spellings(re.Sub, starts); !whole {
				return starts, false
			}
		case syntax.OpQuest:
			some, whole := spellings(re.Sub, starts)
			if !whole {
				return starts, false
			}
			starts = append(some, starts...)
		case syntax.OpAlternate:
			var all []string
			ended := false
			for _, sub := range re.Sub {
				some, whole := spellings([]*syntax.Regexp{sub}, starts)
				all, ended = append(all, some...), ended || !whole
			}
			if starts = all; ended {
				return starts, false
			}
		default:
			return starts, false
		}
	}
	return starts, true
}

func each(starts []string, next ...string) []string {
	var out []string
	for _, s := range starts {
		for _, n := range next {
			out = append(out, s+n)
		}
	}
	return out
}

// letters returns the characters of a class in lower case, if they are few.
func letters(class []rune) []string {
	const few = 4
	var out []string
	for i := 0; i < len(class); i += 2 {
		if class[i+1]-class[i] > few {
			return nil
		}
		for c := class[i]; c <= class[i+1]; c++ {
			if low := string(unicode.ToLower(c)); !slices.Contains(out, low) {
				out = append(out, low)
			}
		}
	}
	if len(out) > few {
		return nil
	}
	return out
}

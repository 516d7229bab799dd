package leaks

import (
	"regexp/syntax"
	"slices"
	"strings"
)

const (
	longToken = 4 << 10 // no token is longer, but for
	longKey   = 16 << 10
	nearby    = 256 // how far from its word something may stand that need not hold it
)

// shape is what an expression tells of where to look for it.
type shape struct {
	words []string         // in lower case; wherever there is a match, there is one of them
	begun bool             // each match of tail begins with one of words
	tail  []*syntax.Regexp // the expression without what may be missing before it
	lead  int              // how much may stand before the word
	reach int              // how much may stand from the word's beginning on
	// marked: the secret is spelled in a way of its own, such as with a prefix,
	// and not just any letters and digits near a name.
	marked bool
	bare   bool // no group holds the secret: all of the match is it
}

func shapeOf(text ruleText) (shape, error) {
	re, err := syntax.Parse(text.Pattern, syntax.Perl)
	if err != nil {
		return shape{}, err
	}
	whole := flat(re, nil)
	secret := captured(re, max(text.Group, 1))
	s := shape{words: text.Keywords, bare: secret == nil}
	if s.bare {
		secret = re
	}
	s.marked = longestLiteral(secret) >= 2
	parts, bound := whole, 0
	for len(parts) > 0 && least(parts[0]) == 0 {
		if isBoundary(parts[0]) {
			bound++
		} else {
			bound = 0
		}
		s.lead += most(parts[0])
		parts = parts[1:]
	}
	starts := beginnings(parts)
	if fit(starts, text) {
		s.words, s.begun = starts, true
		s.tail = whole[len(whole)-len(parts)-bound:]
	}
	s.reach = min(width(parts), longToken)
	if width(parts) >= unbounded && strings.Contains(text.Pattern, `[\s\S`) {
		s.reach = longKey
	}
	if !s.begun {
		s.lead = min(s.lead+s.reach, longToken) + nearby
		s.reach = s.lead
	}
	s.lead = min(s.lead, longToken)
	return s, nil
}

// fit reports whether it is enough to look for starts. Short ones that no
// keyword confirms would stop the search too often, and where the keyword need
// not be part of the match, it is the keyword that must be looked for.
func fit(starts []string, text ruleText) bool {
	lower := strings.ToLower(text.Pattern)
	within := slices.ContainsFunc(text.Keywords, func(k string) bool { return strings.Contains(lower, k) })
	for _, s := range starts {
		confirmed := slices.ContainsFunc(text.Keywords, func(k string) bool {
			return strings.HasPrefix(k, s) || strings.HasPrefix(s, k)
		})
		if len(s) < 2 || !confirmed && (len(s) < 3 || !within) {
			return false
		}
	}
	return len(starts) > 0
}

// flat is an expression as a row of what must follow each other.
func flat(re *syntax.Regexp, row []*syntax.Regexp) []*syntax.Regexp {
	switch re.Op {
	case syntax.OpConcat, syntax.OpCapture:
		for _, sub := range re.Sub {
			row = flat(sub, row)
		}
		return row
	default:
		return append(row, re)
	}
}

// behind is the expression of a row behind one character.
func behind(row []*syntax.Regexp) string {
	var b strings.Builder
	b.WriteString(`\A(?s:.)`)
	for _, re := range row {
		b.WriteString("(?:" + re.String() + ")")
	}
	return b.String()
}

func isBoundary(re *syntax.Regexp) bool {
	return re.Op == syntax.OpWordBoundary || re.Op == syntax.OpNoWordBoundary
}

// captured finds a group, unless it is one that repeats: such a group only
// serves to count a part of the secret.
func captured(re *syntax.Regexp, group int) *syntax.Regexp {
	switch re.Op {
	case syntax.OpCapture:
		if re.Cap == group {
			return re
		}
	case syntax.OpRepeat, syntax.OpStar, syntax.OpPlus:
		return nil
	}
	for _, sub := range re.Sub {
		if found := captured(sub, group); found != nil {
			return found
		}
	}
	return nil
}

func longestLiteral(re *syntax.Regexp) int {
	n := 0
	if re.Op == syntax.OpLiteral {
		n = len(re.Rune)
	}
	for _, sub := range re.Sub {
		n = max(n, longestLiteral(sub))
	}
	return n
}

package leaks

import (
	"regexp/syntax"
	"slices"
	"strings"
)

const (
	maxToken = 4 << 10 // no token is longer, except for private keys
	maxKey   = 16 << 10
	nearby   = 256 // max distance of a match from a keyword that need not be part of it
)

// shape is what an expression tells about where to look for it.
type shape struct {
	words    []string         // in lower case; every match comes with one of them
	anchored bool             // each match of tail begins with one of words
	tail     []*syntax.Regexp // the expression without optional parts at its start
	mark     mark             // of tail
	before   int              // max bytes before the word
	after    int              // max bytes from the start of the word
	// marked: the secret has a form of its own, such as a prefix, and is not
	// just any letters and digits near a name.
	marked  bool
	noGroup bool // no group holds the secret: it is the whole match
}

func shapeOf(text ruleText) (shape, error) {
	re, err := syntax.Parse(text.Pattern, syntax.Perl)
	if err != nil {
		return shape{}, err
	}
	whole := flat(re, nil)
	secret := captured(re, max(text.Group, 1))
	s := shape{words: text.Keywords, noGroup: secret == nil}
	if s.noGroup {
		secret = re
	}
	s.marked = longestLiteral(secret) >= 2
	parts, bound := whole, 0
	for len(parts) > 0 && minWidth(parts[0]) == 0 {
		if isBoundary(parts[0]) {
			bound++
		} else {
			bound = 0
		}
		s.before += maxWidth(parts[0])
		parts = parts[1:]
	}
	starts := beginnings(parts)
	if useStarts(starts, text) {
		s.words, s.anchored = starts, true
		s.tail = whole[len(whole)-len(parts)-bound:]
		s.mark = markOf(s.tail)
	}
	s.after = min(width(parts), maxToken)
	if width(parts) >= unbounded && strings.Contains(text.Pattern, `[\s\S`) {
		s.after = maxKey
	}
	if !s.anchored {
		s.before = min(s.before+s.after, maxToken) + nearby
		s.after = s.before
	}
	s.before = min(s.before, maxToken)
	return s, nil
}

// useStarts reports whether it is enough to look for starts. Short ones without
// a keyword would stop the search too often, and if the keyword need not be
// part of the match, it is the keyword to look for.
func useStarts(starts []string, text ruleText) bool {
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

// flat appends the parts of an expression that must follow each other.
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

// afterOneRune returns an expression for any character followed by parts.
func afterOneRune(row []*syntax.Regexp) string {
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

// captured returns a group, unless it repeats: such a group is only a part of
// the secret.
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

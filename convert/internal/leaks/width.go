package leaks

import "regexp/syntax"

// unbounded is the width of what may repeat forever.
const unbounded = 1 << 30

// minWidth returns the min number of characters that an expression matches.
func minWidth(re *syntax.Regexp) int {
	switch re.Op {
	case syntax.OpLiteral:
		return len(re.Rune)
	case syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return 1
	case syntax.OpConcat, syntax.OpCapture, syntax.OpPlus:
		n := 0
		for _, sub := range re.Sub {
			n += minWidth(sub)
		}
		return n
	case syntax.OpRepeat:
		return re.Min * minWidth(re.Sub[0])
	case syntax.OpAlternate:
		n := unbounded
		for _, sub := range re.Sub {
			n = min(n, minWidth(sub))
		}
		return n
	}
	return 0
}

// maxWidth returns the max number of characters that an expression matches.
func maxWidth(re *syntax.Regexp) int {
	switch re.Op {
	case syntax.OpLiteral:
		return len(re.Rune)
	case syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return 1
	case syntax.OpConcat, syntax.OpCapture, syntax.OpQuest:
		return width(re.Sub)
	case syntax.OpStar, syntax.OpPlus:
		return unbounded
	case syntax.OpRepeat:
		if re.Max < 0 {
			return unbounded
		}
		return min(re.Max*maxWidth(re.Sub[0]), unbounded)
	case syntax.OpAlternate:
		n := 0
		for _, sub := range re.Sub {
			n = max(n, maxWidth(sub))
		}
		return n
	}
	return 0
}

func width(row []*syntax.Regexp) int {
	n := 0
	for _, re := range row {
		n = min(n+maxWidth(re), unbounded)
	}
	return n
}

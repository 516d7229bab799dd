package leaks

import "regexp/syntax"

// unbounded is the width of what may repeat for ever.
const unbounded = 1 << 30

// least is how many characters an expression takes at least.
func least(re *syntax.Regexp) int {
	switch re.Op {
	case syntax.OpLiteral:
		return len(re.Rune)
	case syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return 1
	case syntax.OpConcat, syntax.OpCapture, syntax.OpPlus:
		n := 0
		for _, sub := range re.Sub {
			n += least(sub)
		}
		return n
	case syntax.OpRepeat:
		return re.Min * least(re.Sub[0])
	case syntax.OpAlternate:
		n := unbounded
		for _, sub := range re.Sub {
			n = min(n, least(sub))
		}
		return n
	}
	return 0
}

// most is how many characters an expression takes at most.
func most(re *syntax.Regexp) int {
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
		return min(re.Max*most(re.Sub[0]), unbounded)
	case syntax.OpAlternate:
		n := 0
		for _, sub := range re.Sub {
			n = max(n, most(sub))
		}
		return n
	}
	return 0
}

func width(row []*syntax.Regexp) int {
	n := 0
	for _, re := range row {
		n = min(n+most(re), unbounded)
	}
	return n
}

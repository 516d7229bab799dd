// Package closest finds what a mistyped word was meant to be.
package closest

import "strings"

// Of returns the name closest to word: one that differs only in case, else one
// that begins with word or contains it, else the one with the fewest typing
// mistakes, else the first whose part before a dash is close. It returns "" if none is.
func Of(word string, names []string) string {
	word = strings.ToLower(word)
	best, bestScore := "", 100
	for _, name := range names {
		if s := score(word, strings.ToLower(name)); s < bestScore {
			best, bestScore = name, s
		}
	}
	return best
}

// Hint returns the hint for an unknown word: the closest name, or otherwise if no
// name is close.
func Hint(word string, names []string, otherwise string) string {
	if name := Of(word, names); name != "" {
		return "did you mean " + name + "?"
	}
	return otherwise
}

// score returns how far a name is from a word: 0 for the same word, 100 or more
// for an unrelated one.
func score(word, name string) int {
	switch n := len(word); {
	case word == name:
		return 0
	case n > 1 && strings.HasPrefix(name, word):
		return 1
	case n > 2 && strings.Contains(name, word):
		return 2
	case n > 40:
		return 100 // not worth the time
	}
	if d := mistakes([]rune(word), []rune(name)); d <= max(1, len(word)/3) {
		return 2 + d
	}
	if first, _, more := strings.Cut(name, "-"); more && len(word) > 3 {
		if d := mistakes([]rune(word), []rune(first)); d <= len(word)/4 {
			return 50 + d
		}
	}
	return 100
}

// mistakes returns how many characters were left out, added, mistaken or swapped
// with their neighbor to turn a into b.
func mistakes(a, b []rune) int {
	var before, last []int // the two rows above the current one
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		before, last, row = last, row, make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			row[j] = last[j-1]
			if a[i-1] != b[j-1] {
				row[j] = 1 + min(last[j-1], last[j], row[j-1])
			}
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
	}
	return row[len(b)]
}

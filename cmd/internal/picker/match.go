package picker

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Scores of a word of the filter. A word can be found as it is, or with other
// characters between its own; the closer these are, the better.
const (
	scoreExact     = 1000
	scoreWordStart = 500
	scoreFuzzy     = 500
	penaltyGap     = 20 // for each character in between
)

// filter returns the rows whose text has all words of a query, best first. Equally
// good rows stay in their order.
func filter(texts []string, query string) []int {
	words := strings.Fields(strings.ToLower(query))
	rows, scores := make([]int, 0, len(texts)), make([]int, len(texts))
	for row, text := range texts {
		score, ok := matchAll(text, words)
		if ok {
			rows, scores[row] = append(rows, row), score
		}
	}
	slices.SortStableFunc(rows, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	return rows
}

func matchAll(text string, words []string) (sum int, ok bool) {
	for _, w := range words {
		score, ok := match(text, w)
		if !ok {
			return 0, false
		}
		sum += score
	}
	return sum, true
}

// match scores one word in a text, which are both in lower case.
func match(text, word string) (int, bool) {
	best := 0
	for at := 0; ; {
		i := strings.Index(text[at:], word)
		if i < 0 {
			break
		}
		at += i
		before, _ := utf8.DecodeLastRuneInString(text[:at])
		if at == 0 || !unicode.IsLetter(before) && !unicode.IsDigit(before) {
			return scoreExact + scoreWordStart, true
		}
		best = scoreExact
		at += len(word)
	}
	if best > 0 {
		return best, true
	}
	gaps := gapsIn([]rune(text), []rune(word))
	return scoreFuzzy - gaps*penaltyGap, gaps*penaltyGap < scoreFuzzy
}

// gapsIn returns the least number of characters between those of a word in a
// text, or a large number if the text does not have them all in this order.
func gapsIn(text, word []rune) int {
	least := scoreFuzzy
	for from, r := range text {
		if r != word[0] {
			continue
		}
		at, limit := from+1, min(len(text), from+len(word)+least)
		n := 1
		for ; at < limit && n < len(word); at++ {
			if text[at] == word[n] {
				n++
			}
		}
		if n == len(word) {
			least = min(least, at-from-len(word))
		}
	}
	return least
}

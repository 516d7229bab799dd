package claude

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// losses counts what a layout cannot hold, by kind, each with the first places.
type losses struct {
	kinds  []string // in the order of their first occurrence
	places map[string][]string
	counts map[string]int64
}

// maxPlaces is how many places of a loss are named.
const maxPlaces = 3

func (l *losses) add(kind, place string) {
	if strings.ContainsFunc(place, func(r rune) bool { return !unicode.IsPrint(r) }) {
		place = strconv.Quote(place)
	}
	if l.counts == nil {
		l.places, l.counts = map[string][]string{}, map[string]int64{}
	}
	if l.counts[kind]++; l.counts[kind] == 1 {
		l.kinds = append(l.kinds, kind)
	}
	if len(l.places[kind]) < maxPlaces {
		l.places[kind] = append(l.places[kind], place)
	}
}

// list returns one line for each kind.
func (l *losses) list() []string {
	var out []string
	for _, kind := range l.kinds {
		places := slices.Clone(l.places[kind])
		if more := l.counts[kind] - int64(len(places)); more > 0 {
			places = append(places, fmt.Sprintf("%d more", more))
		}
		out = append(out, kind+": "+strings.Join(places, ", "))
	}
	return out
}

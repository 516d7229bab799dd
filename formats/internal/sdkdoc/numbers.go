package sdkdoc

import (
	"cmp"
	"slices"
)

// Numbers are the numbers of a run's events: as a rule they rise by one, so
// that a few spans hold them all.
type Numbers struct {
	spans []numberSpan       // rising
	late  map[int64]struct{} // numbers that came after a larger one, and are in no span
	some  bool
	last  int64
}

type numberSpan struct{ from, to int64 }

// Has reports whether a number was added.
func (s *Numbers) Has(n int64) bool {
	i, _ := slices.BinarySearchFunc(s.spans, n, func(p numberSpan, n int64) int { return cmp.Compare(p.to, n) })
	_, late := s.late[n]
	return late || i < len(s.spans) && s.spans[i].from <= n
}

// Add adds a number. twice: it was there already; behind: the one before it was
// larger.
func (s *Numbers) Add(n int64) (twice, behind bool) {
	behind = s.some && n < s.last
	s.some, s.last = true, n
	k := len(s.spans) - 1
	switch {
	case k >= 0 && s.spans[k].to < n && s.spans[k].to == n-1:
		s.spans[k].to = n
	case k < 0 || s.spans[k].to < n:
		s.spans = append(s.spans, numberSpan{n, n})
	case s.Has(n):
		return true, behind
	default:
		if s.late == nil {
			s.late = map[int64]struct{}{}
		}
		s.late[n] = struct{}{}
	}
	return false, behind
}

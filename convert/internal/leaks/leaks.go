package leaks

import (
	"context"
	"fmt"
	"sync"
)

// Hit is a place that looks like a credential. It does not hold it.
type Hit struct {
	Rule           string // the rule set's name, such as aws-access-token
	Title          string // its words
	Offset, Length int64  // of the credential, in the bytes that were scanned
	// Generic hits cry wolf more often: the secret is any letters and digits
	// with enough entropy, or next to a vendor's name.
	Generic bool
}

// Scanner finds what looks like a credential. Several may use it at once.
type Scanner struct {
	rules    []*rule
	allow    []allow
	words    *words
	ordinary ordinary
	askers   [][]int   // by word: the rules that want to know where it stands
	length   []int     // of each word
	spare    sync.Pool // of *scan
}

// New reads the rules. It is the only thing that costs time (some
// milliseconds), so who does not scan does not call it.
func New() (*Scanner, error) {
	set, err := library()
	if err != nil {
		return nil, fmt.Errorf("the rules for secrets: %w", err)
	}
	s := &Scanner{allow: allows(set.Allow), ordinary: newOrdinary()}
	ids := map[string]int{}
	var list []string
	for i, text := range set.Rules {
		r, err := newRule(text)
		if err != nil {
			return nil, fmt.Errorf("the rules for secrets: %w", err)
		}
		s.rules = append(s.rules, r)
		for _, w := range r.words {
			id, known := ids[w]
			if !known {
				id = len(list)
				ids[w] = id
				list = append(list, w)
				s.askers = append(s.askers, nil)
				s.length = append(s.length, len(w))
			}
			s.askers[id] = append(s.askers[id], i)
		}
	}
	s.words = newWords(list)
	s.spare.New = func() any { return &scan{Scanner: s, seen: make([]track, len(s.rules))} }
	return s, nil
}

const (
	// stretch is how much is searched before hits are told: what bounds memory.
	stretch = 256 << 10
	// unsettled is how near to the end of a stretch a hit waits for the next
	// one, where a better rule may claim the same bytes.
	unsettled = longKey
)

// Scan calls found with each credential in b, in order of their places, and
// with each place once. Its memory does not depend on the length of b. When ctx
// ends, so does Scan, without a word: the caller knows.
func (s *Scanner) Scan(ctx context.Context, b []byte, found func(Hit)) {
	w := s.spare.Get().(*scan)
	defer func() {
		w.reset()
		s.spare.Put(w)
	}()
	w.b = b
	state := uint16(0)
	for from := 0; from < len(b) && ctx.Err() == nil; from += stretch {
		to := min(from+stretch, len(b))
		state = s.words.each(state, b[from:to], func(id uint16, end int) {
			at := from + end - s.length[id]
			for _, r := range s.askers[id] {
				w.ask(r, at)
			}
		})
		w.rest()
		limit := to - unsettled
		if to == len(b) {
			limit = to
		}
		w.tell(limit, found)
	}
}

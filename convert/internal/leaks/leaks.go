package leaks

import (
	"context"
	"fmt"
	"sync"
)

// Hit is the place of what looks like a credential. It does not contain it.
type Hit struct {
	Rule           string // name of the rule, such as aws-access-token
	Title          string // description of the rule
	Offset, Length int64  // of the credential, in the bytes that were scanned
	// Generic hits are false more often: the secret is any letters and digits
	// with enough entropy, or next to a vendor's name.
	Generic bool
}

// Scanner finds what looks like a credential. It is safe for concurrent use.
type Scanner struct {
	rules       []*rule
	allow       []allow
	words       *words
	harmless    harmless
	rulesByWord [][]int   // by word: the rules to try there
	lengths     []int     // by word
	pool        sync.Pool // of *scan
}

// New returns a Scanner. It takes some milliseconds to read the rules, so call
// it only to scan.
func New() (*Scanner, error) {
	set, err := loadRules()
	if err != nil {
		return nil, fmt.Errorf("the rules for secrets: %w", err)
	}
	s := &Scanner{allow: allows(set.Allow), harmless: newHarmless()}
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
				s.rulesByWord = append(s.rulesByWord, nil)
				s.lengths = append(s.lengths, len(w))
			}
			s.rulesByWord[id] = append(s.rulesByWord[id], i)
		}
	}
	s.words = newWords(list)
	s.pool.New = func() any { return &scan{Scanner: s, seen: make([]progress, len(s.rules))} }
	return s, nil
}

// Rules returns the names of all rules.
func (s *Scanner) Rules() (out []string) {
	for _, r := range s.rules {
		out = append(out, r.ID)
	}
	return out
}

const (
	// chunkSize is how much is searched before hits are reported. It bounds
	// memory.
	chunkSize = 256 << 10
	// margin is how close to the end of a chunk a hit waits for the next one,
	// in which a better rule may match the same bytes.
	margin = maxKey
)

// Scan calls found with each credential in b, sorted by place, once for each
// place. Its memory does not depend on the length of b. When ctx ends, Scan
// returns early.
func (s *Scanner) Scan(ctx context.Context, b []byte, found func(Hit)) {
	w := s.pool.Get().(*scan)
	defer func() {
		w.reset()
		s.pool.Put(w)
	}()
	w.b = b
	state := uint16(0)
	for from := 0; from < len(b) && ctx.Err() == nil; from += chunkSize {
		to := min(from+chunkSize, len(b))
		state = s.words.each(state, b[from:to], func(id uint16, end int) {
			at := from + end - s.lengths[id]
			for _, r := range s.rulesByWord[id] {
				w.start(r, at)
			}
		})
		w.searchRest()
		limit := to - margin
		if to == len(b) {
			limit = to
		}
		w.report(limit, found)
	}
}

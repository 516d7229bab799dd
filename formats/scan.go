package formats

// Scan collects which terms of a search are in the stored bytes of which sessions, so
// that only the sessions that have all of them are decoded. It can find terms where
// the text of a session has none, but must not miss any.
type Scan struct {
	find func(b []byte) uint64
	all  uint64            // a bit for each term
	any  uint64            // terms that can be in any session
	of   map[string]uint64 // terms by session
	rest []restOf
}

// restOf are terms that can be in any session but some.
type restOf struct {
	not   map[string]bool
	terms uint64
}

// NewScan returns a Scan for some terms, one bit each. found are those that cannot be
// found in stored bytes. find returns the terms in some bytes, as UTF-8 or as escapes of
// JSON.
func NewScan(terms, found uint64, find func(b []byte) uint64) *Scan {
	return &Scan{find: find, all: terms, any: found, of: map[string]uint64{}}
}

// Find returns the terms that some bytes contain.
func (s *Scan) Find(b []byte) uint64 {
	if s.any == s.all {
		return 0
	}
	return s.find(b)
}

// Take searches bytes of a session, or of any session if id is "". Of a subagent that
// no list names, id can be its parent's.
func (s *Scan) Take(id string, b []byte) {
	if have := s.any | s.of[id]; have != s.all {
		s.Add(id, s.find(b)&^have)
	}
}

// Add adds terms that a session, or any session if id is "", can contain.
func (s *Scan) Add(id string, terms uint64) {
	switch {
	case terms == 0:
	case id == "":
		s.any |= terms
	default:
		s.of[id] |= terms
	}
}

// AddExcept adds terms that any session can contain except some.
func (s *Scan) AddExcept(not map[string]bool, terms uint64) {
	if terms != 0 {
		s.rest = append(s.rest, restOf{not, terms})
	}
}

// AddAll reports that a session, or any if id is "", can contain every term.
func (s *Scan) AddAll(id string) { s.Add(id, s.all) }

// Done reports whether every session can contain every term.
func (s *Scan) Done() bool { return s.any == s.all }

// Terms returns the terms that a session can contain.
func (s *Scan) Terms(id string) uint64 {
	have := s.any | s.of[id]
	for _, r := range s.rest {
		if !r.not[id] {
			have |= r.terms
		}
	}
	return have
}

// Matches reports whether a session can contain every term.
func (s *Scan) Matches(id string) bool { return s.Terms(id) == s.all }

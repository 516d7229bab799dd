package formats

// Scan collects which terms of a search are in the stored bytes of which sessions, so
// that only the sessions that have all of them are decoded. It can find terms where
// the text of a session has none, but must not miss any.
type Scan struct {
	find func(b []byte) uint64
	span int
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
// JSON; what it looks for has at most so many bytes as span.
func NewScan(terms, found uint64, span int, find func(b []byte) uint64) *Scan {
	return &Scan{find: find, span: span, all: terms, any: found, of: map[string]uint64{}}
}

// Find returns the terms that some bytes contain, and those that were found before.
func (s *Scan) Find(b []byte, before uint64) uint64 {
	if s.Has(before) {
		return before
	}
	return before | s.find(b)
}

// Has reports whether some terms, and those that any session can contain, are all terms.
func (s *Scan) Has(terms uint64) bool { return s.any|terms == s.all }

// Every returns all terms.
func (s *Scan) Every() uint64 { return s.all }

// Span returns how many bytes what is looked for can have, with one level of escapes.
func (s *Scan) Span() int { return s.span }

// Take searches bytes of a session, or of any session if id is "". Of a subagent that
// no list names, id can be its parent's.
func (s *Scan) Take(id string, b []byte) {
	have := s.any | s.of[id]
	s.Add(id, s.Find(b, have)&^have)
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

package rawjson

// Member is a member that Find was asked for, by offsets.
type Member struct {
	Name     string // as asked for, however it is spelled
	From, To int    // its value

	// CutFrom and CutTo bound what to remove so that the member is gone and
	// the JSON stays valid: the name, the value, and one comma, the one in
	// front unless the member is its object's first.
	CutFrom, CutTo int

	// Next is behind the comma that follows, or To if none does. Where a cut
	// has taken the comma in front of this member (it belonged to a first
	// member), [the end of that cut, Next) is what to remove instead.
	Next int
}

// Find calls f for each member that match wants, at any depth: members in the
// order in which they end, so an inner one comes before the one it lies in. It
// stops when f returns false. match says what to call a member, "" if it is not
// wanted; depth is how many objects and arrays it lies in.
//
// Find is laxer than Inline, because a secret has to be found in any JSON: it
// takes any blanks, any line ends, and strings that are not quite UTF-8. What
// is not JSON is a *SyntaxError; f may have been called by then.
func Find(b []byte, match func(name []byte, depth int) string, f func(m Member) bool) error {
	s := search{f: f}
	var unescaped []byte
	s.Reset(b)
	for comma := 0; s.Next(); {
		switch s.Kind {
		case Open:
			comma = s.From
			continue
		case Comma, Close:
			if !s.finish() {
				return nil
			}
			if s.Kind == Comma {
				comma = s.From
				continue
			}
		case Name:
			name := b[s.From+1 : s.To-1]
			if s.Escaped {
				unescaped = AppendText(unescaped[:0], b[s.From:s.To])
				name = unescaped
			}
			if name := match(name, s.Depth); name != "" {
				p := pending{Member{Name: name, From: s.At, CutFrom: s.From}, s.Depth, b[comma] != ','}
				if !p.first {
					p.CutFrom = comma
				}
				s.found = append(s.found, p)
			}
			continue
		}
		if p := s.last(s.Depth); p != nil {
			p.To = s.To
		}
	}
	return s.end()
}

// Valid reports whether b is JSON, as lax as Find is.
func Valid(b []byte) bool {
	var t Tokens
	return t.check(b) == nil
}

func (t *Tokens) check(b []byte) error {
	for t.Reset(b); t.Next(); {
	}
	return t.end()
}

// end is what is wrong with a text that must be one value.
func (t *Tokens) end() error {
	if i := space(t.b, t.At); t.Bad == "" && i < len(t.b) {
		t.At, t.Bad = i, msgTrailing
	}
	if t.Bad == "" {
		return nil
	}
	return &SyntaxError{t.At, t.Bad}
}

// search is the state of one Find.
type search struct {
	Tokens
	f     func(Member) bool
	found []pending // innermost last
}

// pending is a member that has begun.
type pending struct {
	Member
	depth int
	first bool // of its object
}

// last is the member at a depth whose value is being read.
func (s *search) last(depth int) *pending {
	if n := len(s.found); n > 0 && s.found[n-1].depth == depth {
		return &s.found[n-1]
	}
	return nil
}

// finish hands on the member that a comma or bracket ends.
func (s *search) finish() bool {
	depth := s.Depth
	if s.Kind == Close {
		depth++
	}
	p := s.last(depth)
	if p == nil {
		return true
	}
	p.Next, p.CutTo = p.To, p.To
	if s.Kind == Comma {
		p.Next = s.To
	}
	if p.first {
		p.CutTo = p.Next
	}
	m := p.Member
	s.found = s.found[:len(s.found)-1]
	return s.f(m)
}

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

// Find calls f for each member whose name is one of names, at any depth and
// however the name is escaped: members in the order in which they end, so an
// inner one comes before the one it lies in. It stops when f returns false.
//
// Find is laxer than Inline, because a secret has to be found in any JSON: it
// takes any blanks, any line ends, and strings that are not quite UTF-8. What
// is not JSON is a *SyntaxError; f may have been called by then.
func Find(b []byte, names []string, f func(m Member) bool) error {
	return find(b, oneOf(names, false), f)
}

// FindFold is Find for names in any case of their ASCII letters: decoders that
// read a member so are common, Go's own among them.
func FindFold(b []byte, names []string, f func(m Member) bool) error {
	return find(b, oneOf(names, true), f)
}

// FindFunc is Find for the names that match says are wanted, and what to call
// them; "" is not wanted. depth is how many objects and arrays the member lies in.
func FindFunc(b []byte, match func(name []byte, depth int) string, f func(m Member) bool) error {
	return find(b, match, f)
}

func oneOf(names []string, fold bool) func([]byte, int) string {
	return func(name []byte, _ int) string {
		for _, n := range names {
			if string(name) == n || fold && sameLetters(name, n) {
				return n
			}
		}
		return ""
	}
}

// pending is a member that has begun.
type pending struct {
	Member
	depth int
	first bool // of its object
}

func find(b []byte, match func(name []byte, depth int) string, f func(Member) bool) error {
	var t Tokens
	var found []pending // innermost last
	var unescaped []byte
	at := func(depth int) *pending {
		if n := len(found); n > 0 && found[n-1].depth == depth {
			return &found[n-1]
		}
		return nil
	}
	t.Reset(b)
	for comma := 0; t.Next(); {
		switch depth := t.Depth; t.Kind {
		case Name:
			name := b[t.From+1 : t.To-1]
			if t.Escaped {
				unescaped = AppendText(unescaped[:0], b[t.From:t.To])
				name = unescaped
			}
			if name := match(name, depth); name != "" {
				p := pending{Member{Name: name, From: t.At, CutFrom: t.From}, depth, b[comma] != ','}
				if !p.first {
					p.CutFrom = comma
				}
				found = append(found, p)
			}
			continue
		case Open:
			comma = t.From
			continue
		case Close:
			depth++
			fallthrough
		case Comma:
			if p := at(depth); p != nil {
				m := p.finish(t.Kind == Comma, t.To)
				found = found[:len(found)-1]
				if !f(m) {
					return nil
				}
			}
		}
		if t.Kind == Comma {
			comma = t.From
		} else if p := at(t.Depth); p != nil {
			p.To = t.To
		}
	}
	if i := space(b, t.At); t.Bad == "" && i < len(b) {
		t.At, t.Bad = i, msgTrailing
	}
	if t.Bad == "" {
		return nil
	}
	return &SyntaxError{t.At, t.Bad}
}

// finish sets what the comma or bracket before next decides.
func (p *pending) finish(comma bool, next int) Member {
	p.Next, p.CutTo = p.To, p.To
	if comma {
		p.Next = next
	}
	if p.first {
		p.CutTo = p.Next
	}
	return p.Member
}

// sameLetters compares ignoring the case of ASCII letters.
func sameLetters(raw []byte, name string) bool {
	if len(raw) != len(name) {
		return false
	}
	for i, c := range raw {
		if d := name[i]; c != d && (c^d != 0x20 || c|0x20 < 'a' || c|0x20 > 'z') {
			return false
		}
	}
	return true
}

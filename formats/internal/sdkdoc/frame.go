package sdkdoc

import "rehome/formats/store"

// Frame cuts the line that was parsed last around the value that its row holds
// byte for byte anyway (Kind.Spliced), so that a sidecar need not repeat it. ok
// is false where there is no such value.
func (p *Parser) Frame() (before, after []byte, ok bool) {
	s := p.found[kinds[p.kind].at[p.kind.Spliced()]]
	if s.to == s.from {
		return nil, nil, false
	}
	if p.kind == Checkpoint {
		s.from, s.to = s.from+1, s.to-1
		data := p.cells[BlobData].Bytes()
		if std.EncodedLen(len(data)) != s.to-s.from || string(std.AppendEncode(nil, data)) != string(s.of(p.line)) {
			return nil, nil, false
		}
	} else if string(p.cells[p.kind.Spliced()].Bytes()) != string(s.of(p.line)) {
		return nil, nil, false
	}
	return p.line[:s.from], p.line[s.to:], true
}

// Unframe appends the line that Frame cut, around the value of its row.
func (k Kind) Unframe(dst, before, after []byte, row []store.Cell) []byte {
	dst = append(dst, before...)
	value := row[k.Spliced()].Bytes()
	if k == Checkpoint {
		dst = std.AppendEncode(dst, value)
	} else {
		dst = append(dst, value...)
	}
	return append(dst, after...)
}

// Spliced is the cell that Frame cut around.
func (p *Parser) Spliced() store.Cell { return p.cells[p.kind.Spliced()] }

package wire

import "rehome/formats/loss"

// maxStrays is how many fields without a place of their own are listed one by one.
const maxStrays = 64

// Walker spells messages as JSON and counts their fields. The zero Walker is ready to use.
type Walker struct {
	Note func(loss.Code)             // called for what is not as the table says; may be nil
	Ref  func(f *Field, name []byte) // called for each ref; may be nil

	Seen   int64 // fields, at every depth
	Strays int64 // of these: kept raw

	spans  []span // the rest are stacks, shared by the levels
	ones   []int
	failed []int // offsets of the fields that fail recorded
	merged []byte
	depth  int
}

// frame is the part of the stacks that belongs to one message.
type frame struct {
	m                 *Message
	b                 []byte
	span, one, failed int
	strays            bool
}

// span is the range in which a field occurs. Other fields within are skipped when the
// field is spelled; clients write fields in order, so that spans hardly overlap.
type span struct {
	count    int
	from, to int // offset of the first, and after the last
	last     int // offset of the last
}

// Append appends the message as a JSON object.
func (w *Walker) Append(dst []byte, m *Message, b []byte) []byte {
	dst, ok := w.message(dst, m, b, true)
	if !ok { // deeper than MaxDepth, which the first level is not
		return append(dst, "{}"...)
	}
	return dst
}

func (w *Walker) note(code loss.Code) {
	if w.Note != nil {
		w.Note(code)
	}
}

// message appends a message. ok is false if b is not one; the outermost message is
// spelled as far as it is protobuf.
func (w *Walker) message(dst []byte, m *Message, b []byte, outermost bool) (out []byte, ok bool) {
	if w.depth >= MaxDepth {
		w.note(loss.ProtobufDeep)
		return dst, false
	}
	fr := frame{m: m, b: b, span: len(w.spans), one: len(w.ones), failed: len(w.failed)}
	for range m.Fields {
		w.spans = append(w.spans, span{})
	}
	for range m.oneofs + 1 {
		w.ones = append(w.ones, -1)
	}
	w.depth++
	defer func() {
		w.depth--
		w.spans, w.ones, w.failed = w.spans[:fr.span], w.ones[:fr.one], w.failed[:fr.failed]
	}()
	seen, rest := w.survey(&fr)
	if len(rest) > 0 {
		w.note(loss.ProtobufCut)
		if !outermost {
			return dst, false
		}
	}
	w.Seen += seen
	p := objectWriter{b: append(dst, '{')}
	for i, f := range m.Fields {
		s := w.spans[fr.span+i]
		if s.count > 0 && (f.one == 0 || w.ones[fr.one+f.one] == i) {
			w.member(&p, &fr, f, s)
		}
	}
	if fr.strays || len(w.failed) > fr.failed {
		w.strays(&p, &fr)
	}
	if len(rest) > 0 {
		p.name("#rest")
		p.b = AppendBase64(append(p.b, `{"base64":`...), rest)
		p.b = append(p.b, '}')
		w.Seen++
		w.Strays++
	}
	return append(p.b, '}'), true
}

// member appends a field with its name, if it has a value.
func (w *Walker) member(p *objectWriter, fr *frame, f *Field, s span) {
	mark, some := len(p.b), p.some
	p.name(f.Name)
	from := s.from
	if f.single() {
		from = s.last
	}
	ok := false
	if p.b, ok = w.field(p.b, f, fr.b[:s.to], from, s.count); !ok {
		p.b, p.some = p.b[:mark], some
	}
}

// single reports whether the last of several occurrences replaces the others.
func (f *Field) single() bool { return !f.Repeated && f.Key == 0 && f.Kind != Nested }

// survey finds the span of each field.
func (w *Walker) survey(fr *frame) (seen int64, rest []byte) {
	r := Read(fr.b)
	from := 0
	for r.Next() {
		seen++
		to := r.at
		f := fr.m.Field(r.Num)
		if f == nil || !f.Fits(&r) {
			fr.strays = true
		} else {
			s := &w.spans[fr.span+f.index]
			if s.count == 0 {
				s.from = from
			} else if f.single() {
				fr.strays = true
			}
			s.count, s.last, s.to = s.count+1, from, to
			if f.one > 0 {
				one := &w.ones[fr.one+f.one]
				if *one >= 0 && *one != f.index {
					fr.strays = true
				}
				*one = f.index
			}
		}
		from = to
	}
	return seen, r.Rest()
}

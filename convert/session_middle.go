package convert

import (
	"context"
	"fmt"
	"hash/maphash"
	"iter"

	"rehome/formats"
	"rehome/formats/session"
	"rehome/schemas"
)

// middle stands between decoder and encoder: it spells every line that comes
// by, holds it against the schema, and counts.
type middle struct {
	lines    *schemas.Lines // nil: the lines were judged when they were written
	progress func(n int)
	buf      []byte
	sum      lineSum

	messages, turns, size int64
}

// lineSum is a digest of lines that never leaves this process.
type lineSum struct {
	a, b  maphash.Hash
	lines int64
}

func (s *lineSum) add(line []byte) {
	s.lines++
	s.a.Write(line)
	s.a.WriteByte('\n')
	s.b.Write(line)
	s.b.WriteByte('\n')
}

// like begins a sum that can be compared with this one.
func (s *lineSum) like() (out lineSum) {
	out.a.SetSeed(s.a.Seed())
	out.b.SetSeed(s.b.Seed())
	return out
}

func (s *lineSum) equal(o *lineSum) bool {
	return s.lines == o.lines && s.a.Sum64() == o.a.Sum64() && s.b.Sum64() == o.b.Sum64()
}

// keepLines is how much room for lines is kept between them.
const keepLines = 8 << 20

func (m *middle) add(line []byte) error {
	m.size += int64(len(line)) + 1
	m.sum.add(line)
	if m.progress != nil {
		m.progress(len(line))
	}
	if m.buf = line[:0]; cap(line) > keepLines {
		m.buf = nil
	}
	if m.lines == nil {
		return nil
	}
	if err := m.lines.Validate(line); err != nil {
		return &formats.Error{At: fmt.Sprintf("line %d of the session", m.sum.lines), Err: fmt.Errorf("does not match schema %s: %w", middleSchema, err), Hint: ourFault}
	}
	return nil
}

// tap is the session with every line looked at as it comes by.
func (m *middle) tap(s *session.Session) *session.Session {
	out := *s
	out.Messages = func(yield func(*session.Message, error) bool) {
		if err := m.add(session.AppendHead(m.buf, s)); err != nil {
			yield(nil, err)
			return
		}
		each(s.Messages, yield, func(one *session.Message) error {
			m.messages++
			if one.Turn != nil {
				m.turns++
			}
			return m.add(session.AppendMessage(m.buf, one))
		})
	}
	out.Files = nil
	if s.Files != nil {
		out.Files = func(yield func(*session.File, error) bool) {
			each(s.Files, yield, func(one *session.File) error { return m.add(session.AppendFile(m.buf, one)) })
		}
	}
	return &out
}

// each passes a stream on with a look at each of its values.
func each[T any](from iter.Seq2[*T, error], yield func(*T, error) bool, look func(*T) error) {
	if from == nil {
		return
	}
	for one, err := range from {
		if err == nil {
			err = look(one)
		}
		if err != nil {
			yield(nil, err)
			return
		}
		if !yield(one, nil) {
			return
		}
	}
}

// drain walks a session to its end.
func drain(ctx context.Context, s *session.Session) error {
	for _, err := range s.Messages {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
	}
	if s.Files == nil {
		return nil
	}
	for _, err := range s.Files {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

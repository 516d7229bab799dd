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

// lineChecker is between decoder and encoder: it encodes every line, validates
// it, and counts.
type lineChecker struct {
	validator *schemas.Lines // nil: the lines were validated when they were written
	progress  func(n int)
	buf       []byte
	sum       lineSum

	messages, turns, size int64
}

// lineSum is a checksum of lines that is only used in this process.
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

// sameSeed returns an empty sum that can be compared with this one.
func (s *lineSum) sameSeed() (out lineSum) {
	out.a.SetSeed(s.a.Seed())
	out.b.SetSeed(s.b.Seed())
	return out
}

func (s *lineSum) equal(o *lineSum) bool {
	return s.lines == o.lines && s.a.Sum64() == o.a.Sum64() && s.b.Sum64() == o.b.Sum64()
}

// maxKeptBuffer is the max size of a buffer that is reused.
const maxKeptBuffer = 8 << 20

func (m *lineChecker) add(line []byte) error {
	m.size += int64(len(line)) + 1
	m.sum.add(line)
	if m.progress != nil {
		m.progress(len(line))
	}
	if m.buf = line[:0]; cap(line) > maxKeptBuffer {
		m.buf = nil
	}
	if m.validator == nil {
		return nil
	}
	if err := m.validator.Validate(line); err != nil {
		return &formats.Error{At: fmt.Sprintf("line %d of the session", m.sum.lines), Err: fmt.Errorf("does not match schema %s: %w", sessionSchema, err), Hint: bugHint}
	}
	return nil
}

// wrap returns the session with streams that check every line.
func (m *lineChecker) wrap(s *session.Session) *session.Session {
	out := *s
	out.Messages = func(yield func(*session.Message, error) bool) {
		if err := m.add(session.AppendHead(m.buf, s)); err != nil {
			yield(nil, err)
			return
		}
		forEach(s.Messages, yield, func(one *session.Message) error {
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
			forEach(s.Files, yield, func(one *session.File) error { return m.add(session.AppendFile(m.buf, one)) })
		}
	}
	return &out
}

// forEach passes on a stream, and calls look for each value.
func forEach[T any](from iter.Seq2[*T, error], yield func(*T, error) bool, look func(*T) error) {
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

// drain reads a session to its end.
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

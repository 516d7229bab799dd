package pipe

import (
	"context"
	"fmt"
	"hash/maphash"
	"iter"

	"rehome/formats"
	"rehome/formats/session"
	"rehome/schemas"
)

// judge is between decoder and sink: it makes a line of canonical text of all that
// a session yields, validates it, and counts. A sink of canonical text writes the
// same line.
type judge struct {
	validator *schemas.Lines // nil: the lines were validated when they were written
	text      string         // Pipe.Text
	progress  func(n int)
	sum       *maphash.Hash // of all lines; may be nil
	last, buf []byte
	lines     int64

	messages, turns, size int64
	used                  *used // nil: not asked for
}

// maxKeptBuffer is the max size of a buffer that is reused.
const maxKeptBuffer = 8 << 20

// BugHint is the hint of errors that no input should be able to cause.
const BugHint = "nothing was written: this is a bug in rehome, please report it"

func (j *judge) add(line []byte) error {
	j.lines++
	j.size += int64(len(line)) + 1
	if j.sum != nil {
		j.sum.Write(line)
		j.sum.WriteByte('\n')
	}
	if j.progress != nil {
		j.progress(len(line))
	}
	j.last = line
	if j.buf = line[:0]; cap(line) > maxKeptBuffer {
		j.buf = nil
	}
	if j.validator == nil {
		return nil
	}
	if err := j.validator.Validate(line); err != nil {
		e := &formats.Error{At: fmt.Sprintf("line %d of the session", j.lines), Err: fmt.Errorf("does not match schema %s: %w", Schema, err), Hint: BugHint}
		if j.text != "" {
			e.At, e.Hint = j.text+": "+e.At, "correct the text: `rehome check` names each line that is wrong"
		}
		return e
	}
	return nil
}

// line returns the line at hand.
func (j *judge) line() []byte { return j.last }

// count puts the counts into a result.
func (j *judge) count(r *Result) {
	r.Messages, r.Turns, r.Bytes = j.messages, j.turns, j.size
	if j.used != nil {
		r.Servers, r.Commands = names(j.used.servers), names(j.used.commands)
	}
}

// tap judges the head of a session, and returns the session with streams that judge
// each line.
func (j *judge) tap(s *session.Session) (*session.Session, error) {
	out := *s
	out.Messages = judged(s.Messages, func(m *session.Message) error {
		if m.Said() {
			j.messages++
		}
		if m.Turn != nil {
			j.turns++
		}
		if j.used != nil {
			j.used.add(m)
		}
		return j.add(session.AppendMessage(j.buf, m))
	})
	if s.Files != nil {
		out.Files = judged(s.Files, func(f *session.File) error { return j.add(session.AppendFile(j.buf, f)) })
	}
	return &out, j.add(session.AppendHead(j.buf, s))
}

// judged passes on a stream until a value is not accepted.
func judged[T any](from iter.Seq2[*T, error], accept func(*T) error) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		if from == nil {
			return
		}
		for one, err := range from {
			if err == nil {
				err = accept(one)
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
}

// drain reads a session to its end.
func drain(ctx context.Context, s *session.Session) error {
	err := session.Each(ctx, s.Messages, func(*session.Message) error { return nil })
	if err == nil {
		err = session.Each(ctx, s.Files, func(*session.File) error { return nil })
	}
	return err
}

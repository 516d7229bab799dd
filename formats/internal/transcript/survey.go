package transcript

import (
	"context"
	"io"
	"iter"
	"strconv"
	"strings"

	"rehome/formats"
	"rehome/formats/internal/lines"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/formats/store"
)

// Survey is what a first walk over a transcript tells: its turns, and what ends
// them, which stands behind them and belongs in front.
type Survey struct {
	r       *io.SectionReader
	file    string
	note    loss.Sink
	Turns   []Turn
	Extras  []session.Extra // of the session
	Account session.Account // of its lines, if Messages is walked, too
	Lines   int64
	Broken  int64 // lines that cannot be read
	first   int   // the line that Extras comes from
}

// Turn outlines a turn.
type Turn struct {
	Line   int // of the prompt
	Offset int64
	Status string
	Error  string
	ended  int // the line that says so
	failed int
	prompt string
}

// mostExtras bounds what is held of metadata.
const mostExtras = 64 << 10

// NewSurvey walks over a transcript. file is its name in the store, for
// addresses; note is told of lines that cannot be read.
func NewSurvey(ctx context.Context, r *io.SectionReader, file string, note loss.Sink) (*Survey, error) {
	s := &Survey{r: r, file: file, note: note}
	for e, err := range Read(ctx, s.whole()) {
		if err != nil {
			return nil, err
		}
		s.Lines++
		s.Account.Add(e.Account)
		if e.Kind == Unreadable {
			s.Broken++
			note.Add(loss.Loss{Code: loss.TranscriptLine, At: s.at(e.Line)})
			continue
		}
		s.take(e)
	}
	return s, nil
}

func (s *Survey) whole() *io.SectionReader { return io.NewSectionReader(s.r, 0, s.r.Size()) }

// changed is the error of a transcript that is not the one that was surveyed: its
// client writes each anew.
func (s *Survey) changed() error {
	return formats.Changed("", s.file)
}

func (s *Survey) at(line int) store.Addr { return store.Addr{File: s.file, Line: line} }

func (s *Survey) take(e *Entry) {
	var last *Turn
	if n := len(s.Turns); n > 0 {
		last = &s.Turns[n-1]
	}
	switch {
	case e.Kind == Message && e.Role == session.User:
		s.Turns = append(s.Turns, Turn{Line: e.Line, Offset: e.Offset, prompt: beginning(e.Parts)})
	case e.Kind == Metadata && s.first == 0 && len(e.Raw) <= mostExtras:
		s.first = e.Line
		s.Extras = []session.Extra{{Name: "transcript.metadata", Raw: e.Raw}}
	case e.Kind == Ended && last != nil && last.ended == 0 && len(e.Extras) == 0 && len(e.Error) <= mostExtras:
		last.Status, last.ended = e.Status, e.Line
		if last.Error == "" {
			last.Error = e.Error
		}
	case e.Kind == Failed && last != nil && last.Error == "" && len(e.Extras) == 0 && len(e.Error) <= mostExtras:
		last.Error, last.failed = e.Error, e.Line
	}
}

// Messages yields the conversation. begin, where it is set, completes the
// record of each turn, by its place in Turns. A message is valid until the
// next step.
func (s *Survey) Messages(ctx context.Context, begin func(i int, t *session.Turn)) iter.Seq2[*session.Message, error] {
	return func(yield func(*session.Message, error) bool) {
		turn, seen := -1, int64(0)
		for e, err := range Read(ctx, s.whole()) {
			if err != nil {
				yield(nil, err)
				return
			}
			seen++
			m := s.message(e, turn)
			if m == nil {
				continue
			}
			if m.Role == session.User && e.Kind == Message {
				if turn++; turn >= len(s.Turns) || s.Turns[turn].Line != e.Line {
					yield(nil, s.changed())
					return
				}
				m.Turn = s.record(turn)
				if begin != nil {
					begin(turn, m.Turn)
				}
			}
			if !yield(m, nil) {
				return
			}
		}
		if turn != len(s.Turns)-1 || seen != s.Lines {
			yield(nil, s.changed())
		}
	}
}

// record is the record of a turn.
func (s *Survey) record(i int) *session.Turn {
	t := s.Turns[i]
	return &session.Turn{Number: i + 1, Status: t.Status, Error: t.Error}
}

// message makes a message of a line; nil if what it says stands elsewhere.
func (s *Survey) message(e *Entry, turn int) *session.Message {
	m := &session.Message{ID: "line-" + strconv.Itoa(e.Line), Role: e.Role, Parts: e.Parts, Extras: e.Extras, Origin: []string{s.at(e.Line).String()}}
	switch e.Kind {
	case Message:
		if e.Withheld {
			s.note.Add(loss.Loss{Code: loss.ReasoningWithheld, At: s.at(e.Line)})
		}
		return m
	case Ended, Failed:
		if turn >= 0 && (s.Turns[turn].ended == e.Line || s.Turns[turn].failed == e.Line) {
			return nil
		}
		b := session.AppendString(append(session.AppendString([]byte(`{"status":`), e.Status), `,"error":`...), e.Error)
		m.Parts = []session.Part{&session.Opaque{Kind: "turn_ended", Raw: append(b, '}'), Source: of()}}
	case Metadata, Strange:
		if e.Line == s.first {
			return nil
		}
		m.Parts = []session.Part{&session.Opaque{Kind: "line", Raw: e.Raw, Source: of()}}
	default:
		return nil
	}
	m.Role = session.Assistant
	return m
}

// Prompt is what the user wrote to begin a turn.
func (s *Survey) Prompt(ctx context.Context, i int) ([]session.Part, error) {
	for e, err := range s.from(ctx, i) {
		if err != nil {
			return nil, err
		}
		return e.Parts, nil
	}
	return nil, s.changed()
}

// Rest yields what follows the prompt of a turn.
func (s *Survey) Rest(ctx context.Context, i int) iter.Seq2[*session.Message, error] {
	return func(yield func(*session.Message, error) bool) {
		for e, err := range s.from(ctx, i) {
			if err != nil {
				yield(nil, err)
				return
			}
			if e.Line == s.Turns[i].Line {
				continue
			}
			if e.Kind == Message && e.Role == session.User {
				return
			}
			if m := s.message(e, i); m != nil && !yield(m, nil) {
				return
			}
		}
	}
}

// from reads on from the prompt of a turn.
func (s *Survey) from(ctx context.Context, i int) iter.Seq2[*Entry, error] {
	t := &s.Turns[i]
	return func(yield func(*Entry, error) bool) {
		for e, err := range read(ctx, io.NewSectionReader(s.r, t.Offset, s.r.Size()-t.Offset), t.Line-1) {
			if err == nil && e.Line == t.Line && (e.Kind != Message || e.Role != session.User) {
				yield(nil, s.changed())
				return
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// At is the address of a turn's prompt.
func (s *Survey) At(i int) string { return s.at(s.Turns[i].Line).String() }

// beginning is the first of what the user wrote.
func beginning(parts []session.Part) string {
	for _, p := range parts {
		if text, ok := p.(*session.Text); ok {
			return strings.Clone(text.Text[:min(len(text.Text), 200)])
		}
	}
	return ""
}

// Prompts are the beginnings of what the user wrote, turn by turn.
func (s *Survey) Prompts() []string {
	out := make([]string, len(s.Turns))
	for i, t := range s.Turns {
		out[i] = t.prompt
	}
	return out
}

// Count counts lines without looking at them.
func Count(ctx context.Context, r io.Reader) (n int64, err error) {
	for _, err := range lines.Each(ctx, r, 0) {
		if err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

package cursortranscript

import (
	"context"
	"fmt"
	"io"
	"iter"
	"os"
	"path"

	"rehome/formats"
	"rehome/formats/internal/lines"
	"rehome/formats/internal/toolmap"
	"rehome/formats/internal/transcript"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/formats/store"
)

func decode(ctx context.Context, l *formats.Location, v formats.View, sel session.Selection) iter.Seq2[*session.Session, error] {
	return func(yield func(*session.Session, error) bool) {
		f, err := open(l)
		if err != nil {
			yield(nil, failure(ctx, l.Path, err))
			return
		}
		defer f.root.Close()
		if f.others > 0 && v.OnNotice != nil {
			v.OnNotice(fmt.Sprintf("%s: skipped files that are not transcripts: %d", l.Path, f.others))
		}
		for _, e := range f.sessions {
			if !sel.Includes(e.id) {
				continue
			}
			if ctx.Err() != nil {
				yield(nil, ctx.Err())
				return
			}
			if !f.session(ctx, e, v, sel, yield) {
				return
			}
		}
	}
}

// session hands out one session; false if nobody wants another.
func (f *folder) session(ctx context.Context, e *entry, v formats.View, sel session.Selection, yield func(*session.Session, error) bool) bool {
	s := &session.Session{Missing: []string{"its store: this is a readable copy"}, Children: e.children}
	head, err := f.head(e, make([]byte, mostHead))
	s.Head = head
	if err != nil {
		return yield(s, failure(ctx, e.best.Path, err))
	}
	file, err := f.root.Open(e.best.Path)
	if err != nil {
		return yield(s, failure(ctx, e.best.Path, err))
	}
	defer file.Close()
	if f.slug != "" {
		s.Extras = append(s.Extras, session.Extra{Name: "slug", Raw: session.AppendString(nil, f.slug)})
	}
	for _, other := range e.lesser {
		f.superseded(ctx, other, v, sel)
	}
	read := f.lines
	if e.best.Text {
		read = f.text
	}
	if err := read(ctx, file, e, s, v, sel); err != nil {
		return yield(s, failure(ctx, e.best.Path, err))
	}
	lacks := loss.TranscriptBare
	if e.results {
		lacks = loss.TranscriptPartial
	}
	v.OnLoss.Add(loss.Loss{Code: lacks, At: store.Addr{File: e.best.Path}})
	return yield(s, nil)
}

// lines sets up a session of JSON lines.
func (f *folder) lines(ctx context.Context, file *os.File, e *entry, s *session.Session, v formats.View, sel session.Selection) error {
	survey, err := transcript.NewSurvey(ctx, io.NewSectionReader(file, 0, s.Bytes), e.best.Path, v.OnLoss)
	if err != nil {
		return err
	}
	s.Turns = int64(len(survey.Turns))
	s.Extras = append(s.Extras, survey.Extras...)
	s.Messages = func(yield func(*session.Message, error) bool) {
		sel.Account.Add(survey.Account)
		for m, err := range survey.Messages(ctx, nil) {
			if err != nil {
				yield(nil, failure(ctx, e.best.Path, err))
				return
			}
			finish(m)
			if !yield(m, nil) {
				return
			}
		}
	}
	return nil
}

// finish says of a message what only this codec knows: the transcript is the
// session's spine here.
func finish(m *session.Message) {
	for _, p := range m.Parts {
		switch t := p.(type) {
		case *session.Text:
			t.From = ""
		case *session.Thinking:
			t.From = ""
		case *session.Injected:
			t.From = ""
			if t.Tag == stampTag && !m.At.Known() {
				m.At = moment(t.Text)
			}
		case *session.ToolCall:
			t.From = ""
			t.Kind = toolmap.Kind(t.Name)
		case *session.Opaque:
			t.From = ""
		}
	}
	if t := m.Turn; t != nil {
		t.Start = m.At
		if t.Error != "" && t.Status == "" { // a line of type error alone
			t.Status = "error"
		}
	}
}

// superseded counts the lines of a file that a better one stands for.
func (f *folder) superseded(ctx context.Context, t transcript.File, v formats.View, sel session.Selection) {
	if v.OnNotice != nil {
		v.OnNotice(t.Path + ": skipped; another file of this session is used")
	}
	file, err := f.root.Open(t.Path)
	if err == nil {
		defer file.Close()
		n := int64(0)
		for _, lerr := range lines.Each(ctx, file, 1) {
			if err = lerr; err != nil {
				break
			}
			n++
		}
		sel.Account.Add(session.Account{Read: n, Superseded: n})
	}
	if err != nil {
		v.OnLoss.Add(loss.Loss{Code: loss.OldTranscript, At: store.Addr{File: path.Clean(t.Path)}})
	}
}

package cursortranscript

import (
	"context"
	"io"
	"iter"

	"rehome/formats"
	"rehome/formats/internal/jsonl"
	"rehome/formats/internal/toolmap"
	"rehome/formats/internal/transcript"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/formats/store"
)

func decode(ctx context.Context, l *formats.Location, v formats.View, sel session.Selection) iter.Seq2[*session.Session, error] {
	y := layout(l)
	y.OnNotice, y.Noun = v.OnNotice, "transcripts"
	_, slug := inside(l.Path)
	return jsonl.Each(ctx, l, y, func(s *jsonl.Store, f *jsonl.File, yield func(*session.Session, error) bool) bool {
		if !sel.Includes(f.ID) {
			return true
		}
		d := &decoder{Store: s, f: f, ctx: ctx, view: v, sel: sel}
		return d.session(slug, yield)
	})
}

// decoder decodes one file.
type decoder struct {
	*jsonl.Store
	f    *jsonl.File
	ctx  context.Context
	view formats.View
	sel  session.Selection
}

// session yields the session; false if nobody wants another.
func (d *decoder) session(slug string, yield func(*session.Session, error) bool) bool {
	s := &session.Session{Missing: []string{"its store: this is a readable copy"}}
	for _, kid := range d.f.Kids {
		s.Children = append(s.Children, session.Link{Session: kid.ID})
	}
	var err error
	if s.Head, err = head(d.Store, d.f); err != nil {
		return yield(s, err)
	}
	file, err := d.Root.Open(d.f.Path)
	if err != nil {
		return yield(s, err)
	}
	defer file.Close()
	if slug != "" {
		s.Extras = append(s.Extras, session.Extra{Name: "slug", Raw: session.AppendString(nil, slug)})
	}
	for _, older := range d.f.Older {
		d.superseded(older)
	}
	lacks, read := loss.TranscriptBare, d.lines
	if isText(d.f) {
		read = d.text
	}
	results, err := read(io.NewSectionReader(file, 0, s.Bytes), s)
	if err != nil {
		return yield(s, err)
	}
	if results {
		lacks = loss.TranscriptPartial
	}
	d.view.OnLoss.Add(loss.Loss{Code: lacks, At: store.Addr{File: d.f.Path}})
	return yield(s, nil)
}

// lines sets up a session of JSON lines, which have no results.
func (d *decoder) lines(r *io.SectionReader, s *session.Session) (results bool, err error) {
	survey, err := transcript.NewSurvey(d.ctx, r, d.f.Path, d.view.OnLoss)
	if err != nil {
		return false, err
	}
	s.Head.Turns = int64(len(survey.Turns))
	s.Extras = append(s.Extras, survey.Extras...)
	s.Messages = func(yield func(*session.Message, error) bool) {
		d.sel.Account.Add(survey.Account)
		for m, err := range survey.Messages(d.ctx, nil) {
			if err != nil {
				yield(nil, jsonl.Failure(d.ctx, name, d.f.Path, err))
				return
			}
			finish(m)
			if !yield(m, nil) {
				return
			}
		}
	}
	return false, nil
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

// superseded accounts for a file of which a better one is read.
func (d *decoder) superseded(f *jsonl.File) {
	if d.view.OnNotice != nil {
		d.view.OnNotice(f.Path + ": skipped; another file of this session is used")
	}
	lines, err := d.Superseded(d.ctx, d.f, f, d.view.OnLoss, said)
	d.sel.Account.Add(lines)
	if err != nil {
		d.view.OnLoss.Add(loss.Loss{Code: loss.OldTranscript, At: store.Addr{File: f.Path}})
	}
}

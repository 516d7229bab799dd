package streamjson

import (
	"bytes"
	"context"
	"errors"
	"io"
	"iter"

	"rehome/formats"
	"rehome/formats/internal/jsonl"
	"rehome/formats/internal/lines"
	"rehome/formats/loss"
	"rehome/formats/session"
)

// pipe is a capture that is read while the client writes it.
type pipe struct {
	view formats.View
	pull func() (lines.Line, error, bool)
	// ahead are lines that were looked at before their session was handed out.
	ahead []lines.Line
	bytes int
	skip  string // a session that was handed out and not walked to its end
	seen  map[string]bool
}

// pipeName stands where a file's name does in addresses.
const pipeName = "-"

// stream decodes as lines come: each message is handed out as soon as its last
// line is there.
func stream(ctx context.Context, r io.Reader, v formats.View, sel session.Selection) iter.Seq2[*session.Session, error] {
	return func(yield func(*session.Session, error) bool) {
		pull, stop := iter.Pull2(lines.Each(ctx, r, jsonl.MaxLine))
		defer stop()
		p := &pipe{view: v, pull: pull, seen: map[string]bool{}}
		for {
			s, err := p.session(ctx, sel)
			switch {
			case err != nil:
				yield(nil, jsonl.Failure(ctx, formatName, pipeName, err))
				return
			case s == nil:
				return
			case sel.Includes(s.ID) && !yield(s, nil):
				return
			}
		}
	}
}

// next is the next line; false behind the last.
func (p *pipe) next() (lines.Line, bool, error) {
	if len(p.ahead) > 0 {
		l := p.ahead[0]
		p.ahead = p.ahead[1:]
		p.bytes -= held(l)
		return l, true, nil
	}
	l, err, ok := p.pull()
	return l, ok && err == nil, err
}

const (
	// mostAhead is how much is looked at to know what a session is about.
	mostAhead = 4 << 20
	// lineSize is what a line takes besides its bytes.
	lineSize = 64
)

// held is what a line takes that is kept: a blank one, too, takes its place.
func held(l lines.Line) int { return len(l.Bytes) + lineSize }

// back puts a line in front of the others again.
func (p *pipe) back(l lines.Line) {
	l.Bytes = bytes.Clone(l.Bytes)
	p.ahead = append([]lines.Line{l}, p.ahead...)
	p.bytes += held(l)
}

// peek looks at lines until it knows which session comes, and what it is
// about. Most often that takes two. There is none if the kind is blank.
func (p *pipe) peek() (head event, about string, err error) {
	for i := 0; ; i++ {
		if i == len(p.ahead) {
			l, err, ok := p.pull()
			if !ok || err != nil {
				return head, about, err
			}
			l.Bytes = bytes.Clone(l.Bytes)
			p.ahead = append(p.ahead, l)
			p.bytes += held(l)
		}
		e := read(p.ahead[i])
		switch {
		case head.kind == blank && e.opens():
			head = e
		case e.opens() && e.session != nil && string(e.session) != string(head.session):
			return head, about, nil
		}
		switch {
		case e.kind == prompt:
			return head, title(e), nil
		case e.kind > initial, head.kind != blank && p.bytes > mostAhead:
			return head, about, nil
		case p.bytes > mostAhead:
			return head, about, errors.New("no session event in its first lines")
		}
	}
}

// session is the next one, nil behind the last.
func (p *pipe) session(ctx context.Context, sel session.Selection) (*session.Session, error) {
	if p.skip != "" {
		if err := p.walk(nil, p.skip); err != nil {
			return nil, err
		}
	}
	head, about, err := p.peek()
	if err != nil {
		return nil, err
	}
	if head.kind == blank {
		p.nothing(sel)
		return nil, nil
	}
	t := &thread{id: string(head.session), title: about}
	if head.kind == initial {
		t.runs = make([]run, 1)
		t.start(head)
	}
	if t.id == "" {
		t.id = unnamed(head)
	}
	s := &session.Session{Head: t.head(), Model: t.model}
	s.Head.Turns, s.Bytes = -1, -1
	if p.seen[t.id] {
		p.view.OnLoss.Add(loss.Loss{Code: loss.StreamSplit})
	}
	p.seen[t.id], p.skip = true, t.id
	s.Messages = func(yield func(*session.Message, error) bool) {
		if p.skip != t.id {
			return
		}
		b := newBuilder(pipeName, p.view.OnLoss, func(m *session.Message) bool { return yield(m, nil) })
		b.cwd = t.cwd
		defer func() { sel.Account.Add(b.tally) }()
		if err := p.walk(b, t.id); err != nil {
			yield(nil, jsonl.Failure(ctx, formatName, pipeName, err))
		}
	}
	return s, nil
}

// walk passes lines to a builder, up to the first of another session. Without a builder
// it skips them.
func (p *pipe) walk(b *builder, id string) error {
	for b == nil || !b.over {
		l, ok, err := p.next()
		if err != nil {
			return err
		}
		e := event{}
		if ok {
			e = read(l)
		}
		if !ok || e.stranger(id) {
			if ok {
				p.back(l)
			}
			if b != nil {
				b.finish()
			}
			p.skip = ""
			return nil
		}
		if b != nil {
			b.line(e)
		}
	}
	return nil
}

// stranger reports whether a line is another session's.
func (e *event) stranger(id string) bool {
	return e.opens() && e.session != nil && string(e.session) != id
}

// nothing accounts for lines behind which no session came.
func (p *pipe) nothing(sel session.Selection) {
	t := session.Account{}
	for _, l := range p.ahead {
		t.Read++
		if e := read(l); e.kind == blank {
			t.Converted++
		} else {
			t.Unreadable++
		}
	}
	if t.Unreadable > 0 {
		p.view.OnLoss.Add(loss.Loss{Code: loss.StreamEmpty})
	}
	sel.Account.Add(t)
}

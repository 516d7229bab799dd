package convert

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/canonical"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/formats/store"
)

// talk is a format of sessions in a file, a line for each thing that happens:
//
//	talk
//	session ID TITLE     begins a session
//	under PARENT ID      begins one that is a subagent
//	say TEXT             a message
//	role TEXT            a message of that role
//	file PATH            a snapshot
//	lose KIND            a loss, noted where it stands
//	bad                  this session cannot be read, the others can
//	break                the store cannot be read any further
//	forget               a record that is in no book
type listener struct{ onLine func(n int) }

func talk(h *listener) *formats.Format {
	if h == nil {
		h = &listener{}
	}
	return &formats.Format{
		Name:  "talk",
		Title: "talk",
		Probe: func(_ context.Context, l *formats.Location) (formats.Match, error) {
			if l.IsRegular() && bytes.HasPrefix(l.Head(), []byte("talk\n")) {
				return formats.Match{Score: 90, Evidence: []string{"it says so"}}, nil
			}
			return formats.Match{}, nil
		},
		Sessions: &formats.Sessions{
			Decode: func(ctx context.Context, l *formats.Location, v formats.View, sel session.Selection) iter.Seq2[*session.Session, error] {
				return func(yield func(*session.Session, error) bool) {
					f, err := os.Open(l.Path)
					if err != nil {
						yield(nil, err)
						return
					}
					defer f.Close()
					d := &talked{ctx: ctx, in: bufio.NewScanner(f), v: v, h: h, sel: sel}
					d.in.Buffer(nil, 1<<20)
					d.run(yield)
					sel.Account.Add(d.tally)
				}
			},
		},
	}
}

// putter is a sink as a function.
type putter func(context.Context, *session.Session, formats.SessionBuild) (*formats.Draft, error)

func (p putter) Put(ctx context.Context, s *session.Session, b formats.SessionBuild) (*formats.Draft, error) {
	return p(ctx, s, b)
}

// putting replaces the sinks of a format by one that can call those that it has.
func putting(to *formats.Format, put func(ctx context.Context, s *session.Session, b formats.SessionBuild, own formats.Sink) (*formats.Draft, error)) {
	fresh := to.Writer.New
	to.Writer.New = func() formats.Sink {
		own := fresh()
		return putter(func(ctx context.Context, s *session.Session, b formats.SessionBuild) (*formats.Draft, error) {
			return put(ctx, s, b, own)
		})
	}
}

// verifying replaces how a format verifies its drafts.
func verifying(to *formats.Format, verify func(path string) error) {
	putting(to, func(ctx context.Context, s *session.Session, b formats.SessionBuild, own formats.Sink) (*formats.Draft, error) {
		d, err := own.Put(ctx, s, b)
		if d != nil {
			d.Verify = func(context.Context) error { return verify(b.Path) }
		}
		return d, err
	})
}

type talked struct {
	ctx   context.Context
	in    *bufio.Scanner
	v     formats.View
	h     *listener
	sel   session.Selection
	n     int
	word  string
	rest  string
	held  bool
	tally session.Account
}

func (d *talked) next() bool {
	if d.held {
		d.held = false
		return true
	}
	for d.in.Scan() {
		d.n++
		if d.h.onLine != nil {
			d.h.onLine(d.n)
		}
		d.word, d.rest, _ = strings.Cut(d.in.Text(), " ")
		d.tally.Read++
		switch d.word {
		case "forget":
			continue
		case "lose":
			code := map[string]loss.Code{"reshaped": loss.ToolRenamed, "inferred": loss.TimeUnknown, "missing": loss.MediaMissing, "dropped": loss.FileNotPart, "unreadable": loss.LineNotObject}[d.rest]
			d.tally.Converted++
			d.v.OnLoss(loss.Loss{Code: code, At: store.Addr{Line: d.n}})
			continue
		}
		d.tally.Converted++
		return true
	}
	return false
}

func (d *talked) run(yield func(*session.Session, error) bool) {
	d.next() // the header
	for d.next() {
		switch d.word {
		case "break":
			yield(nil, &formats.Error{Format: "talk", At: fmt.Sprint("line ", d.n), Err: errors.New("malformed page")})
			return
		case "bad":
			if !yield(&session.Session{Head: session.Head{ID: d.rest, Agent: "talk"}}, errors.New("its root is missing")) {
				return
			}
			continue
		}
		id, title, _ := strings.Cut(d.rest, " ")
		s := &session.Session{Head: session.Head{ID: id, Agent: "talk", Title: title}}
		if d.word == "under" {
			s.ID, s.Title, s.Parent = title, "", &session.Link{Session: id}
		}
		s.Messages = d.messages
		s.Files = func(yield func(*session.File, error) bool) {
			for d.next() {
				if d.word != "file" {
					d.held = true
					return
				}
				if !yield(&session.File{Path: d.rest, After: &session.Body{}}, nil) {
					return
				}
			}
		}
		if d.sel.Includes(s.ID) && !yield(s, nil) {
			return
		}
		for d.next() { // what was not walked
			if d.begins() {
				d.held = true
				break
			}
		}
	}
}

func (d *talked) begins() bool { return strings.Contains(" session under bad break ", " "+d.word+" ") }

func (d *talked) messages(yield func(*session.Message, error) bool) {
	for i := 1; d.next(); i++ {
		if d.begins() || d.word == "file" {
			d.held = true
			return
		}
		m := &session.Message{ID: fmt.Sprint("m", i), Role: session.User, Parts: []session.Part{&session.Text{Text: d.rest}}}
		if i%2 == 1 {
			m.Turn = &session.Turn{Number: (i + 1) / 2}
		}
		if d.word != "say" {
			m.Role = session.Role(d.word)
		}
		if !yield(m, nil) {
			return
		}
	}
}

// talkers is a registry of talk, canonical, and the fakes of the exact lane, of
// which left can be decoded, too: each of its rows is a message.
func talkers(h *listener) *formats.Registry {
	left := fake("left", false, nil)
	left.Sessions = &formats.Sessions{Decode: func(_ context.Context, l *formats.Location, v formats.View, sel session.Selection) iter.Seq2[*session.Session, error] {
		return func(yield func(*session.Session, error) bool) {
			r, err := openFake(l.Path, "left", v, &faults{})
			if err != nil {
				yield(nil, err)
				return
			}
			s := &session.Session{Head: session.Head{ID: "left", Agent: "left"}}
			s.Messages = func(yield func(*session.Message, error) bool) {
				for _, row := range r.rows {
					sel.Account.Add(session.Account{Read: 1, Converted: 1})
					if !yield(&session.Message{ID: fmt.Sprint(row.id), Role: session.User, Parts: []session.Part{&session.Text{Text: row.value}}}, nil) {
						return
					}
				}
			}
			yield(s, nil)
		}
	}}
	return formats.NewRegistry(canonical.Format(), talk(h), fake("right", true, nil), left, fake("mute", false, nil))
}

func convertTalk(t *testing.T, text string, o Options) (rep *Report, dst string, err error) {
	t.Helper()
	dir := t.TempDir()
	src := write(t, dir+"/talk.txt", "talk\n"+text)
	dst = dir + "/out"
	if o.To == "" {
		o.To = "canonical"
	}
	rep, err = Convert(t.Context(), talkers(nil), src, dst, o)
	return rep, dst, err
}

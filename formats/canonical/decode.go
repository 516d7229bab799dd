package canonical

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"slices"

	"rehome/formats"
	"rehome/formats/internal/lines"
	"rehome/formats/internal/rawjson"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/formats/store"
)

// decode yields the sessions of a file or folder.
func decode(ctx context.Context, l *formats.Location, v formats.View, sel session.Selection) iter.Seq2[*session.Session, error] {
	return func(yield func(*session.Session, error) bool) {
		d := &decoder{ctx: ctx, view: v, sel: sel, yield: yield}
		defer func() {
			d.tally.Members, d.tally.MembersConverted, d.tally.MembersRaw = d.members, d.taken, d.extras
			sel.Account.Add(d.tally)
		}()
		d.all(l)
	}
}

type decoder struct {
	parser
	ctx   context.Context
	view  formats.View
	sel   session.Selection
	yield func(*session.Session, error) bool
	tally session.Account

	headsOnly bool // what is between the heads is only measured

	file  string                           // slash path below the store; "" if the store is the file
	lines func() (lines.Line, error, bool) // the next one
	at    int                              // number of the line at hand, from 1
	kind  string                           // its type
	line  []byte                           // itself; valid until the next one
	from  int64                            // where it begins,
	upto  int64                            // and the next one
	held  bool                             // it was looked at and is still to be read
	err   error                            // what ends the stream
}

func (d *decoder) all(l *formats.Location) {
	if !l.IsDir() {
		f, err := os.Open(l.Path)
		if err != nil {
			d.yield(nil, d.fail(l.Path, err))
			return
		}
		d.one(l.Path, f)
		return
	}
	root, err := os.OpenRoot(l.Path)
	if err != nil {
		d.yield(nil, d.fail(l.Path, err))
		return
	}
	defer root.Close()
	files, err := arrange(root, d.strange)
	if err != nil {
		d.yield(nil, d.fail(l.Path, err))
		return
	}
	if len(files) == 0 {
		d.yield(nil, d.fail(l.Path, nothing()))
	}
	for _, name := range files {
		f, err := root.Open(name)
		d.file = name
		if err != nil {
			s := &session.Session{Head: session.Head{ID: name, Turns: -1, Bytes: -1}}
			if !d.yield(s, d.fail(l.Path+"/"+name, err)) {
				return
			}
			continue
		}
		if !d.one(l.Path+"/"+name, f) {
			return
		}
	}
}

// strange notes what lies in a folder of sessions and is none.
func (d *decoder) strange(path string) {
	d.note(loss.Loss{Code: loss.FileNotSessions, At: store.Addr{File: path}})
}

func (d *decoder) note(n loss.Loss) { d.view.OnLoss.Add(n) }

func (d *decoder) fail(path string, err error) error {
	return &formats.Error{Format: name, At: path, Err: formats.Cause(err)}
}

// one reads a file and reports whether the next one is wanted.
func (d *decoder) one(path string, f *os.File) bool {
	defer f.Close()
	before, err := f.Stat()
	if err != nil {
		return d.yield(nil, d.fail(path, err)) && false
	}
	next, stop := iter.Pull2(lines.Each(d.ctx, f, maxLine))
	defer stop()
	d.lines, d.held, d.err, d.kind = next, false, nil, ""
	more := d.sessions(path)
	if d.err == nil && more && !d.headsOnly {
		if after, err := f.Stat(); err != nil || after.Size() != before.Size() || !after.ModTime().Equal(before.ModTime()) {
			d.err = &formats.Error{Err: fmt.Errorf("%w: it changed while it was read", formats.ErrBusy), Hint: "stop the program that writes to it and try again"}
		}
	}
	if d.err != nil && more {
		d.yield(nil, d.fail(path, d.err))
		return false
	}
	return more
}

// sessions reports whether the consumer wants more. Where it does not, there
// may be nothing wrong.
func (d *decoder) sessions(path string) bool {
	any := false
	for d.next() {
		if d.kind != "session" {
			if !any {
				d.err = &formats.Error{Err: errors.New("not a canonical file: its first line is not the head of a session"), Hint: "run `rehome detect` on it to see what it is"}
				return true
			}
			d.bad(loss.LineMisplaced)
			continue
		}
		any = true
		if !d.session(path) {
			return false
		}
	}
	if !any && d.err == nil {
		d.err = nothing()
	}
	return true
}

func nothing() error {
	return &formats.Error{Err: errors.New("no sessions found"), Hint: "run `rehome detect` on it to see what it is"}
}

// session yields the one whose head is at hand.
func (d *decoder) session(path string) bool {
	was := d.counts
	s, err := d.head(slices.Clone(d.line)) // what is kept of it outlives its line
	if d.headsOnly {
		return d.measure(s, path, err)
	}
	if !d.sel.Includes(s.ID) {
		d.counts = was
		d.skip()
		return true
	}
	d.tally.Read++
	if err != nil {
		d.counts = was
		d.bad(loss.LineInvalid, err.Error())
		more := d.yield(s, d.strangeHead(path, d.at, err))
		d.skip()
		return more
	}
	d.tally.Converted++
	walked, filed := false, false
	s.Messages = func(yield func(*session.Message, error) bool) {
		if !walked {
			walked = true
			stream(d, "message", d.message, yield)
		}
	}
	s.Files = func(yield func(*session.File, error) bool) {
		if !filed {
			walked, filed = true, true
			stream(d, "file", d.parser.file, yield)
		}
	}
	more := d.yield(s, nil)
	if more && walked && !filed && d.held {
		for range s.Files { // nobody asked for them; what stands among them is said
		}
	}
	d.skip()
	return more
}

func (d *decoder) strangeHead(path string, line int, err error) error {
	return &formats.Error{Format: name, At: fmt.Sprintf("%s:%d", path, line), Err: err, Hint: "try a newer version of rehome"}
}

// measure yields a head when it is known where its session ends.
func (d *decoder) measure(s *session.Session, path string, err error) bool {
	if err != nil {
		err = d.strangeHead(path, d.at, err)
	}
	from := d.from
	if d.skip(); d.held {
		s.Bytes = d.from - from
	} else {
		s.Bytes = d.upto - from
	}
	return d.yield(s, err)
}

// stream yields the lines of one kind, as far as they follow each other.
func stream[T any](d *decoder, kind string, parse func([]byte) (*T, error), yield func(*T, error) bool) {
	for d.next() {
		if d.kind != kind {
			if d.kind == "session" || d.kind == "file" {
				d.held = true
				return
			}
			d.tally.Read++
			d.bad(loss.LineMisplaced)
			continue
		}
		d.tally.Read++
		was := d.counts
		one, err := parse(d.line)
		if err != nil {
			d.counts = was
			d.bad(loss.LineInvalid, err.Error())
			continue
		}
		d.tally.Converted++
		if !yield(one, nil) {
			return
		}
	}
	if d.err != nil {
		yield(nil, d.err)
	}
}

// bad notes the line at hand as lost. It has been counted as read.
func (d *decoder) bad(code loss.Code, args ...string) {
	d.tally.Unreadable++
	d.note(loss.Loss{Code: code, At: store.Addr{File: d.file, Line: d.at}, Args: args})
}

// skip goes on to the next head without a look at what is in between.
func (d *decoder) skip() {
	for d.next() {
		if d.kind == "session" {
			d.held = true
			return
		}
	}
}

// next brings the next line that is a JSON object; false at the end.
func (d *decoder) next() bool {
	if d.held {
		d.held = false
		return true
	}
	for d.err == nil {
		l, err, ok := d.lines()
		if !ok || err != nil {
			d.err = err
			return false
		}
		d.at, d.from, d.upto = l.Number, l.Offset, l.Offset+int64(len(l.Bytes))+1
		line := bytes.TrimSuffix(l.Bytes, []byte("\r"))
		if len(line) == 0 {
			continue // nothing stands in it, nothing is lost
		}
		if l.Long {
			d.lost(loss.LineTooLong, "128 MB")
			continue
		}
		if d.headsOnly && d.kind == "session" && kindOf(line) != "session" {
			continue
		}
		fit, repaired, err := rawjson.Line(line)
		switch {
		case err != nil && !l.Ended:
			d.lost(loss.LineTorn)
			continue
		case err != nil || !isObject(fit):
			d.lost(loss.LineNotObject)
			continue
		case repaired:
			d.note(loss.Loss{Code: loss.LineInvalidUTF8, At: store.Addr{File: d.file, Line: d.at}})
		}
		d.line, d.kind = fit, kindOf(fit)
		return true
	}
	return false
}

func (d *decoder) lost(code loss.Code, args ...string) {
	d.tally.Read++
	d.bad(code, args...)
}

// kindOf is the type of a line. It stands first in all lines of ours.
func kindOf(line []byte) string {
	switch kind := first(line, "type"); string(kind) {
	case `"message"`:
		return "message"
	case `"session"`:
		return "session"
	case `"file"`:
		return "file"
	default:
		return rawjson.Text(kind)
	}
}

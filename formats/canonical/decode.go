package canonical

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"rehome/formats"
	"rehome/formats/internal/jsonl"
	"rehome/formats/internal/lines"
	"rehome/formats/loss"
	"rehome/formats/rule"
	"rehome/formats/session"
	"rehome/formats/store"
	"rehome/internal/rawjson"
)

// decode yields the sessions of a file or folder.
func decode(ctx context.Context, l *formats.Location, v formats.View, sel session.Selection) iter.Seq2[*session.Session, error] {
	return func(yield func(*session.Session, error) bool) {
		d := &decoder{ctx: ctx, view: v, sel: sel, yield: yield}
		defer func() {
			d.remark()
			d.account.Members, d.account.MembersConverted, d.account.MembersRaw = d.members, d.taken, d.extras
			sel.Account.Add(d.account)
		}()
		d.all(l)
	}
}

// decoder decodes the files of a store, one after another.
type decoder struct {
	parser
	ctx     context.Context
	view    formats.View
	sel     session.Selection
	yield   func(*session.Session, error) bool
	account session.Account

	headsOnly bool                              // yield sessions without messages, but with their size
	unwanted  bool                              // the session at hand is skipped
	scan      func(session string, line []byte) // with headsOnly: called with the lines of sessions; can be nil
	id        string                            // with scan: of the session at hand

	ignored []string                         // files that end in oldSidecar
	file    string                           // slash path below the store; "" if the store is the file
	lines   func() (lines.Line, error, bool) // returns the next one
	line    jsonl.Line                       // the current one; its bytes are valid until the next
	kind    string                           // its type
	pending bool                             // it is the next one, too: it was only looked at
	err     error                            // ends the stream
}

func (d *decoder) all(l *formats.Location) {
	if !l.IsDir() {
		f, err := os.Open(l.Path)
		if err != nil {
			d.yield(nil, d.fail(l.Path, err))
			return
		}
		if info, err := os.Stat(l.Path + formats.SidecarSuffix); err == nil && info.Mode().IsRegular() {
			d.ignored = []string{filepath.Base(l.Path) + formats.SidecarSuffix}
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
	files, err := arrange(root, func(path string) {
		if strings.HasSuffix(path, oldSidecar) {
			d.ignored = append(d.ignored, path)
			return
		}
		d.view.OnLoss.Add(loss.Loss{Code: loss.FileNotSessions, At: store.Addr{File: path}})
	})
	if err == nil && len(files) == 0 {
		err = unrecognized(noSessions)
	}
	if err != nil {
		d.yield(nil, d.fail(l.Path, err))
		return
	}
	for _, name := range files {
		d.file = name
		f, err := root.Open(name)
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

// remark says which files are ignored.
func (d *decoder) remark() {
	if n := len(d.ignored); n > 0 && !d.headsOnly {
		d.view.OnNotice(fmt.Sprintf("%v ignored (%s): only unreleased builds wrote sidecars of canonical text", rule.Count(int64(n), "file"), enumerate(d.ignored)))
	}
}

// maxNamed is how many files a remark names.
const maxNamed = 3

func enumerate(names []string) string {
	out := strings.Join(names[:min(len(names), maxNamed)], ", ")
	if more := len(names) - maxNamed; more > 0 {
		out += fmt.Sprintf(" and %d more", more)
	}
	return out
}

func (d *decoder) fail(path string, err error) error { return jsonl.Failure(d.ctx, name, path, err) }

// one reads a file and reports whether the next one is wanted.
func (d *decoder) one(path string, f *os.File) bool {
	defer f.Close()
	before, err := f.Stat()
	if err != nil {
		return d.yield(nil, d.fail(path, err)) && false
	}
	next, stop := iter.Pull2(lines.Each(d.ctx, f, maxLine))
	defer stop()
	d.lines, d.pending, d.err, d.kind = next, false, nil, ""
	more := d.sessions(path)
	if d.err == nil && more && !d.headsOnly {
		if after, err := f.Stat(); err != nil || after.Size() != before.Size() || !after.ModTime().Equal(before.ModTime()) {
			d.err = formats.Changed("", "")
		}
	}
	if d.err != nil && more {
		d.yield(nil, d.fail(path, d.err))
		return false
	}
	return more
}

// unrecognized returns the error of text that is not canonical.
func unrecognized(what string) error {
	return &formats.Error{Err: errors.New(what), Hint: "run `rehome ls` on it to see what it holds"}
}

const noSessions = "no sessions found"

// sessions yields the sessions of a file and reports whether the consumer wants more.
func (d *decoder) sessions(path string) bool {
	found := false
	for d.next() {
		switch {
		case d.kind == "session":
			found = true
			if d.err = d.ctx.Err(); d.err != nil {
				return true
			}
			if !d.session(path) {
				return false
			}
		case !found:
			d.err = unrecognized("not a canonical file: its first line is not the head of a session")
			return true
		default:
			d.bad(loss.LineMisplaced)
		}
	}
	if !found && d.err == nil {
		d.err = unrecognized(noSessions)
	}
	return true
}

// session yields the session whose head is the current line.
func (d *decoder) session(path string) bool {
	was := d.counts
	s, err := d.head(slices.Clone(d.line.Object)) // the session outlives the line
	if err != nil {
		at := fmt.Sprintf("%s:%d", path, d.line.Number)
		err = &formats.Error{Format: name, At: at, Err: err, Hint: "try a newer version of rehome"}
	}
	if d.headsOnly {
		d.id = s.ID
		return d.measure(s, err)
	}
	if !d.sel.Includes(s.ID) {
		d.counts = was
		d.unwanted = true
		d.skip()
		d.unwanted = false
		return true
	}
	d.account.Read++
	if err != nil {
		d.counts = was
		d.bad(loss.LineInvalid, errors.Unwrap(err).Error())
		more := d.yield(s, err)
		d.skip()
		return more
	}
	d.account.Converted++
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
	if more && walked && !filed && d.pending {
		for range s.Files { // reports misplaced lines, although the consumer wants no files
		}
	}
	d.skip()
	return more
}

// measure yields a session when its size is known.
func (d *decoder) measure(s *session.Session, err error) bool {
	from := d.line.Offset
	d.skip()
	if s.Bytes = d.line.Offset - from; !d.pending {
		s.Bytes += int64(len(d.line.Bytes)) + 1
	}
	return d.yield(s, err)
}

// stream yields the consecutive lines of one type.
func stream[T any](d *decoder, kind string, parse func([]byte) (*T, error), yield func(*T, error) bool) {
	for d.next() {
		if d.kind == "session" || d.kind == "file" && kind != "file" {
			d.pending = true
			return
		}
		d.account.Read++
		if d.kind != kind {
			d.bad(loss.LineMisplaced)
			continue
		}
		was := d.counts
		one, err := parse(d.line.Object)
		if err != nil {
			d.counts = was
			d.bad(loss.LineInvalid, err.Error())
			continue
		}
		d.account.Converted++
		if !yield(one, nil) {
			return
		}
	}
	if d.err != nil {
		yield(nil, d.err)
	}
}

// bad reports the current line, which was counted as read, as unreadable.
func (d *decoder) bad(code loss.Code, args ...string) {
	d.account.Unreadable++
	d.view.OnLoss.Add(loss.Loss{Code: code, At: store.Addr{File: d.file, Line: d.line.Number}, Args: args})
}

// skip moves to the next head.
func (d *decoder) skip() {
	for d.next() {
		if d.kind == "session" {
			d.pending = true
			return
		}
	}
}

// next moves to the next line that is a JSON object, and returns false at the end.
func (d *decoder) next() bool {
	if d.pending {
		d.pending = false
		return true
	}
	for d.err == nil {
		l, err, ok := d.lines()
		if !ok || err != nil {
			d.err = err
			return false
		}
		if (d.headsOnly || d.unwanted) && d.kind == "session" && kindOf(l.Bytes) != "session" {
			d.line.Line = l
			if d.scan != nil {
				d.scan(d.id, l.Bytes)
			}
			continue // need not be valid
		}
		switch d.line = jsonl.Parse(l); {
		case l.Long:
			d.account.Read++
			d.bad(loss.LineTooLong, fmt.Sprintf("%d MB", maxLine>>20))
			continue
		case d.line.Bad != "":
			d.account.Read++
			d.bad(d.line.Bad)
			continue
		case d.line.Object == nil:
			continue
		case d.line.Repaired:
			d.view.OnLoss.Add(loss.Loss{Code: loss.LineInvalidUTF8, At: store.Addr{File: d.file, Line: l.Number}})
		}
		d.kind = kindOf(d.line.Object)
		return true
	}
	return false
}

// kindOf returns the type of a line.
func kindOf(line []byte) string { return rawjson.Text(first(line, "type")) }

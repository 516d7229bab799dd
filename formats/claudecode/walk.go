package claudecode

import (
	"bytes"
	"io"
	"iter"

	"rehome/formats/internal/rawjson"
	"rehome/formats/loss"
	"rehome/formats/session"
)

// line reads a line of the file again.
func (r *reading) line(i int) (line []byte, repaired bool, err error) {
	o := &r.survey.lines[i]
	b := make([]byte, o.size)
	if _, err := r.f.ReadAt(b, o.offset); err != nil && err != io.EOF {
		return nil, false, err
	}
	return rawjson.Line(bytes.TrimSuffix(b, []byte("\r")))
}

// messages walks a thread: its live branch in the order of the file, then the
// others. whole: the lines that belong to no thread come with it.
func (r *reading) messages(in func(*outline) bool, whole bool) iter.Seq2[*session.Message, error] {
	walked := false
	return func(yield func(*session.Message, error) bool) {
		if walked {
			return
		}
		walked = true
		w := &walker{reading: r, yield: yield, calls: r.callers()}
		defer func() { r.sel.Books.Add(w.tally) }()
		if whole && r.survey.healed > 0 {
			r.note(loss.Missing, 0, "a line hangs on one that is not there; the line in front stands in")
		}
		last := int32(-1)
		for i := range r.survey.lines {
			o := &r.survey.lines[i]
			if !r.concerns(o, in, whole) {
				continue
			}
			last = max(last, o.branch)
			if !w.take(i) {
				return
			}
		}
		if !w.flush() {
			return
		}
		for b := int32(0); b <= last && r.sel.History; b++ {
			w.branch = branchName(b)
			for i := range r.survey.lines {
				if o := &r.survey.lines[i]; o.branch == b && in(o) && !w.read(i) {
					return
				}
			}
			if !w.flush() {
				return
			}
		}
	}
}

// concerns reports a line of this thread, or of none where those come with it.
func (r *reading) concerns(o *outline, in func(*outline) bool, whole bool) bool {
	if o.kind < user || o.branch == aside {
		return whole && o.kind != blanks
	}
	return in(o)
}

// callers are the subagents by the calls that started them.
func (r *reading) callers() map[string]string {
	out := map[string]string{}
	for call, id := range r.survey.calls {
		out[call] = id
	}
	for _, kid := range r.kids {
		if kid.call != "" {
			out[kid.call] = kid.id
		}
	}
	return out
}

// walker makes messages of lines.
type walker struct {
	*reading
	yield    func(*session.Message, error) bool
	tally    session.Tally
	calls    map[string]string
	held     *session.Message // that the next line may be part of
	response uint64           // of held, if it is the model's
	branch   string
	turn     int
	archived int // messages so far
}

// take counts a line and reads it, if it is of the live branch or of none.
func (w *walker) take(i int) bool {
	o := &w.survey.lines[i]
	switch {
	case o.kind == broken:
		w.tally.Read++
		w.tally.Unreadable++
		what := "a line that is no JSON object"
		if i == len(w.survey.lines)-1 && w.survey.torn {
			what = "the last line breaks off"
		}
		w.note(loss.Unreadable, i, what)
		return true
	case o.branch == dropped:
		w.tally.Read++
		w.tally.Superseded++
		w.note(loss.Dropped, i, "a later line has the uuid of this one: the client reads only that")
		return true
	case o.branch >= 0:
		if w.sel.History {
			return true // its turn comes
		}
		w.tally.Read++
		w.tally.Superseded++
		return true
	}
	return w.read(i)
}

// read makes messages of a line.
func (w *walker) read(i int) bool {
	if err := w.ctx.Err(); err != nil {
		w.yield(nil, err)
		return false
	}
	line, repaired, err := w.line(i)
	if err != nil {
		w.yield(nil, failure(w.ctx, w.at(i).String(), err))
		return false
	}
	if repaired {
		w.note(loss.Unreadable, i, "bytes that are no UTF-8")
	}
	w.tally.Read++
	return w.say(i, line)
}

// put hands out a message, after the one that is held.
func (w *walker) put(m *session.Message) bool {
	if !w.flush() {
		return false
	}
	return w.give(m)
}

func (w *walker) give(m *session.Message) bool {
	if m.Archived {
		w.archived++
	}
	for _, p := range m.Parts {
		if b, ok := p.(*session.Boundary); ok {
			b.Archived = w.archived
		}
	}
	m.Branch = w.branch
	return w.yield(m, nil)
}

func (w *walker) flush() bool {
	m := w.held
	w.held, w.response = nil, 0
	return m == nil || w.give(m)
}

// hold keeps a message for what the next line adds.
func (w *walker) hold(m *session.Message, response uint64) bool {
	if !w.flush() {
		return false
	}
	w.held, w.response = m, response
	return true
}

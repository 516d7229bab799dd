package read

import (
	"bytes"
	"io"
	"iter"

	"rehome/formats/claudecode/internal/outline"
	"rehome/formats/claudecode/internal/shape"
	"rehome/formats/internal/members"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/internal/rawjson"
)

// line reads a line of the file again.
func (r *reading) line(i int) (line []byte, repaired bool, err error) {
	o := &r.tree.Lines[i]
	if r.text != nil && o.Exact {
		return bytes.TrimSuffix(r.text[o.Offset:][:o.Size], []byte("\r")), false, nil
	}
	b := make([]byte, o.Size)
	if _, err := r.f.ReadAt(b, o.Offset); err != nil && err != io.EOF {
		return nil, false, err
	}
	return rawjson.Line(bytes.TrimSuffix(b, []byte("\r")))
}

// messages yields the messages of a thread: the live branch in file order, then the
// others. Lines outside of the conversation are part of the session's own thread.
func (r *reading) messages(thread int32) iter.Seq2[*session.Message, error] {
	walked := false
	return func(yield func(*session.Message, error) bool) {
		if walked {
			return
		}
		walked = true
		w := &walker{reading: r, yield: yield, at: outline.Live}
		defer func() { r.sel.Account.Add(w.account) }()
		if thread == 0 && r.tree.Healed > 0 {
			r.note(loss.ParentMissing, 0)
		}
		if thread == 0 && r.tree.Unlinked > 0 {
			r.note(loss.ParentsUnknown, 0)
		}
		for _, i := range r.tree.LinesOf(thread) {
			if !w.take(int(i)) {
				return
			}
		}
		w.flush()
	}
}

// callers returns the subagents by the calls that started them.
func (r *reading) callers() map[string]string {
	for _, kid := range r.Kids {
		if kid.Link.Call != "" {
			r.tree.Calls[kid.Link.Call] = kid.ID
		}
	}
	return r.tree.Calls
}

// walker converts lines to messages.
type walker struct {
	*reading
	yield    func(*session.Message, error) bool
	account  session.Account
	held     *session.Message // a boundary, which its summary may follow
	at       int32            // the current branch
	branch   string           // its name
	turn     int
	archived int // number of archived messages so far

	entry, inner, block members.Object // of the current line, its message, and a block
}

// take accounts for a line, and converts it unless its branch is not selected; false
// if the caller stopped.
func (w *walker) take(i int) bool {
	o := &w.tree.Lines[i]
	if o.Branch >= 0 && o.Branch != w.at {
		if w.at, w.branch = o.Branch, branchName(o.Branch); !w.flush() {
			return false
		}
		if !w.sel.History {
			w.note(loss.BranchSkipped, i)
		}
	}
	switch {
	case o.Kind == shape.Broken:
		w.account.Read++
		w.account.Unreadable++
		code := loss.LineNotObject
		if i == len(w.tree.Lines)-1 && w.tree.Torn {
			code = loss.LineTorn
		}
		w.note(code, i)
	case o.Branch == outline.Dropped:
		w.account.Read++
		w.account.Unreadable++
		w.note(loss.DuplicateUUID, i)
	case o.Branch >= 0 && !w.sel.History:
		w.account.Read++
		w.account.Unreadable++
	case o.Head != int32(i): // read with the first line of its response
	default:
		line, ok := w.read(i)
		return ok && w.say(i, line)
	}
	if err := w.ctx.Err(); err != nil {
		w.yield(nil, err)
		return false
	}
	return true
}

// read reads a line again and accounts for it; false on an error.
func (w *walker) read(i int) (line []byte, ok bool) {
	if err := w.ctx.Err(); err != nil {
		w.yield(nil, err)
		return nil, false
	}
	line, repaired, err := w.line(i)
	if err != nil {
		w.yield(nil, outline.Failure(w.ctx, w.addr(i).String(), err))
		return nil, false
	}
	if repaired {
		w.note(loss.LineInvalidUTF8, i)
	}
	w.account.Read++
	return line, true
}

// put yields a message, after the held one.
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
	w.sel.Account.Add(w.account) // the caller may stop here, or decoding may be ahead of it
	w.account = session.Account{}
	return w.yield(m, nil)
}

func (w *walker) flush() bool {
	m := w.held
	w.held = nil
	return m == nil || w.give(m)
}

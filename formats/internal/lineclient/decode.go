package lineclient

import (
	"context"
	"iter"
	"slices"

	"rehome/formats"
	"rehome/formats/internal/jsonl"
	"rehome/formats/internal/members"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/formats/store"
	"rehome/internal/rawjson"
)

func (c *Client) decode(ctx context.Context, l *formats.Location, v formats.View, sel session.Selection) iter.Seq2[*session.Session, error] {
	y := c.layout()
	if c.Layout == nil && c.Beside == nil { // the others are what the client keeps there
		y.OnNotice, y.Noun = v.OnNotice, "sessions"
	}
	y.Order = func(s *jsonl.Store, files []*jsonl.File) []*jsonl.File {
		return c.families(s, slices.DeleteFunc(slices.Clone(files), func(f *jsonl.File) bool { return !sel.Includes(f.ID) && !c.inner(f, sel) }))
	}
	return jsonl.Each(ctx, l, y, func(s *jsonl.Store, f *jsonl.File, yield func(*session.Session, error) bool) bool {
		in := c.input(ctx, s, f, v.Cwd)
		in.View, in.Sel = v, sel
		switch {
		case in.Err != nil:
			return yield(&session.Session{Head: in.Head}, in.Err)
		case in.Prompted:
			v.OnLoss.Add(loss.Loss{Code: loss.TitleFromPrompt, At: store.Addr{File: f.Name}})
		}
		if c.Decode != nil {
			return yield(c.Decode(in))
		}
		d := &decoder{outline: newOutline(c), ctx: ctx, src: c.source(s, f, in.Head.Bytes, v), view: v, sel: sel}
		one, err := d.session(&session.Session{Head: in.Head})
		inner, wanted := one.Children, sel.Includes(f.ID)
		for _, kid := range f.Kids {
			one.Children = append(one.Children, session.Link{Session: kid.ID})
		}
		if wanted && !yield(one, err) {
			return false
		}
		return d.kids(&in.Head, inner, wanted, yield)
	})
}

// decoder reads a session.
type decoder struct {
	*outline
	ctx  context.Context
	src  Source
	view formats.View
	sel  session.Selection

	yield   func(*session.Message, error) bool
	over    bool // nobody wants more
	account session.Account
	gone    int      // archived messages since the last boundary
	found   []string // the origins of lines that the message at hand refers to
}

// Read reads a session whose head is known: all of it once, before it returns, and again as its
// messages are read.
func (c *Client) Read(ctx context.Context, src Source, h session.Head, v formats.View, sel session.Selection) (*session.Session, error) {
	d := &decoder{outline: newOutline(c), ctx: ctx, src: src, view: v, sel: sel}
	return d.session(&session.Session{Head: h})
}

// session makes the first pass.
func (d *decoder) session(s *session.Session) (*session.Session, error) {
	d.agents.session = s.ID
	headed := false
	if err := d.each(func(r *Record) error {
		if r.Object != nil && r.Kind == d.c.Head.Kind && !headed {
			headed = true
			r.Drop(d.c.Head.ID, d.c.Head.Created, d.c.Head.Cwd)
			s.Extras = r.rest()
		}
		if d.take(r); d.agent != "" && r.Time.Known() && d.last >= 0 && d.entries[d.last].offset == r.Offset {
			if s.Updated = r.Time; !s.Created.Known() {
				s.Created = r.Time
			}
		}
		return nil
	}); err != nil {
		return s, err
	}
	if d.arrange() {
		if err := d.retell(); err != nil {
			return s, err
		}
	}
	if d.agent != "" {
		s.Extras = nil // of the session
	}
	s.Extras, s.Children = append(s.Extras, d.settings...), d.agents.children()
	s.Head.Turns = 0
	for _, i := range d.path {
		if d.entries[i].is&prompt != 0 {
			s.Head.Turns++
			if t := d.turns[d.entries[i].turn-1]; t.Model != "" {
				s.Model = t.Model
			}
		}
	}
	if d.sel.History {
		var err error
		if s.Branches, err = d.listed(); err != nil {
			return s, err
		}
	}
	s.Messages = func(yield func(*session.Message, error) bool) {
		d.yield, d.gone = yield, 0
		defer func() { d.sel.Account.Add(d.account) }()
		if err := d.messages(); err != nil && !d.over {
			yield(nil, jsonl.Failure(d.ctx, d.c.Name, d.src.At(), err))
		}
	}
	return s, nil
}

func (d *decoder) lose(code loss.Code, at store.Addr) {
	d.view.OnLoss.Add(loss.Loss{Code: code, At: at})
}

// each reads the lines of the first pass.
func (d *decoder) each(take func(*Record) error) error {
	for l, err := range d.src.Each(d.ctx) {
		if err != nil {
			return err
		}
		if err := take(d.c.parse(l)); err != nil {
			return err
		}
	}
	return nil
}

// retell tells turns of the lines in the order of their branches.
func (d *decoder) retell() error {
	if d.forget(); !d.straight {
		return d.reading(func() error {
			for _, i := range d.path {
				r, err := d.line(i)
				if err != nil {
					return err
				}
				d.tell(i, d.up(i), r)
			}
			return d.tellLeft()
		})
	}
	n := int32(-1)
	return d.each(func(r *Record) error {
		if n++; int(n) >= len(d.entries) {
			return formats.Changed(d.c.Name, d.src.At())
		}
		if d.entries[n].is&chained == 0 {
			return nil
		}
		up := d.up(n)
		if on := up >= 0 && d.entries[up].branch == live && d.entries[n].branch > live && d.entries[n].is&prompt == 0; on {
			up = -1 // it says nothing of a live turn
		} else if up > n {
			up = -1
		}
		d.tell(n, up, r)
		return nil
	})
}

// tellLeft is retell for the branches that were left, where lines come before their parents.
func (d *decoder) tellLeft() error {
	for _, b := range d.left {
		for _, i := range b.lines {
			if d.entries[i].branch == live {
				continue
			}
			r, err := d.line(i)
			if err != nil {
				return err
			}
			d.tell(i, -1, r)
		}
	}
	return nil
}

// reading calls f, which can read lines at any place.
func (d *decoder) reading(f func() error) error {
	defer d.src.Close()
	return f()
}

// line reads a line at its place.
func (d *decoder) line(i int32) (*Record, error) {
	e := &d.entries[i]
	l, err := d.src.Record(d.ctx, int(i)+1, e.offset, int(e.size))
	if err != nil {
		return nil, err
	}
	return d.c.parse(l), nil
}

// find returns the line that others know by a name; nil if there is none.
func (d *decoder) find(name string) *Record {
	i, ok := d.named[name]
	if !ok {
		return nil
	}
	r, err := d.line(i)
	if err != nil {
		return nil // decoding that line reports it
	}
	d.found = append(d.found, d.origin(r)...)
	return r
}

// listed lists the branches that were left, with the messages that they follow.
func (d *decoder) listed() (out []session.Branch, err error) {
	if len(d.left) == 0 {
		return nil, nil
	}
	return out, d.reading(func() error {
		for _, b := range d.left {
			up := d.up(b.lines[0])
			for n := 0; up >= 0 && !d.speaks(up); n++ {
				if up = d.up(up); n > maxSilent {
					up = -1
				}
			}
			one := session.Branch{Name: b.name}
			if up >= 0 {
				r, err := d.line(up)
				if err != nil {
					return err
				}
				one.From = r.messageID(d.entries[up].is&repeated != 0)
			}
			out = append(out, one)
		}
		return nil
	})
}

// maxSilent is how many lines without a message are passed to find where a branch begins.
const maxSilent = 1000

// speaks reports whether a line of the live branch becomes a message.
func (d *decoder) speaks(i int32) bool {
	e := &d.entries[i]
	if by, ok := d.edited[i]; ok && d.edits[by].gone || d.isEdit(i) {
		return false
	}
	return e.is&(settled|unsent) == 0
}

// isEdit reports whether a line is an edit in force.
func (d *decoder) isEdit(i int32) bool {
	target, ok := d.edits[i]
	if !ok {
		return false
	}
	by, ok := d.edited[d.at[target.target]]
	return ok && by == i
}

// messages makes the second pass: the live branch, then those that were left.
func (d *decoder) messages() error {
	return d.reading(func() error {
		n := int32(-1)
		if err := d.each(func(r *Record) error {
			if n++; int(n) >= len(d.entries) || d.entries[n].offset != r.Offset {
				return formats.Changed(d.c.Name, d.src.At())
			}
			d.count(n, r)
			if d.straight && !d.over && d.entries[n].branch == live {
				return d.next(n, r)
			}
			return nil
		}); err != nil {
			return err
		}
		if !d.straight {
			for _, i := range d.path {
				r, err := d.line(i)
				if err == nil {
					err = d.next(i, r)
				}
				if err != nil || d.over {
					return err
				}
			}
		}
		if d.sel.History && !d.over {
			return d.leftMessages()
		}
		return d.older()
	})
}

// older accounts for what else there is of the session.
func (d *decoder) older() error {
	more, err := d.src.Older(d.ctx)
	d.account.Add(more)
	return err
}

// count counts a line.
func (d *decoder) count(i int32, r *Record) {
	if d.agent != "" { // the session counts all lines of its file
		return
	}
	var one session.Account
	d.countOne(&one, i, r)
	n := len(d.src.Addr(r.Number))
	if src, is := d.src.(parted); is {
		n = src.Count(r.Number)
	}
	for range n {
		d.account.Add(one)
	}
}

func (d *decoder) countOne(sum *session.Account, i int32, r *Record) {
	e := &d.entries[i]
	at := d.addr(r)
	if !r.Account(sum, d.view.OnLoss, at) {
		return
	}
	k := d.c.Kinds[r.Kind]
	switch {
	case e.is&(chained|settled) != chained, d.isEdit(i):
		sum.Converted++
	case e.branch > live && !d.sel.History:
		sum.Superseded++
		if d.left[e.branch-1].lines[0] == i {
			d.lose(loss.BranchSkipped, at)
		}
	case k.Say == nil:
		sum.CarriedRaw++
	default:
		sum.Converted++
	}
	if (e.is&unsent != 0 || d.isEdited(i)) && e.branch == live && !d.sel.History {
		d.lose(loss.BranchSkipped, at)
	}
}

func (d *decoder) addr(r *Record) store.Addr { return d.src.Addr(r.Number)[0] }

// origin names the records of the store that a line is made of.
func (d *decoder) origin(r *Record) (out []string) {
	for _, at := range d.src.Addr(r.Number) {
		out = append(out, at.String())
	}
	return out
}

// next hands out a line of the live branch, in its place.
func (d *decoder) next(i int32, r *Record) error {
	if i == d.kept {
		for _, early := range append(slices.Clone(d.early), d.boundary) {
			r, err := d.line(early)
			if err != nil {
				return err
			}
			if d.hand(d.message(early, r, "")); d.over {
				return nil
			}
		}
	}
	switch by, changed := d.edited[i]; {
	case i == d.boundary, slices.Contains(d.early, i), !d.speaks(i) && !changed:
	case changed && d.edits[by].gone:
	case changed:
		return d.changed(i, by, r)
	default:
		d.hand(d.message(i, r, ""))
	}
	return nil
}

// changed hands out a line with the content that another one gives it.
func (d *decoder) changed(i, by int32, r *Record) error {
	change, err := d.line(by)
	if err != nil {
		return err
	}
	k := d.c.Kinds[change.Kind]
	change.Drop(k.Edits)
	for name, v := range rawjson.Members(change.Raw(k.With)) {
		r.Set(string(name), v)
	}
	m := d.message(i, r, "")
	if m != nil {
		m.Origin, m.Extras = append(m.Origin, d.origin(change)...), append(m.Extras, change.line.Rest()...)
	}
	d.hand(m)
	return nil
}

// message makes the message of a line.
func (d *decoder) message(i int32, r *Record, branch string) *session.Message {
	e, k := &d.entries[i], d.c.Kinds[r.Kind]
	r.find, d.found = d.find, nil
	m := &session.Message{ID: r.messageID(e.is&repeated != 0), Branch: branch, Role: k.Role, At: r.Time, Origin: d.origin(r),
		Simulated: k.Simulated || k.Prompt && e.is&prompt == 0, Archived: e.is&archived != 0 && branch == ""}
	if branch != "" && d.isEdited(i) { // what it says now has its id
		m.ID = r.messageID(true)
	}
	switch {
	case k.Say == nil:
		m.Role, m.Parts = session.System, []session.Part{&session.Opaque{Kind: r.Kind, Raw: members.Bare(r.Kind, r.Object)}}
		return m
	}
	if k.Keeps != "" {
		r.Drop(k.Keeps)
	}
	m.Parts = k.Say(r)
	if m.Origin = append(m.Origin, d.found...); k.Model != "" {
		m.Model = r.Text(k.Model)
	}
	d.agents.link(m)
	m.Extras = r.rest()
	if c := d.c; c.Line.Parent == "" && e.is&repeated != 0 && r.ID != "" { // its own id is lost otherwise
		m.Extras = append(m.Extras, Text(c.Line.ID, r.ID))
	}
	if _, compacts := d.keeps[i]; compacts {
		mark := &session.Boundary{Extras: m.Extras}
		if m.Extras = nil; branch == "" && i == d.boundary {
			mark.Archived, d.gone = d.gone, 0
		}
		m.Parts = append([]session.Part{mark}, m.Parts...)
	}
	if k.Prompt && e.turn > 0 {
		m.Turn = d.turns[e.turn-1]
	}
	return m
}

// hand hands a message out, and after it the results that stand with their calls.
func (d *decoder) hand(m *session.Message) {
	if m == nil || d.over {
		return
	}
	list := []*session.Message{m}
	if m.Role == session.Assistant {
		list = append(list, results(m)...)
	}
	for _, one := range list {
		if one.Archived {
			d.gone++
		}
		if d.over = !d.yield(one, nil); d.over {
			return
		}
	}
}

// leftMessages hands out the branches that were left.
func (d *decoder) leftMessages() error {
	for _, b := range d.left {
		for _, i := range b.lines {
			r, err := d.line(i)
			if err != nil {
				return err
			}
			if d.entries[i].is&settled == 0 {
				d.hand(d.message(i, r, b.name))
			}
			if d.over {
				return nil
			}
		}
	}
	return d.older()
}

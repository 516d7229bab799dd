package codex

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"

	"rehome/formats"
	"rehome/formats/internal/members"
	"rehome/formats/internal/rawjson"
	"rehome/formats/loss"
	"rehome/formats/session"
)

func decode(ctx context.Context, l *formats.Location, v formats.View, sel session.Selection) iter.Seq2[*session.Session, error] {
	return func(yield func(*session.Session, error) bool) {
		f, err := open(l)
		if err != nil {
			yield(nil, failure(ctx, l.Path, err))
			return
		}
		defer f.root.Close()
		for _, e := range f.wanted() {
			if !sel.Includes(e.id) {
				continue
			}
			s, err := f.session(ctx, e, v, sel)
			if ctx.Err() != nil {
				yield(nil, ctx.Err())
				return
			}
			if err != nil {
				err = failure(ctx, e.path, err)
			}
			if !yield(s, err) {
				return
			}
		}
	}
}

// metaNames are the members of a session_meta that are understood.
var metaNames = [...]string{"id", "timestamp", "cwd", "base_instructions"}

// session makes the first pass over a session's files.
func (f *folder) session(ctx context.Context, e *entry, v formats.View, sel session.Selection) (*session.Session, error) {
	head, meta, err := f.head(ctx, e, v)
	s := &session.Session{Head: head, Branch: rawjson.Text(rawjson.Last(rawjson.Last(meta, "git"), "branch"))}
	if err != nil {
		return s, err
	}
	if s.Title != "" {
		v.OnLoss.Add(loss.Loss{Code: loss.TitleFromPrompt, At: at(e)})
	}
	d := &decoder{f: f, ctx: ctx, view: v, history: sel.History, outline: &outline{}}
	d.sources = f.sources(ctx, e, meta, s)
	if len(s.Missing) > 0 {
		v.OnLoss.Add(loss.Loss{Code: loss.ForkBaseMissing, At: at(e)})
	}
	for r, err := range d.all() {
		if err != nil {
			return s, err
		}
		d.outline.take(&r)
	}
	d.clock = clock{}
	s.Turns = int64(len(d.outline.turns))
	for _, t := range slices.Backward(d.outline.turns) {
		if s.Model = t.Model; s.Model != "" {
			break
		}
	}
	var o members.Object
	if o.Split(meta, "session_meta.", metaNames[:]) {
		s.Extras = o.Extras
	}
	for _, old := range f.older {
		if old.id == e.id {
			d.superseded = append(d.superseded, source{entry: old, end: math.MaxInt64})
		}
	}
	s.Messages = func(yield func(*session.Message, error) bool) {
		d.say = func(m *session.Message) bool { return yield(m, nil) }
		defer func() { sel.Account.Add(d.account) }()
		if err := d.messages(); err != nil && !d.over {
			yield(nil, failure(ctx, e.path, err))
		}
	}
	return s, nil
}

// sources lists the files that a session is read from, in order. A fork states
// how much of the session that it was forked from comes before it.
func (f *folder) sources(ctx context.Context, e *entry, meta []byte, s *session.Session) []source {
	out := []source{{entry: e, end: s.Bytes}}
	if strings.HasSuffix(e.path, ".zst") {
		out[0].end = math.MaxInt64
	}
	for len(out) < maxBase {
		from := rawjson.Last(meta, "history_base")
		id := rawjson.Text(rawjson.Last(from, "thread_id"))
		end, err := strconv.ParseInt(string(rawjson.Last(from, "end_byte_offset")), 10, 64)
		if id == "" {
			break
		}
		base := f.named(id)
		if base == nil || err != nil || slices.ContainsFunc(out, func(s source) bool { return s.id == id }) {
			s.Missing = append(s.Missing, "the session that this one was forked from ("+id+")")
			break
		}
		out = append(out, source{base, end, len(out)})
		_, meta, _ = f.head(ctx, base, formats.View{})
	}
	slices.Reverse(out)
	return out
}

// outline is what has to be known of a session before its first message.
type outline struct {
	clock
	turns    []*session.Turn
	next     session.Turn // the turn that is to begin with the next prompt
	n        int          // records so far
	boundary int          // the last record at which the client compacted; 0 if it did not
	gone     map[int]bool // turns that the user took back, by their numbers
	spent    string       // the last count of tokens, to pass over repeated ones
	exact    bool         // the file counts the tokens of each turn
}

// clock finds where turns begin: at the first prompt after the client says so,
// or at any prompt where it does not.
type clock struct {
	turn           int // number of the current one
	open, prompted bool
}

// begins reports whether a turn begins with a record.
func (c *clock) begins(r *record) bool {
	switch {
	case r.kind == "event_msg" && (r.sub == "task_started" || r.sub == "turn_started"):
		c.open, c.prompted = true, false
	case r.kind == "event_msg" && (r.sub == "task_complete" || r.sub == "turn_complete" || r.sub == "turn_aborted"):
		c.open = false
	case r.prompt() != "" && !(c.open && c.prompted):
		c.turn++
		c.prompted = true
		return true
	}
	return false
}

// current returns the turn that a record is about.
func (o *outline) current() *session.Turn {
	if o.open && !o.prompted || len(o.turns) == 0 {
		return &o.next
	}
	return o.turns[len(o.turns)-1]
}

func (o *outline) take(r *record) {
	o.n++
	was := o.current()
	if o.begins(r) {
		t := o.next
		o.next = session.Turn{}
		if t.Number = o.turn; !t.Start.Known() {
			t.Start = r.time
		}
		o.turns = append(o.turns, &t)
		return
	}
	text := func(name string) string { return rawjson.Text(rawjson.Last(r.body, name)) }
	switch r.kind + " " + r.sub {
	case "event_msg task_started", "event_msg turn_started":
		o.next = session.Turn{ID: text("turn_id"), Start: r.time}
	case "event_msg task_complete", "event_msg turn_complete":
		was.Status, was.End = "finished", r.time
		if e := rawjson.Text(rawjson.Last(rawjson.Last(r.body, "error"), "message")); e != "" {
			was.Status, was.Error = "error", e
		}
	case "event_msg turn_aborted":
		was.Status, was.End = "cancelled", r.time
		if why := text("reason"); why != "interrupted" {
			was.Error = why
		}
	case "event_msg thread_rolled_back":
		n, _ := strconv.Atoi(string(rawjson.Last(r.body, "num_turns")))
		for i := len(o.turns); i > 0 && n > 0; i-- {
			if !o.gone[i] {
				if o.gone == nil {
					o.gone = map[int]bool{}
				}
				o.gone[i], n = true, n-1
			}
		}
	case "event_msg token_count":
		info := rawjson.Last(r.body, "info")
		total := string(rawjson.Last(info, "total_token_usage"))
		if total != "" && total != o.spent && !o.exact {
			spend(was, rawjson.Last(info, "last_token_usage"), true)
		}
		o.spent = total
	case "token_usage_record ":
		if !o.exact {
			o.exact, was.Usage = true, nil
		}
		spend(was, rawjson.Last(r.body, "turn_token_usage"), false)
	case "turn_context ":
		was.Model = text("model")
		if was.Mode = rawjson.Text(rawjson.Last(rawjson.Last(r.body, "collaboration_mode"), "mode")); was.Mode == "default" {
			was.Mode = ""
		}
		was.Extras = o.context(r.body)
	case "compacted ":
		o.boundary = o.n
	}
}

// context returns what else a turn_context states. Turns mostly repeat it, and
// then share it.
func (o *outline) context(body []byte) []session.Extra {
	var x members.Object
	x.Split(body, "turn_context.", []string{"turn_id", "root_turn_id", "model"})
	for _, t := range slices.Backward(o.turns) {
		if slices.EqualFunc(t.Extras, x.Extras, func(a, b session.Extra) bool { return a.Name == b.Name && bytes.Equal(a.Raw, b.Raw) }) {
			return t.Extras
		}
		break
	}
	return x.Extras
}

// spend enters a count of tokens, as the client has it: what was read from the
// cache is part of the input.
func spend(t *session.Turn, raw []byte, add bool) {
	if t.Usage == nil {
		u := session.UnknownUsage()
		t.Usage = &u
	}
	u := t.Usage
	for name, n := range map[string]*int64{"input_tokens": &u.Input, "output_tokens": &u.Output, "cached_input_tokens": &u.CacheRead,
		"cache_write_input_tokens": &u.CacheWrite, "reasoning_output_tokens": &u.Reasoning, "total_tokens": &u.Total} {
		if v, err := strconv.ParseInt(string(rawjson.Last(raw, name)), 10, 64); err == nil && v >= 0 && v < 1<<53 {
			if add {
				v += max(0, *n)
			}
			*n = v
		}
	}
}

// decoder makes messages in a second pass.
type decoder struct {
	*outline
	f          *folder
	ctx        context.Context
	view       formats.View
	sources    []source
	superseded []source
	say        func(*session.Message) bool
	over       bool // nobody wants more
	history    bool // abandoned turns are wanted
	account    session.Account
	held       *session.Message  // the model's response that is being read
	waiting    map[string][]byte // calls without a result, and what an event said of theirs
	archived   int               // messages since the last boundary
}

// all yields the records of a session.
func (d *decoder) all() iter.Seq2[record, error] {
	return func(yield func(record, error) bool) {
		for _, s := range d.sources {
			for r, err := range d.f.records(d.ctx, s) {
				if !yield(r, err) || err != nil {
					return
				}
			}
		}
	}
}

func (d *decoder) messages() error {
	d.n, d.waiting = 0, map[string][]byte{}
	for r, err := range d.all() {
		if err != nil {
			return err
		}
		own := d.account
		if d.line(&r); d.over {
			return nil
		}
		if r.at.File != d.sources[len(d.sources)-1].shown {
			d.account = own // it belongs to the session that this one was forked from
		}
	}
	if d.flush(); d.turn != len(d.turns) {
		return fmt.Errorf("%w: it changed while it was read", formats.ErrBusy)
	}
	for _, s := range d.superseded {
		for _, err := range d.f.records(d.ctx, s) {
			if err != nil {
				return err
			}
			d.account.Read++
			d.account.Superseded++
		}
	}
	return nil
}

// line takes one record.
func (d *decoder) line(r *record) {
	d.n++
	d.account.Read++
	if r.bad != "" {
		d.account.Unreadable++
		n := loss.Loss{Code: r.bad, At: r.at}
		if r.bad == loss.LineTooLong {
			n.Args = []string{fmt.Sprintf("%d MB", maxLine>>20)}
		}
		d.view.OnLoss.Add(n)
		return
	}
	if r.fix {
		d.view.OnLoss.Add(loss.Loss{Code: loss.LineInvalidUTF8, At: r.at})
	}
	begins := d.begins(r)
	if d.gone[d.turn] && !(d.open && !d.prompted) && r.sub != "thread_rolled_back" {
		d.account.Superseded++
		if begins && d.history {
			d.view.OnLoss.Add(loss.Loss{Code: loss.TurnRolledBack, At: r.at})
		}
		return
	}
	switch r.kind {
	case "response_item":
		d.item(r, begins)
	case "compacted":
		d.compacted(r)
	case "session_meta":
		d.meta(r)
	case "event_msg":
		d.event(r)
	case "token_usage_record":
		d.account.Converted++
		d.flush() // one is written for each response
	case "", "turn_context":
		d.account.Converted++
	case "world_state", "state":
		d.account.Superseded++ // messages, or other lines, say the same
	default:
		d.opaque(r, r.kind, r.line)
	}
}

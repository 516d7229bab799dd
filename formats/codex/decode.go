package codex

import (
	"bytes"
	"fmt"
	"iter"
	"slices"
	"strconv"

	"rehome/formats/internal/jsonl"
	"rehome/formats/internal/lineclient"
	"rehome/formats/internal/members"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/formats/store"
	"rehome/internal/rawjson"
)

// record is one line. It is valid until the next one.
type record struct {
	jsonl.Line
	id   string // of the message that comes from it
	at   store.Addr
	time session.Stamp
	kind string // type of the line; "" if it is blank or unreadable
	sub  string // type of what it holds
	body []byte // what it holds
}

// parse reads a line. Early clients (0.20.0) wrote the items without anything
// around them, and the session's head as an object with an id and no type.
func parse(l jsonl.Line, s source) record {
	r := record{Line: l, id: "line-" + strconv.Itoa(l.Number), at: store.Addr{File: s.Name, Line: l.Number}}
	if s.base > 0 {
		r.id = fmt.Sprintf("base%d-%s", s.base, r.id)
	}
	if l.Object == nil {
		return r
	}
	for n, v := range rawjson.Members(l.Object) {
		switch string(n) {
		case "timestamp":
			r.time = jsonl.Time(v)
		case "type":
			r.kind = rawjson.Text(v)
		case "payload":
			r.body = v
		}
	}
	in := ""
	if r.kind, r.sub, in = shape(r.kind, r.body, func(name string) []byte { return rawjson.At(l.Object, name) }); in == "" {
		r.body = l.Object
	}
	return r
}

// shape returns the kind of a line with a type and a payload, that of what it holds, and the
// member that does; "": the line itself. at returns other members.
func shape(kind string, payload []byte, at func(name string) []byte) (of, sub, in string) {
	switch {
	case payload != nil && kind != "":
		return kind, rawjson.TextAt(payload, "type"), "payload"
	case kind != "":
		return "response_item", kind, ""
	case at("record_type") != nil:
		return "state", "", ""
	case at("id") != nil:
		return "session_meta", "", ""
	}
	return "unknown", "", "payload"
}

// decoder makes the messages of a session in a second pass over its files.
type decoder struct {
	lineclient.Input
	outline
	aside
	sources []source

	yield    func(*session.Message, error) bool
	over     bool // nobody wants more
	account  session.Account
	prompt   string             // the system prompt
	held     *session.Message   // the model's response that is being read
	waiting  map[string]*report // calls without a result, and what an event said of theirs
	archived int                // messages since the last boundary
}

// decode makes the first pass.
func decode(in lineclient.Input) (*session.Session, error) {
	d := &decoder{Input: in, outline: outline{first: in.First}}
	s := &session.Session{Head: in.Head, Branch: rawjson.TextAt(d.first, "git", "branch")}
	if d.findSources(s); len(s.Missing) > 0 {
		d.lose(loss.ForkBaseMissing, store.Addr{File: d.File.Name})
	}
	for r, err := range d.records() {
		if err != nil {
			return s, err
		}
		d.take(&r)
	}
	d.pairs.end()
	s.Head.Turns = int64(len(d.turns) - len(d.gone))
	if len(d.pairs.orphans) > 0 || d.Sel.History && len(d.gone) > 0 {
		if err := d.plan(s); err != nil {
			return s, err
		}
	}
	for _, t := range slices.Backward(d.turns) {
		if s.Model = t.Model; s.Model != "" {
			break
		}
	}
	var o members.Object
	if o.Split(d.first, "session_meta.", []string{"id", "timestamp", "cwd", "base_instructions"}) {
		s.Extras = o.Extras
	}
	d.confirm(d.current())
	s.Extras = append(s.Extras, d.settings...)
	s.Messages = func(yield func(*session.Message, error) bool) {
		d.yield = yield
		defer func() { d.Sel.Account.Add(d.account) }()
		if err := d.messages(); err != nil && !d.over {
			yield(nil, jsonl.Failure(d.Ctx, name, d.File.Path, err))
		}
	}
	return s, nil
}

func (d *decoder) lose(code loss.Code, at store.Addr) {
	d.View.OnLoss.Add(loss.Loss{Code: code, At: at})
}

// source is a file that a session, or the beginning of one, is read from.
type source struct {
	*jsonl.File
	end  int64 // where to stop
	base int   // how many forks lie between this file and the session; 0 for its own
}

// maxBase is how many files a fork of a fork is read from.
const maxBase = 32

// findSources lists the files that a session is read from, in order. A fork states
// how much of the session that it was forked from comes before it.
func (d *decoder) findSources(s *session.Session) {
	meta := d.Input.First
	out := []source{{File: d.File, end: d.Head.Bytes}}
	if d.File.Packed() {
		out[0].end = -1
	}
	for len(out) < maxBase {
		id := rawjson.TextAt(meta, "history_base", "thread_id")
		if id == "" {
			break
		}
		end, err := strconv.ParseInt(string(rawjson.At(meta, "history_base", "end_byte_offset")), 10, 64)
		base := d.Store.Find(id)
		if base == nil || err != nil || end < 0 || slices.ContainsFunc(out, func(s source) bool { return s.ID == id }) {
			s.Missing = append(s.Missing, "the session that this one was forked from ("+id+")")
			break
		}
		out = append(out, source{base, end, len(out)})
		meta = d.Of(base).First
	}
	slices.Reverse(out)
	d.sources = out
}

// records yields the records of a session.
func (d *decoder) records() iter.Seq2[record, error] {
	return func(yield func(record, error) bool) {
		for _, s := range d.sources {
			for l, err := range d.Store.Lines(d.Ctx, s.File, s.end) {
				if !yield(parse(l, s), err) || err != nil {
					return
				}
			}
		}
	}
}

// outline is what has to be known of a session before its first message.
type outline struct {
	clock
	turns    []*session.Turn
	next     session.Turn // the turn that is to begin with the next prompt
	n        int          // records so far
	boundary int          // the last record at which the client compacted; 0 if it did not
	gone     map[int]bool // turns that the user took back, by their numbers
	stated   []session.Extra
	settings []session.Extra // that no turn has stated so far
	first    []byte          // the session_meta
	spent    string          // the last count of tokens, to pass over repeated ones
	exact    bool            // the file counts the tokens of each turn
	pairs    pairs
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
	case r.kind == "event_msg" && listed(" task_started turn_started ", r.sub):
		c.open, c.prompted = true, false
	case r.kind == "event_msg" && listed(" task_complete turn_complete turn_aborted ", r.sub):
		c.open = false
	case !(c.open && c.prompted) && r.prompt() != "":
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
	t := o.current()
	begins := o.begins(r)
	o.pairs.take(r, o.n, begins)
	if begins {
		begun := o.next
		o.next = session.Turn{}
		if !begun.Start.Known() {
			begun.Start = r.time
		}
		o.turns = append(o.turns, &begun)
		return
	}
	switch r.kind {
	case "event_msg":
		o.event(r, t)
	case "token_usage_record":
		if !o.exact {
			o.exact, t.Usage = true, nil
		}
		spend(t, rawjson.At(r.body, "turn_token_usage"), false)
	case "turn_context":
		t.Model = rawjson.TextAt(r.body, "model")
		if t.Mode = rawjson.TextAt(r.body, "collaboration_mode", "mode"); t.Mode == "default" {
			t.Mode = ""
		}
		o.context(t, r)
		o.settle(t)
	case "compacted":
		o.boundary = o.n
	}
	if more := r.rest(); more != nil {
		if r.kind == "event_msg" && listed(" task_started turn_started ", r.sub) {
			t = &o.next
		}
		t.Extras = append(slices.Clip(t.Extras), more...)
	}
}

// event takes what the client reports of a turn.
func (o *outline) event(r *record, t *session.Turn) {
	switch r.sub {
	case "task_started", "turn_started":
		o.next = session.Turn{ID: rawjson.TextAt(r.body, "turn_id"), Start: r.time}
	case "task_complete", "turn_complete":
		t.Status, t.End = "finished", r.time
		if e := rawjson.TextAt(r.body, "error", "message"); e != "" {
			t.Status, t.Error = "error", e
		}
	case "turn_aborted":
		t.Status, t.End = "cancelled", r.time
		if why := rawjson.TextAt(r.body, "reason"); why != "interrupted" {
			t.Error = why
		}
	case "thread_rolled_back":
		n, _ := strconv.Atoi(string(rawjson.At(r.body, "num_turns")))
		for i := len(o.turns); i > 0 && n > 0; i-- {
			if !o.gone[i] {
				if o.gone == nil {
					o.gone = map[int]bool{}
				}
				o.gone[i], n = true, n-1
			}
		}
	case "token_count":
		total := string(rawjson.At(r.body, "info", "total_token_usage"))
		if total != "" && total != o.spent && !o.exact {
			spend(t, rawjson.At(r.body, "info", "last_token_usage"), true)
		}
		o.spent = total
	case "thread_settings_applied":
		o.applied(t, r)
	}
}

// context takes what else a turn_context states. Turns mostly repeat it, and then share it.
func (o *outline) context(t *session.Turn, r *record) {
	same := func(a, b session.Extra) bool { return a.Name == b.Name && bytes.Equal(a.Raw, b.Raw) }
	var x members.Object
	x.Split(r.body, "turn_context.", []string{"turn_id", "root_turn_id", "model"})
	list := append(x.Extras, r.outer()...)
	if slices.EqualFunc(o.stated, list, same) {
		list = o.stated
	}
	o.stated = slices.Clip(list)
	switch n := len(list); {
	case len(t.Extras) == 0:
		t.Extras = o.stated
	case n > len(t.Extras) || !slices.EqualFunc(t.Extras[:n], list, same):
		t.Extras = append(slices.Clip(t.Extras), list...)
	}
}

// spend adds a count of tokens to a turn, or replaces it. What was read from the cache
// is part of the input, as the client has it.
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

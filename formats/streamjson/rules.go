package streamjson

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"

	"rehome/formats"
	"rehome/formats/internal/digest"
	"rehome/formats/internal/jsonl"
	"rehome/formats/internal/linecheck"
	"rehome/formats/rule"
	"rehome/formats/store"
	"rehome/internal/rawjson"
)

// check asks a capture what the rules ask, in one walk.
func check(ctx context.Context, l *formats.Location, v formats.View, q *rule.Pass) error {
	if !l.IsRegular() {
		return jsonl.Failure(ctx, formatName, l.Path, errors.New("not a regular file"))
	}
	a := &audit{q: q, file: filepath.Base(l.Path), byID: map[string]*tale{}, schemas: q.Schemas()}
	o := linecheck.Options{Format: formatName, Most: jsonl.MaxLine, Trim: unstamped}
	walk := linecheck.Lines(ctx, l.Path, a.file, v, q, o)
	was, err := os.Stat(l.Path)
	if err != nil {
		return jsonl.Failure(ctx, formatName, l.Path, err)
	}
	if b := folded(l.Path, was.Size()); b != nil {
		walk = linecheck.Text(ctx, bytes.NewReader(append(b, '\n')), a.file, q, o)
	}
	for line, err := range walk {
		if err != nil {
			return jsonl.Failure(ctx, formatName, l.Path, err)
		}
		if q.Layers != rule.Container || line.Member("session_id") == nil {
			a.line(&line)
		}
	}
	is, err := os.Stat(l.Path)
	a.end(err == nil && is.Size() > was.Size())
	return nil
}

// folded is a file that is one object over several lines, in one; nil if it is
// anything else.
func folded(path string, size int64) []byte {
	if size > mostWhole {
		return nil
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil // reading it will say why
	}
	return whole(b)
}

// audit is what is known of a capture while it is read.
type audit struct {
	q       *rule.Pass
	file    string
	byID    map[string]*tale
	order   []*tale
	schemas *rule.Schemas
	back    int // lines that are earlier than the one in front
	backAt  int
}

// tale is a session, and the run of it that is being read.
type tale struct {
	turns turns
	line  int // of the run's last line
	at    int64
	calls map[uint64]*happened
}

// happened is what was told of a call.
type happened struct {
	line              int
	started, returned bool
}

func (a *audit) say(id string, line int, pointer, says string, args ...any) {
	a.q.Add(id, store.Addr{File: a.file, Line: line}, pointer, says, args...)
}

func (a *audit) line(l *linecheck.Line) {
	e := event{line: l.Number, raw: l.Bytes, typ: plain(l.Member("type")), sub: plain(l.Member("subtype")), session: plain(l.Member("session_id"))}
	e.at, _ = millis(l.Member("timestamp_ms"))
	t, known := typeOf(e.typ, e.sub)
	e.kind = t.kind
	if e.kind == other && e.session == nil {
		a.say("RH132", l.Number, "", "")
		return
	}
	if body := l.Member("tool_call"); (e.kind == called || e.kind == returned) && len(body) > 0 && body[0] == '{' && kindKey(body) == "" {
		a.say("RH204", l.Number, "/tool_call", "no member names the tool")
	}
	if !known {
		a.say("RH204", l.Number, "/type", "line type %q", rule.Clip(string(e.typ)+"/"+string(e.sub)))
	}
	l.Matches(a.q, a.schemas.Get("cursor-stream-"+t.schema+"-1"), store.Addr{File: a.file, Line: l.Number})
	if e.session != nil {
		a.event(l, &e)
	}
}

// event takes a line of a session.
func (a *audit) event(l *linecheck.Line, e *event) {
	r := a.byID[string(e.session)]
	strange := false
	if r == nil {
		if e.kind <= other && len(a.order) > 0 {
			return
		}
		r = &tale{calls: map[uint64]*happened{}}
		a.byID[string(e.session)] = r
		a.order = append(a.order, r)
		strange = len(a.order) > 1 && e.kind != initial
		switch {
		case strange:
			a.say("RH377", l.Number, "/session_id", "")
		case len(a.order) == 2:
			a.say("RH378", l.Number, "/session_id", "")
		}
	}
	over := r.turns.over
	if was := r.turns; r.turns.begins(e.kind) {
		if was.number > 0 && !was.over {
			a.say("RH472", r.line, "", "")
		}
		r.at = 0
		if e.kind != initial && e.kind != ended && !strange {
			a.say("RH474", l.Number, "", "")
		}
	} else if over && (e.kind == said || e.kind == pondered || e.kind == thought || e.kind == called) {
		a.say("RH473", l.Number, "", "")
	}
	if e.at.Known() {
		if e.at.Millis() < r.at {
			if a.back++; a.back == 1 {
				a.backAt = l.Number
			}
		}
		r.at = e.at.Millis()
	}
	r.line = l.Number
	switch e.kind {
	case called, returned:
		a.call(l, e, r)
	case ended:
		if string(l.Member("is_error")) == "true" || bytes.HasPrefix(e.sub, []byte("error")) {
			a.say("RH475", l.Number, "", "")
		}
	}
}

// mostCalls bounds how many calls of a session are told apart.
const mostCalls = 1 << 20

// call takes the beginning or the end of a call.
func (a *audit) call(l *linecheck.Line, e *event, r *tale) {
	id := plain(l.Member("call_id"))
	if id == nil {
		id = plain(rawjson.Last(l.Member("tool_call"), "toolCallId"))
	}
	if id == nil {
		a.say("RH477", l.Number, "/call_id", "")
		return
	}
	key := digest.Name(string(id))
	h := r.calls[key]
	if h == nil {
		if len(r.calls) == mostCalls {
			return
		}
		h = &happened{line: l.Number}
		r.calls[key] = h
	}
	twice := &h.started
	if e.kind == returned {
		twice = &h.returned
	}
	if *twice {
		a.say("RH375", l.Number, "/call_id", "also on line %d", h.line)
	}
	*twice = true
}

// end tells what only the end shows. growing: somebody goes on writing.
func (a *audit) end(growing bool) {
	if a.back > 0 {
		a.say("RH476", a.backAt, "/timestamp_ms", "%v", rule.Count(int64(a.back), "line"))
	}
	for _, r := range a.order {
		if r.turns.number > 0 && !r.turns.over && !growing {
			a.say("RH472", r.line, "", "")
		}
		for _, h := range r.calls {
			if h.started != h.returned {
				what := "no completed line"
				if h.returned {
					what = "no started line"
				}
				a.say("RH376", h.line, "/call_id", what)
			}
		}
	}
}

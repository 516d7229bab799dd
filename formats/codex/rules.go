package codex

import (
	"cmp"
	"context"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"rehome/formats"
	"rehome/formats/internal/jsonl"
	"rehome/formats/internal/linecheck"
	"rehome/formats/internal/lines"
	"rehome/formats/rule"
	"rehome/formats/store"
)

// check applies the rules to each rollout.
func check(ctx context.Context, l *formats.Location, v formats.View, q *rule.Pass) error {
	s, err := jsonl.Open(l, layout())
	if err != nil {
		return jsonl.Failure(ctx, name, l.Path, err)
	}
	defer s.Close()
	for _, f := range s.Wanted() {
		files := []*jsonl.File{f}
		if l.IsDir() {
			files = append(files, f.Older...)
		}
		for _, f := range files {
			a := &audit{s: s, f: f, q: q, calls: map[string]int{}}
			if f != files[0] {
				a.say("RH491", 0, "", "")
			}
			if err := s.Check(ctx, f, v, q, linecheck.Options{Odd: func(int) { a.gap = true }}, a.line); err != nil {
				return err
			}
			a.end()
		}
	}
	return nil
}

// audit is what is known of one file while it is read.
type audit struct {
	s     *jsonl.Store
	f     *jsonl.File
	q     *rule.Pass
	calls map[string]int // lines of the calls without a result
	n     int            // lines so far
	gap   bool           // a line could not be read
	base  bool           // calls may be in another file
}

func (a *audit) say(id string, line int, pointer, says string, args ...any) {
	a.q.Add(id, store.Addr{File: a.f.Name, Line: line}, pointer, says, args...)
}

func (a *audit) line(l *linecheck.Line) {
	r := parse(jsonl.Line{Line: lines.Line{Number: l.Number}, Object: l.Bytes}, source{File: a.f})
	if a.n++; a.n == 1 && !a.gap {
		a.first(&r)
	}
	known, kind := knownLines, r.kind
	switch r.kind {
	case "response_item":
		known, kind = knownItems, r.sub
	case "event_msg":
		known, kind = knownEvents, r.sub
	}
	if !listed(known, kind) {
		a.say("RH204", l.Number, "", "%q of type %q", rule.Clip(r.kind), rule.Clip(kind))
	}
	id := text(r.body, "call_id")
	switch {
	case r.kind != "response_item" || id == "":
	case strings.HasSuffix(r.sub, "_call"):
		a.calls[id] = l.Number
	case strings.HasSuffix(r.sub, "_call_output"):
		if a.calls[id] == 0 && !a.gap && !a.base {
			a.say("RH488", l.Number, "/payload/call_id", "call %q", rule.Clip(id))
		}
		delete(a.calls, id)
	}
}

// first checks the line that names the session.
func (a *audit) first(r *record) {
	id := text(r.body, "id")
	if r.kind != "session_meta" || id == "" {
		a.say("RH486", r.Number, "", "")
		return
	}
	if _, named := rolloutID(path.Base(a.f.Path)); named && id != a.f.ID {
		a.say("RH490", r.Number, "/payload/id", "id %q", rule.Clip(id))
	}
	from := at(r.body, "history_base")
	if a.base = from != nil; !a.base {
		return
	}
	id = text(from, "thread_id")
	end, _ := strconv.ParseInt(string(at(from, "end_byte_offset")), 10, 64)
	base := a.s.Find(id)
	if base == nil {
		a.say("RH487", r.Number, "/payload/history_base", "session %q", rule.Clip(id))
	} else if info, err := a.s.Root.Stat(base.Path); err == nil && info.Size() < end && !base.Packed() {
		a.say("RH487", r.Number, "/payload/history_base", "session %q has %v, and %v are needed", rule.Clip(id), rule.Count(info.Size(), "byte"), rule.Count(end, ""))
	}
}

// end checks what only the whole file shows.
func (a *audit) end() {
	open := slices.SortedFunc(maps.Keys(a.calls), func(x, y string) int { return cmp.Compare(a.calls[x], a.calls[y]) })
	for _, id := range open {
		a.say("RH489", a.calls[id], "/payload/call_id", "call %q", rule.Clip(id))
	}
}

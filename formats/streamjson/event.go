package streamjson

import (
	"bytes"
	"time"

	"rehome/formats/internal/jsonl"
	"rehome/formats/internal/lines"
	"rehome/formats/session"
	"rehome/internal/rawjson"
)

const bom = "\ufeff"

// kind is what a line is, as far as reading it goes different ways.
type kind uint8

const (
	blank    kind = iota
	long          // beyond mostLine
	noise         // no JSON object
	other         // carried as it is
	initial       // system/init
	prompt        // user
	pondered      // thinking/delta
	thought       // thinking/completed
	said          // assistant
	called        // tool_call/started
	returned      // tool_call/completed
	retried       // retry/…
	ended         // result/…
)

// event is a line and what its top level tells.
type event struct {
	kind     kind
	line     int
	offset   int64
	raw      []byte // one JSON object fit for a line; of noise the bytes as they are
	typ, sub []byte // views of raw
	session  []byte // its session_id, as JSON text without escapes; nil if none
	at       session.Stamp
	repaired bool // bytes that are no UTF-8 were replaced
}

// read looks at a line. The event is valid as long as the line is.
func read(l lines.Line) event {
	e := event{line: l.Number, offset: l.Offset}
	b := bytes.TrimSpace(bytes.TrimPrefix(l.Bytes, []byte(bom)))
	l.Bytes = unstamped(b)
	switch o := jsonl.Parse(l); {
	case l.Long:
		e.kind = long
		return e
	case len(b) == 0:
		e.kind = blank
		return e
	case o.Object == nil:
		e.kind, e.raw = noise, b
		return e
	default:
		e.raw, e.repaired = o.Object, o.Repaired
	}
	for name, value := range rawjson.Members(e.raw) {
		switch string(name) {
		case "type":
			e.typ = plain(value)
		case "subtype":
			e.sub = plain(value)
		case "session_id":
			e.session = plain(value)
		case "timestamp_ms":
			e.at, _ = millis(value)
		}
	}
	t, _ := typeOf(e.typ, e.sub)
	e.kind = t.kind
	return e
}

// unstamped is a line without the moment that a build server puts in front of
// all that it logs, if an object follows; else the line itself.
func unstamped(b []byte) []byte {
	if len(b) == 0 || b[0] < '0' || b[0] > '9' {
		return b
	}
	stamp, rest, _ := bytes.Cut(b[:min(len(b), mostStamp)], []byte(" "))
	if len(rest) == 0 || rest[0] != '{' {
		return b
	}
	if _, err := time.Parse(time.RFC3339, string(stamp)); err != nil {
		return b
	}
	return b[len(stamp)+1:]
}

// mostStamp is more than a moment takes, to the nanosecond and with its zone.
const mostStamp = 48

// plain is the text of a string, nil if it is empty or no string.
func plain(value []byte) []byte {
	if len(value) <= 2 || value[0] != '"' {
		return nil
	}
	if bytes.IndexByte(value, '\\') < 0 {
		return value[1 : len(value)-1]
	}
	return rawjson.AppendText(nil, value)
}

// lineType is a type of lines that versions of the client print.
type lineType struct {
	typ, sub string // sub is "*" for any
	kind     kind
	schema   string
}

var lineTypes = [...]lineType{
	{"assistant", "*", said, "message"},
	{"thinking", "delta", pondered, "thinking"},
	{"thinking", "completed", thought, "thinking"},
	{"tool_call", "started", called, "tool-call"},
	{"tool_call", "completed", returned, "tool-call"},
	{"user", "*", prompt, "message"},
	{"system", "init", initial, "init"},
	{"result", "*", ended, "result"},
	{"retry", "*", retried, "event"},
	{"system", "task_notification", other, "event"},
	{"system", "background_shell_timeout", other, "event"},
	{"interaction_query", "request", other, "event"},
	{"interaction_query", "response", other, "event"},
	{"connection", "reconnecting", other, "event"},
	{"connection", "reconnected", other, "event"},
	{"text", "", other, "event"},
}

// typeOf returns the type of a line; false for one that no version prints.
func typeOf(typ, sub []byte) (lineType, bool) {
	for _, t := range lineTypes {
		if t.typ == string(typ) && (t.sub == "*" || t.sub == string(sub)) {
			return t, true
		}
	}
	return lineType{kind: other, schema: "event"}, false
}

// turns counts turns as lines go by. Both passes use it, so that they agree.
type turns struct {
	number             int
	prompt, work, over bool
}

// begins takes a line in, and reports whether a turn begins with it.
func (t *turns) begins(k kind) bool {
	begins := false
	switch k {
	case initial:
		begins = true
	case prompt:
		begins = t.number == 0 || t.prompt || t.work || t.over
	case pondered, thought, said, called, returned:
		begins = t.number == 0 // work in the background may end behind the result
	case ended:
		begins = t.number == 0 || t.over
	}
	if begins {
		*t = turns{number: t.number + 1}
	}
	switch k {
	case prompt:
		t.prompt = true
	case pondered, thought, said, called, returned:
		t.work = true
	case ended:
		t.over = true
	}
	return begins
}

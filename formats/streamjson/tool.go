package streamjson

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"rehome/formats/internal/members"
	"rehome/formats/internal/toolmap"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/internal/rawjson"
)

// tool is a call's own object taken apart. Kinds of before 2026 that are gone
// (write, list, function) have the same shape, and so will kinds to come: one
// member whose name ends in ToolCall, and others beside it.
type tool struct {
	kind, name   string
	input        session.Raw
	args, result session.Raw
	start, end   session.Stamp
	child        string
	extras       []session.Extra
}

const (
	suffix   = "ToolCall"
	generic  = "function" // {name, arguments}, as the documentation of 2025 had it
	nameless = "tool"
)

// kindKey is the member that says which tool it is, "" if none does.
func kindKey(body []byte) (key string) {
	for n, v := range rawjson.Members(body) {
		if len(v) > 0 && v[0] == '{' && (len(n) > len(suffix) && bytes.HasSuffix(n, []byte(suffix)) || key == "" && string(n) == generic) {
			key = string(n)
		}
	}
	return key
}

func innerID(body []byte) string { return string(plain(rawjson.Last(body, "toolCallId"))) }

func (b *builder) tool(body []byte, id string) (t tool) {
	key := kindKey(body)
	var o members.Object
	names := []string{"toolCallId", "startedAtMs", "completedAtMs", "hookAdditionalContexts", key}
	if key == "" {
		names = names[:4]
	}
	o.Split(body, "tool_call.", names)
	if given := o.Text(0); given != id {
		o.Keep(0)
	}
	t.start = stamp(&o, 1)
	t.end = stamp(&o, 2)
	if string(o.Raw(3)) != "[]" {
		o.Keep(3)
	}
	switch {
	case key == "":
		t.name = nameless
		t.extras = b.count(&o)
		return t
	case key == generic:
		b.function(&t, o.Raw(4))
	default:
		t.kind = name([]byte(strings.TrimSuffix(key, suffix)))
		t.name = t.kind
		b.typed(&t, o.Raw(4), key)
	}
	if t.name == "" {
		t.name = nameless
	}
	t.extras = append(b.count(&o), t.extras...)
	return t
}

// stamp is a time of the call; protobuf's default, 0, is none.
func stamp(o *members.Object, i int) session.Stamp {
	raw := o.Raw(i)
	if raw == nil {
		return session.Stamp{}
	}
	s, ok := millis(raw)
	if !ok {
		o.Keep(i)
	}
	if s.Millis() == 0 {
		return session.Stamp{}
	}
	return s
}

// typed takes {args, result}; siblings of a result's case are in the result.
func (b *builder) typed(t *tool, body []byte, key string) {
	var o members.Object
	o.Split(body, "tool_call."+key+".", []string{"args", "result"})
	t.args, t.result = members.Bare("", o.Raw(0)), members.Bare("", o.Raw(1))
	t.extras = b.count(&o)
	if t.kind == "task" {
		success := rawjson.Last(t.result, "success")
		t.child = rawjson.TextAt(success, "agentId")
	}
}

// function takes {name, arguments}, of which the arguments are a string of JSON
// or what the model wrote instead.
func (b *builder) function(t *tool, body []byte) {
	var o members.Object
	o.Split(body, "tool_call."+generic+".", []string{"name", "arguments", "result"})
	t.name = name([]byte(o.Text(0)))
	if t.name == "" {
		o.Keep(0)
	}
	t.kind = toolmap.Kind(t.name)
	t.input = members.Bare("", o.Raw(1))
	if rawjson.IsText(t.input) {
		if line, repaired, err := rawjson.Line(rawjson.AppendText(nil, t.input)); err == nil && !repaired {
			t.input = members.Bare("", line)
		}
	}
	t.result = members.Bare("", o.Raw(2))
	t.extras = b.count(&o)
}

// goodCases are results of what a tool was asked to do.
const goodCases = " success async startSuccess saveSuccess discardSuccess complete stillRunning registered needsConfirmation "

// status is which case a result is. It is the one member that is no sibling
// such as sandboxPolicy: the first of a known name, else the first object.
func status(result []byte) (word string, failed bool) {
	for n, v := range rawjson.Members(result) {
		switch in := string(n); {
		case strings.Contains(goodCases, " "+in+" "):
			return in, string(rawjson.Last(v, "isError")) == "true"
		case toolmap.Failed(in):
			return in, true
		case word == "" && len(v) > 0 && v[0] == '{':
			word = name(n)
		}
	}
	return word, false
}

// whole is a line as it is.
func (b *builder) whole(e event) *session.Opaque {
	if e.kind == noise {
		if !utf8.Valid(e.raw) {
			b.lose(loss.TextRepaired, e.line)
		}
		return &session.Opaque{Kind: "noise", Raw: session.AppendString(nil, string(e.raw))}
	}
	word := name(e.typ)
	if sub := name(e.sub); sub != "" && word != "" {
		word += "/" + sub
	}
	return &session.Opaque{Kind: word, Raw: members.Bare("", e.raw)}
}

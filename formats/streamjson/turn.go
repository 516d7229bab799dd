package streamjson

import (
	"strconv"
	"strings"

	"rehome/formats/internal/members"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/internal/rawjson"
)

// end is what the first pass knows of a run.
type end struct {
	first, last session.Stamp // the times its lines state
	line        int           // of its result; of its last line, where it has none
	result      []byte        // nil if the run was cut off
}

var initNames = []string{"type", "subtype", "apiKeySource", "cwd", "session_id", "model", "permissionMode", "timestamp_ms"}

// initial takes what the client says when it starts.
func (b *builder) initial(e event) {
	var o members.Object
	o.Split(e.raw, "", initNames)
	b.top(&o, 4, 7)
	b.turn.Model = o.Text(5)
	if cwd := o.Text(3); cwd != b.cwd {
		o.Keep(3) // the session's folder is that of its first run
	}
	o.Keep(2)
	o.Keep(6)
	b.turn.Extras = append(b.turn.Extras, b.count(&o)...)
}

// top takes members that every line has. Of another type than they should be,
// they are kept.
func (b *builder) top(o *members.Object, id, at int) {
	o.Text(0) // type
	o.Text(1) // subtype
	o.Text(id)
	if raw := o.Raw(at); raw != nil {
		if _, ok := millis(raw); !ok {
			o.Keep(at)
		}
	}
}

// millis reads a time: a number, or a 64-bit number as protobuf spells it in
// JSON.
func millis(raw []byte) (session.Stamp, bool) {
	text := string(raw)
	if len(raw) > 2 && raw[0] == '"' {
		text = rawjson.Text(raw)
	}
	ms, err := strconv.ParseInt(text, 10, 64)
	if err != nil || strconv.FormatInt(ms, 10) != text {
		return session.Stamp{}, false
	}
	return session.Stored(ms), true
}

var resultNames = []string{"type", "subtype", "duration_ms", "duration_api_ms", "is_error", "result", "session_id", "request_id", "usage", "timestamp_ms"}

// settle completes a turn's record with how its run ended.
func (b *builder) settle(t *session.Turn) *session.Turn {
	if b.ending == nil || t.Number == 0 {
		return t
	}
	e, err := b.ending(t.Number)
	if err != nil {
		b.err, b.over = err, true
		return t
	}
	t.Start, t.End = guess(e.first), session.Stamp{}
	if e.result == nil {
		b.lose(loss.StreamUnfinished, e.line)
		return t
	}
	var o members.Object
	o.Split(e.result, "", resultNames)
	b.top(&o, 6, 9)
	t.Status, t.Error = outcome(&o)
	if sub := string(plain(o.Raw(1))); sub != "" && sub != "success" {
		o.Keep(1) // the status says only that it was an error
	}
	t.RequestID = o.Text(7)
	if raw := o.Raw(8); raw != nil {
		t.Usage, t.Extras = b.usage(raw, t.Extras)
		if t.Usage == nil {
			o.Keep(8)
		}
	}
	t.End = guess(e.last)
	if at, ok := millis(o.Raw(9)); ok {
		t.End = at
	}
	if took := o.Int(2, -1); took >= 0 && t.End.Known() && took <= t.End.Millis() {
		// The first line with a time comes some while after the start.
		t.Start = session.Inferred(min(t.End.Millis()-took, t.Start.Millis()))
	}
	o.Keep(2)
	o.Keep(3)
	t.Extras = append(t.Extras, b.count(&o)...)
	return t
}

func guess(s session.Stamp) session.Stamp {
	if !s.Known() {
		return s
	}
	return session.Inferred(s.Millis())
}

// outcome is how a run ended. A subtype that nobody has described is no error,
// unless the result says that it is one.
func outcome(o *members.Object) (status, text string) {
	sub := string(plain(o.Raw(1)))
	switch failed, text := o.Flag(4), o.Text(5); {
	case failed || strings.HasPrefix(sub, "error"):
		return "error", text
	case sub == "success":
		return "finished", ""
	}
	return sub, ""
}

var usageNames = []string{"inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens"}

func (b *builder) usage(raw []byte, list []session.Extra) (*session.Usage, []session.Extra) {
	var o members.Object
	if !o.Split(raw, "usage.", usageNames) {
		return nil, list
	}
	u := session.UnknownUsage()
	for i, n := range []*int64{&u.Input, &u.Output, &u.CacheRead, &u.CacheWrite} {
		*n = o.Int(i, -1)
		if *n < 0 {
			*n = -1
			o.Keep(i)
		}
	}
	return &u, append(list, b.count(&o)...)
}

// ended takes the result line where it stands. Its other members are on the
// turn's record, which was made of them; on a live pipe that is long gone, and
// the line is carried as it is.
func (b *builder) ended(e event) {
	if b.turn != nil || len(b.loose) > 0 {
		b.header()
	}
	var o members.Object
	o.Split(e.raw, "", resultNames)
	status, _ := outcome(&o)
	text := o.Text(5)
	switch {
	case text == "" || status == "error" && b.ending != nil || b.words.says(text):
	case b.words.all.n == 0 && status != "error":
		d := b.assistant(e)
		d.rest()
		d.Parts = append(d.Parts, &session.Text{Text: text, Source: session.Source{From: "result"}})
		b.words.fresh(text)
	case b.ending != nil:
		d := b.assistant(e)
		d.rest()
		d.Parts = append(d.Parts, &session.Opaque{Kind: "result", Raw: session.AppendString(nil, text)})
		b.lose(loss.StreamResultDiffers, e.line)
	}
	b.close()
	if b.ending == nil {
		b.opaque(e)
		b.close()
	}
}

package rewrite

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"strings"

	"rehome/internal/rawjson"
)

const (
	maxDelta = 64 << 10 // the largest record that is looked at
	maxTold  = 16 << 20 // of a text; a longer one is read in parts
	maxTexts = 256      // texts that are told at the same time
)

// delta is a record that adds to a text.
type delta struct {
	of   string // the run or session that it belongs to; "" if the record names none
	kind string // of text; "" if the record is not a delta
	text []byte // the text as JSON, a slice of the record
}

// deltaOf returns the delta that a record is. Clients tell texts in these:
//
//	SDK events                {"message":{"type":"assistant"|"thinking",…}} in a payload
//	Cursor's stream-json      {"type":"thinking","subtype":"delta"}, and {"type":"assistant"} with
//	                          a time and without the id of a call
//	Claude Code's stream-json {"type":"stream_event","event":{"delta":{…}}}
func deltaOf(v []byte) (d delta) {
	if len(v) > maxDelta || len(v) == 0 || v[0] != '{' || !bytes.Contains(v, []byte(`"sdk_message"`)) && !bytes.Contains(v, []byte(`"session_id"`)) {
		return d
	}
	if p := rawjson.Last(v, "payload"); p != nil {
		v = p
	}
	if rawjson.TextAt(v, "type") == "sdk_message" {
		d.of = rawjson.TextAt(v, "runId")
		v = rawjson.Last(v, "message")
		switch rawjson.TextAt(v, "type") {
		case "assistant":
			d.spoken(v)
		case "thinking":
			d.kind, d.text = "thinking", rawjson.Last(v, "text")
		}
	} else {
		d.of = rawjson.TextAt(v, "session_id")
		switch rawjson.TextAt(v, "type") {
		case "assistant":
			if rawjson.Last(v, "timestamp_ms") != nil && rawjson.Last(v, "model_call_id") == nil {
				d.spoken(v)
			}
		case "thinking":
			if rawjson.TextAt(v, "subtype") == "delta" {
				d.kind, d.text = "thinking", rawjson.Last(v, "text")
			}
		case "stream_event":
			event := rawjson.Last(v, "event")
			for name, value := range rawjson.Members(rawjson.Last(event, "delta")) {
				if n := string(name); n == "text" || n == "thinking" || n == "partial_json" {
					d.kind, d.text = n+string(rawjson.Last(event, "index")), value
				}
			}
		}
	}
	if len(d.text) < 2 || d.text[0] != '"' {
		d.kind = ""
	}
	return d
}

// spoken sets the text of a message that has one.
func (d *delta) spoken(v []byte) {
	n := 0
	for block := range rawjson.Elements(rawjson.At(v, "message", "content")) {
		d.kind, d.text = "text", rawjson.Last(block, "text")
		n++
	}
	if n != 1 {
		d.kind = ""
	}
}

// record is the place of a value: its set, its number there, and its cell.
type record struct {
	set, col int
	n        int64
}

// told is a text that is told in several records.
type told struct {
	kind    string
	text    strings.Builder
	records []record
	pieces  []string
}

// deltas puts texts together, and passes those of several records to end.
type deltas struct {
	open map[string]*told // by what they belong to
	end  func(t *told) error
}

func newDeltas(end func(t *told) error) *deltas { return &deltas{open: map[string]*told{}, end: end} }

// see takes a value in. at is its record.
func (d *deltas) see(at record, v []byte) error {
	x := deltaOf(v)
	if x.of == "" {
		return nil
	}
	t := d.open[x.of]
	if t != nil && (t.kind != x.kind || t.text.Len() > maxTold) {
		if err := d.close(x.of); err != nil {
			return err
		}
		t = nil
	}
	if x.kind == "" {
		return nil
	}
	if t == nil {
		if len(d.open) == maxTexts {
			if err := d.finish(); err != nil {
				return err
			}
		}
		t = &told{kind: x.kind}
		d.open[x.of] = t
	}
	piece := rawjson.Text(x.text)
	t.text.WriteString(piece)
	t.records, t.pieces = append(t.records, at), append(t.pieces, piece)
	return nil
}

func (d *deltas) close(of string) error {
	t := d.open[of]
	delete(d.open, of)
	if len(t.records) < 2 {
		return nil
	}
	return d.end(t)
}

func (d *deltas) finish() error {
	for _, of := range slices.Sorted(maps.Keys(d.open)) {
		if err := d.close(of); err != nil {
			return err
		}
	}
	return nil
}

// retold is what becomes of the text in a record: all of the text that it begins, or
// nothing.
type retold struct {
	text string
	hits []string // the kinds of what was replaced
}

// retell decides on a text of several records: if a value is spread over some of them,
// the first has all of the new text.
func (r *Reader) retell(ctx context.Context, t *told) error {
	var hits []string
	joined := []byte(t.text.String())
	out, err := r.rw.Value(ctx, joined, false, func(kind string) { hits = append(hits, kind) })
	if err != nil || bytes.Equal(out, joined) {
		return err
	}
	var apart []byte
	for _, p := range t.pieces {
		one, err := r.rw.Value(ctx, []byte(p), false, nil)
		if err != nil {
			return err
		}
		apart = append(apart, one...)
	}
	if bytes.Equal(apart, out) {
		return nil
	}
	for i, at := range t.records {
		r.retold[at] = retold{}
		if i == 0 {
			r.retold[at] = retold{strings.ToValidUTF8(string(out), "\ufffd"), hits}
		}
	}
	return nil
}

// again returns a record with the text that it has now.
func (t retold) again(v []byte) []byte {
	d := deltaOf(v)
	if d.kind == "" {
		return v
	}
	at := cap(v) - cap(d.text)
	return bytes.Join([][]byte{v[:at], rawjson.Quote(nil, []byte(t.text)), v[at+len(d.text):]}, nil)
}

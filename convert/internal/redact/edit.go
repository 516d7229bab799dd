package redact

import (
	"bytes"
	"context"
	"encoding/json"
	"unicode/utf8"
)

// maxDepth is how many encodings may lie in one another: base64 in JSON in protobuf.
const maxDepth = 64

// editor is one call of Value.
type editor struct {
	*Redactor
	ctx     context.Context
	onHit   func(kind string)
	hits    []*value
	decoded [][]byte // buffers, by depth
	clean   runCache // runs in which there is nothing to replace
	about   int      // number of values that were known to clean
}

// editor returns an editor for one call.
func (r *Redactor) editor(ctx context.Context, onHit func(kind string)) *editor {
	e, ok := r.editors.Get().(*editor)
	if !ok {
		e = &editor{Redactor: r}
	}
	r.known.sort()
	e.ctx, e.onHit, e.hits = ctx, onHit, e.hits[:0]
	if e.about != len(r.list) {
		e.about, e.clean = len(r.list), runCache{}
	}
	return e
}

// maxKept is the max size of a buffer that is kept for the next call.
const maxKept = 1 << 20

func (e *editor) release() {
	trim(e.decoded)
	e.ctx, e.onHit = nil, nil
	e.editors.Put(e)
}

// trim drops large buffers.
func trim(buffers [][]byte) {
	for i, b := range buffers {
		if cap(b) > maxKept {
			buffers[i] = nil
		}
	}
}

// edit is a range of bytes, and what replaces it.
type edit struct {
	from, to int
	with     []byte
}

// count counts what was replaced.
func (e *editor) count() {
	for _, v := range e.hits {
		v.count.Add(1)
		if e.onHit != nil {
			e.onHit(v.kind)
		}
	}
}

// value returns b without values.
func (e *editor) value(b []byte, as Form, depth int) (out []byte, changed bool, err error) {
	switch {
	case e.ctx.Err() != nil:
		return b, false, e.ctx.Err()
	case len(b) < gram:
		return b, false, nil
	case depth > maxDepth:
		return b, false, e.refuse(b, "data in too many encodings", minBinary)
	case as == Text:
		return e.text(b, depth)
	case as == Protobuf && !isProse(b):
		if out, changed, err, ok := e.message(b, depth); ok {
			return out, changed, err
		}
	}
	if out, changed, err, ok := e.image(b); ok {
		return out, changed, err
	}
	if isText(b) {
		return e.text(b, depth)
	}
	if out, changed, err, ok := e.wide(b, depth); ok {
		return out, changed, err
	}
	if out, changed, err, ok := e.message(b, depth); ok {
		return out, changed, err
	}
	if mostlyText(b) {
		return e.text(b, depth)
	}
	return b, false, e.refuse(b, "binary data", minBinary)
}

// minBinary is the min length of a value that is told from chance in binary data.
const minBinary = 6

// refuse returns an error if bytes that cannot be edited hold a value.
func (e *editor) refuse(b []byte, what string, atLeast int) (err error) {
	e.known.each(b, false, func(m match) bool {
		if m.to-m.from >= atLeast {
			err = &Opaque{m.kind, what}
		}
		return err == nil
	})
	return err
}

// isText reports whether bytes are text, and not a message that happens to be UTF-8.
func isText(b []byte) bool {
	for _, c := range b {
		if c < ' ' && c != '\n' && c != '\t' && c != '\r' && c != 0x1B && c != '\b' && c != '\f' {
			return false
		}
	}
	return utf8.Valid(b)
}

// mostlyText reports whether bytes are text with few other bytes.
func mostlyText(b []byte) bool {
	if utf8.Valid(b) {
		return true
	}
	n := 0
	for _, c := range b {
		if c == 0 {
			return false
		}
		if c < ' ' && c != '\n' && c != '\t' && c != '\r' && c != 0x1B || c >= utf8.RuneSelf {
			n++
		}
	}
	return n <= len(b)/8
}

// text returns a text without values.
func (e *editor) text(b []byte, depth int) (out []byte, changed bool, err error) {
	hit := false
	e.known.each(b, false, func(match) bool {
		hit = true
		return false
	})
	if !hit { // there may be some in base64, which is the same in JSON
		return e.runs(b, depth)
	}
	trimmed := bytes.TrimLeft(b, " \t\r\n")
	if len(trimmed) == 0 || trimmed[0] != '{' && trimmed[0] != '[' && trimmed[0] != '"' {
		return e.plain(b, false, depth)
	}
	if json.Valid(b) {
		return e.json(b, depth)
	}
	if bytes.IndexByte(trimmed, '\n') < 0 {
		return e.plain(b, false, depth)
	}
	for len(b) > 0 { // lines, of which some are JSON
		n := bytes.IndexByte(b, '\n') + 1
		if n == 0 {
			n = len(b)
		}
		one := e.plainLine
		if json.Valid(b[:n]) {
			one = e.json
		}
		line, c, err := one(b[:n], depth)
		if err != nil {
			return nil, false, err
		}
		out, b, changed = append(out, line...), b[n:], changed || c
	}
	return out, changed, nil
}

func (e *editor) plainLine(b []byte, depth int) ([]byte, bool, error) {
	return e.plain(b, false, depth)
}

// json returns JSON without values in its strings and names of members. It is an
// error if a number is a value.
func (e *editor) json(b []byte, depth int) (out []byte, changed bool, err error) {
	var edits []edit
	last := 0
	for i := 0; i < len(b); {
		if b[i] != '"' {
			i++
			continue
		}
		if err := e.refuse(b[last:i], "a number in JSON", gram); err != nil {
			return nil, false, err
		}
		from := i + 1
		for i = from; i < len(b) && b[i] != '"'; i++ {
			if b[i] == '\\' {
				i++
			}
		}
		to := min(i, len(b))
		with, c, err := e.jsonString(b[from:to], depth)
		if err != nil {
			return nil, false, err
		}
		if c {
			edits = append(edits, edit{from, to, with})
		}
		i = to + 1
		last = min(i, len(b))
	}
	if err := e.refuse(b[last:], "a number in JSON", gram); err != nil {
		return nil, false, err
	}
	return splice(b, edits), len(edits) > 0, nil
}

// jsonString returns the content of a string of JSON without values. If it is JSON
// itself, it stays JSON.
func (e *editor) jsonString(b []byte, depth int) (out []byte, changed bool, err error) {
	before := len(e.hits)
	out, changed, err = e.plain(b, true, depth)
	if !changed || err != nil {
		return out, changed, err
	}
	inner := unquote(b)
	if t := bytes.TrimLeft(inner, " \t\r\n"); len(t) == 0 || t[0] != '{' && t[0] != '[' || !json.Valid(inner) || json.Valid(unquote(out)) {
		return out, true, nil
	}
	e.hits = e.hits[:before]
	if out, changed, err = e.value(inner, Unknown, depth+1); err != nil {
		return nil, false, err
	}
	return quote(out), changed, nil
}

// unquote returns the text of a string of JSON, nil if it is none.
func unquote(b []byte) []byte {
	var s string
	if json.Unmarshal(append(append([]byte{'"'}, b...), '"'), &s) != nil {
		return nil
	}
	return []byte(s)
}

func quote(b []byte) []byte {
	var w bytes.Buffer
	enc := json.NewEncoder(&w)
	enc.SetEscapeHTML(false)
	if enc.Encode(string(b)) != nil {
		return nil
	}
	return w.Bytes()[1 : w.Len()-2]
}

// plain replaces values that are spelled in text, and those in base64 and hexadecimal
// digits.
func (e *editor) plain(b []byte, isJSON bool, depth int) (out []byte, changed bool, err error) {
	var edits []edit
	e.known.each(b, isJSON, func(m match) bool {
		if e.replaced(b, m) {
			return true
		}
		e.hits = append(e.hits, m.value)
		if last := len(edits) - 1; last >= 0 && m.from < edits[last].to { // the rest of it must not stay
			edits[last].to = m.to
			return true
		}
		edits = append(edits, edit{m.from, m.to, m.placeholder})
		return true
	})
	if len(edits) > 0 {
		out = splice(b, edits)
		b, changed = out, true
	}
	out, c, err := e.runs(b, depth)
	return out, changed || c, err
}

// runs replaces values in base64 and hexadecimal digits.
func (e *editor) runs(b []byte, depth int) (out []byte, changed bool, err error) {
	var edits []edit
	for run := range runs(b) {
		with, c, err := e.run(run, depth)
		if err != nil {
			return nil, false, err
		}
		if c {
			edits = append(edits, edit{run.from, run.to, with})
		}
	}
	return splice(b, edits), len(edits) > 0, nil
}

// splice applies edits, which are sorted and do not overlap.
func splice(b []byte, edits []edit) []byte {
	if len(edits) == 0 {
		return b
	}
	out, done := make([]byte, 0, len(b)), 0
	for _, d := range edits {
		out = append(append(out, b[done:d.from]...), d.with...)
		done = d.to
	}
	return append(out, b[done:]...)
}

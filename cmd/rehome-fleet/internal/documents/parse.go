package documents

import (
	"bytes"
	"encoding/base64"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"rehome/internal/rawjson"
)

// valid reports whether a line is JSON in UTF-8 that servers can read: they have a limited stack.
func valid(line []byte) bool {
	return rawjson.Inline(line) || utf8.Valid(line) && rawjson.Valid(line)
}

// members returns the values of the named top-level members of a valid object, of a doubled
// one the last, as in JavaScript. Anything else has none.
func members(line []byte, names ...string) (values [4][]byte) {
	for name, value := range rawjson.Members(line) {
		if i := slices.Index(names, string(name)); i >= 0 {
			values[i] = value
		}
	}
	return values
}

// text returns a string as text that every server can hold: without lone surrogates and
// U+0000. ok is false for any other value.
func text(v []byte) (b []byte, ok bool) {
	if len(v) == 0 || v[0] != '"' {
		return nil, false
	}
	if b = v[1 : len(v)-1 : len(v)-1]; bytes.IndexByte(b, '\\') >= 0 {
		b = rawjson.AppendText(nil, v) // not UTF-8 if half of a surrogate pair is in it
	}
	return b, utf8.Valid(b) && bytes.IndexByte(b, 0) < 0
}

func id(v []byte) ([]byte, bool) {
	b, ok := text(v)
	return b, ok && len(b) <= maxID
}

// column is text, or nil for what is none.
func column(v []byte) []byte {
	if b, ok := text(v); ok {
		return b
	}
	return nil
}

func number(v []byte) (float64, bool) {
	if len(v) == 0 || v[0] != '-' && (v[0] < '0' || v[0] > '9') {
		return 0, false
	}
	f, err := strconv.ParseFloat(string(v), 64)
	if f == 0 {
		f = 0 // not -0, which is equal to 0 for a server
	}
	return f, err == nil
}

// parse returns the row of a line, and whether the row alone does not tell how the line was
// spelled. It decodes a checkpoint into *data.
func parse(set Set, line []byte, data *[]byte) (row Row, spelled, ok bool) {
	if set == Checkpoints {
		return checkpoint(line, data)
	}
	if !valid(line) {
		return row, false, false
	}
	var m [4][]byte
	row.Doc = line
	switch set {
	case Agents:
		m = members(line, "agentId", "cwd", "updatedAt")
		row.Cwd = column(m[1])
		row.Number, row.HasNumber = number(m[2])
		row.Agent, ok = id(m[0])
	case Runs:
		m = members(line, "agentId", "runId", "turnNumber", "status")
		row.Number, row.HasNumber = number(m[2])
		row.Status = column(m[3])
		if row.Agent, ok = id(m[0]); ok {
			row.Run, ok = id(m[1])
		}
	case Events:
		m = members(line, "runId", "seq", "idempotencyKey")
		if row.Run, ok = id(m[0]); !ok {
			return row, false, false
		}
		seq, is := number(m[1])
		if ok = is && seq == math.Trunc(seq) && math.Abs(seq) < 1<<53; !ok {
			return row, false, false
		}
		row.Seq = int64(seq)
		if row.Idem = column(m[2]); len(row.Idem) > maxID {
			row.Idem = nil
		}
	}
	return row, false, ok
}

// checkpoint parses a line of checkpoints.ndjson. A line that JSON.stringify did not write is
// a document as well, if the SDK reads it as one.
func checkpoint(line []byte, data *[]byte) (row Row, spelled, ok bool) {
	if !valid(line) {
		return row, false, false
	}
	m := members(line, "agentId", "blobId", "dataBase64")
	if row.Agent, ok = id(m[0]); !ok {
		return row, false, false
	}
	if row.Blob, ok = id(m[1]); !ok {
		return row, false, false
	}
	coded, ok := text(m[2])
	if !ok || bytes.ContainsAny(coded, "\r\n") {
		return row, false, false
	}
	exact := true
	if *data, exact, ok = decode(coded, (*data)[:0]); !ok {
		return row, false, false
	}
	if row.Data = *data; row.Data == nil {
		row.Data = []byte{} // nil is null
	}
	return row, !exact || !written(&row, coded, line), true
}

// decode decodes base64 as the SDK writes it, or as it also reads it: unpadded, or with the
// alphabet for URLs.
func decode(coded, into []byte) (data []byte, exact, ok bool) {
	if data, err := base64.StdEncoding.Strict().AppendDecode(into, coded); err == nil {
		return data, true, true
	}
	bare := bytes.TrimRight(coded, "=")
	for _, e := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		if data, err := e.AppendDecode(into, bare); err == nil {
			return data, false, true
		}
	}
	return into, false, false
}

// written reports whether a line is what JSON.stringify writes for a checkpoint.
func written(r *Row, coded, line []byte) bool {
	head := appendHead(nil, r)
	return len(line) == len(head)+len(coded)+2 && bytes.HasPrefix(line, head) &&
		bytes.Equal(line[len(head):len(line)-2], coded) && bytes.HasSuffix(line, []byte(`"}`))
}

// appendHead writes a checkpoint's line up to its data.
func appendHead(b []byte, r *Row) []byte {
	b = quote(append(b, `{"agentId":`...), r.Agent)
	b = quote(append(b, `,"blobId":`...), r.Blob)
	return append(b, `,"dataBase64":"`...)
}

// quote writes text as JSON.stringify does.
func quote(b, s []byte) []byte {
	b = append(b, '"')
	for _, c := range s {
		at := bytes.IndexByte([]byte("\b\f\n\r\t\"\\"), c)
		switch {
		case at >= 0:
			b = append(b, '\\', `bfnrt"\`[at])
		case c < ' ':
			b = append(b, '\\', 'u', '0', '0', '0'+c>>4, "0123456789abcdef"[c&15])
		default:
			b = append(b, c)
		}
	}
	return append(b, '"')
}

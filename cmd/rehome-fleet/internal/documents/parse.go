package documents

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"math"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// members returns the values of the named top-level members of an object, of a doubled one the
// last, as in JavaScript. The text is valid JSON; ok is false if it is no object, or too deep.
func members(text []byte, names ...string) (values [4][]byte, ok bool) {
	s := bytes.Trim(text, " \t\r\n")
	if len(s) == 0 || s[0] != '{' {
		return values, false
	}
	depth, name, start := 0, -1, -1 // start: of the value of name
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '"':
			end := i + 1
			for ; s[end] != '"'; end++ {
				if s[end] == '\\' {
					end++
				}
			}
			if depth == 1 && start < 0 {
				name = index(s[i:end+1], names)
				for i = end + 1; s[i] != ':'; i++ {
				}
				start = i + 1
				continue
			}
			i = end
		case '{', '[':
			if depth++; depth > maxDeep {
				return values, false
			}
		case '}', ']', ',':
			if depth == 1 && start >= 0 {
				if name >= 0 {
					values[name] = bytes.Trim(s[start:i], " \t\r\n")
				}
				start = -1
			}
			if c != ',' {
				depth--
			}
		}
	}
	return values, true
}

func index(quoted []byte, names []string) int {
	for i, n := range names {
		if string(quoted[1:len(quoted)-1]) == n {
			return i
		}
	}
	if bytes.IndexByte(quoted, '\\') >= 0 {
		if plain, ok := unquote(quoted); ok {
			for i, n := range names {
				if string(plain) == n {
					return i
				}
			}
		}
	}
	return -1
}

// text returns a string as text that every server can hold: without lone surrogates and
// U+0000. ok is false for any other value.
func text(v []byte) (b []byte, ok bool) {
	if len(v) == 0 || v[0] != '"' {
		return nil, false
	}
	b, ok = unquote(v)
	return b, ok && bytes.IndexByte(b, 0) < 0
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

func unquote(v []byte) ([]byte, bool) {
	v = v[1 : len(v)-1]
	if bytes.IndexByte(v, '\\') < 0 {
		return v[:len(v):len(v)], true
	}
	out := make([]byte, 0, len(v))
	for i := 0; i < len(v); i++ {
		if v[i] != '\\' {
			out = append(out, v[i])
			continue
		}
		i++
		at := bytes.IndexByte([]byte(`bfnrt`), v[i])
		switch {
		case at >= 0:
			out = append(out, "\b\f\n\r\t"[at])
		case v[i] != 'u':
			out = append(out, v[i])
		default:
			r := hex(v[i+1:])
			i += 4
			if utf16.IsSurrogate(r) {
				if !bytes.HasPrefix(v[i+1:], []byte(`\u`)) {
					return nil, false
				}
				if r = utf16.DecodeRune(r, hex(v[i+3:])); r == utf8.RuneError {
					return nil, false
				}
				i += 6
			}
			out = utf8.AppendRune(out, r)
		}
	}
	return out, true
}

func hex(v []byte) rune {
	n, _ := strconv.ParseUint(string(v[:4]), 16, 32)
	return rune(n)
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
	if !utf8.Valid(line) || !json.Valid(line) {
		return row, false, false
	}
	var m [4][]byte
	row.Doc = line
	switch set {
	case Agents:
		if m, ok = members(line, "agentId", "cwd", "updatedAt"); !ok {
			return row, false, false
		}
		row.Cwd = column(m[1])
		row.Number, row.HasNumber = number(m[2])
		row.Agent, ok = id(m[0])
	case Runs:
		if m, ok = members(line, "agentId", "runId", "turnNumber", "status"); !ok {
			return row, false, false
		}
		row.Number, row.HasNumber = number(m[2])
		row.Status = column(m[3])
		if row.Agent, ok = id(m[0]); ok {
			row.Run, ok = id(m[1])
		}
	case Events:
		if m, ok = members(line, "runId", "seq", "idempotencyKey"); !ok {
			return row, false, false
		}
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
	if !utf8.Valid(line) || !json.Valid(line) {
		return row, false, false
	}
	m, ok := members(line, "agentId", "blobId", "dataBase64")
	if !ok {
		return row, false, false
	}
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

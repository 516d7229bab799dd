package cursortools

import (
	"encoding/base64"
	"math"
	"slices"
	"strconv"
	"strings"

	"rehome/formats/internal/object"
	"rehome/formats/internal/toolmap"
	"rehome/formats/internal/wire"
	"rehome/formats/session"
	"rehome/internal/rawjson"
	"rehome/internal/shell"
)

// doc is the members of a JSON object.
type doc []member

type member struct{ name, value []byte }

// parse reads an object; it returns nil for any other value.
func parse(raw []byte) (d doc) {
	for name, value := range rawjson.Members(raw) {
		d = append(d, member{name, value})
	}
	return d
}

// has reports whether there is a member of the name, even if it is null.
func (d doc) has(name string) bool {
	return slices.ContainsFunc(d, func(m member) bool { return string(m.name) == name })
}

// get returns the value of the first of the names that has one; nil if none has.
func (d doc) get(names ...string) []byte {
	for _, name := range names {
		for i := len(d) - 1; i >= 0; i-- {
			if string(d[i].name) == name && string(d[i].value) != "null" {
				return d[i].value
			}
		}
	}
	return nil
}

// get returns the value of the first of the names that a document has one of.
func get(docs []doc, names ...string) []byte {
	for _, d := range docs {
		if v := d.get(names...); v != nil {
			return v
		}
	}
	return nil
}

// fill writes a value as a field of a message, converted to its type. It reports false if
// that is not possible; a field that has its default value anyway is left out. A value that
// was made for the field can be trusted.
func fill(o *object.Writer, f *wire.Field, raw []byte, trust bool) bool {
	switch {
	case len(raw) == 0:
		return false
	case trust && (f.Key != 0 || f.Repeated && f.Kind == wire.Nested):
		o.Raw(f.Name, raw)
		return true
	case f.Key != 0:
		return nested(o, f, raw)
	case f.Repeated:
		return list(o, f, raw)
	}
	value, ok := scalar(f, raw)
	if !ok {
		return false
	}
	if zero(value) && !f.Optional && f.OneOf == "" && f.Kind != wire.Nested {
		return true
	}
	o.Raw(f.Name, value)
	return true
}

func zero(value []byte) bool {
	s := string(value)
	return s == `""` || s == "0" || s == "false" || s == "-0"
}

// nested writes a value that has to be one of the field's already.
func nested(o *object.Writer, f *wire.Field, raw []byte) bool {
	m := wire.Message{Name: f.Name, Fields: []*wire.Field{f}}
	one := object.New(nil)
	one.Raw(f.Name, raw)
	if _, err := m.AppendJSON(nil, one.Done()); err != nil {
		return false
	}
	o.Raw(f.Name, raw)
	return true
}

// list writes the values of an array, or one value as an array.
func list(o *object.Writer, f *wire.Field, raw []byte) bool {
	if raw[0] != '[' {
		if raw[0] != '"' || f.Kind != wire.String {
			return false
		}
		o.Raw(f.Name, append(append([]byte{'['}, raw...), ']'))
		return true
	}
	if f.Kind != wire.String && f.Kind != wire.Int32 {
		return nested(o, f, raw)
	}
	out := []byte{'['}
	for e := range rawjson.Elements(raw) {
		v, ok := scalar(f, e)
		if !ok {
			return false
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(out, v...)
	}
	if len(out) > 1 {
		o.Raw(f.Name, append(out, ']'))
	}
	return true
}

// scalar converts a value to the type of a field.
func scalar(f *wire.Field, raw []byte) (value []byte, ok bool) {
	switch f.Kind {
	case wire.String:
		switch raw[0] {
		case '"':
			return raw, true
		case '[':
			text := Line(raw)
			return session.AppendString(nil, text), text != ""
		case '{':
			return nil, false
		}
		return session.AppendString(nil, string(raw)), true
	case wire.Bool:
		word := bare(raw)
		return []byte(word), word == "true" || word == "false"
	case wire.Enum:
		n, err := strconv.ParseInt(bare(raw), 10, 32)
		if err != nil {
			n = int64(f.Number(toolmap.Snake(enumWord(bare(raw)))))
		}
		return strconv.AppendInt(nil, n, 10), n != 0
	case wire.Float, wire.Double:
		_, err := strconv.ParseFloat(bare(raw), 64)
		return []byte(bare(raw)), err == nil && raw[0] != '"'
	case wire.Int32, wire.Sint32:
		return whole(raw, math.MinInt32, math.MaxInt32)
	case wire.Uint32:
		return whole(raw, 0, math.MaxUint32)
	case wire.Int64:
		return whole(raw, -1<<53, 1<<53)
	case wire.Uint64:
		return whole(raw, 0, 1<<53)
	case wire.Blob:
		_, err := base64.StdEncoding.Strict().DecodeString(rawjson.Text(raw))
		return raw, err == nil && rawjson.IsText(raw)
	case wire.Nested:
		_, err := f.Message.AppendJSON(nil, raw)
		return raw, err == nil
	}
	return nil, false
}

// enumWord returns the part of an enum's value that is its own: in all of Cursor's, what
// follows the word STATUS.
func enumWord(s string) string {
	if i := strings.LastIndex(s, "_STATUS_"); i >= 0 {
		return strings.ToLower(s[i+len("_STATUS_"):])
	}
	return s
}

// bare returns the text of a string, or any other value as it is.
func bare(raw []byte) string {
	if rawjson.IsText(raw) {
		return rawjson.Text(raw)
	}
	return string(raw)
}

// whole converts a number to an integer.
func whole(raw []byte, low, high float64) ([]byte, bool) {
	x, err := strconv.ParseFloat(strings.TrimSpace(bare(raw)), 64)
	if err != nil || x != math.Trunc(x) || x < low || x > high {
		return nil, false
	}
	return strconv.AppendInt(nil, int64(x), 10), true
}

// Line returns a command that was given as a list of words as one types it; "" if it is no
// such list.
func Line(list []byte) string {
	var words []string
	for e := range rawjson.Elements(list) {
		if !rawjson.IsText(e) {
			return ""
		}
		words = append(words, rawjson.Text(e))
	}
	if len(words) == 3 && (words[1] == "-lc" || words[1] == "-c") {
		return words[2]
	}
	for i := range words {
		words[i] = shell.POSIX(words[i])
	}
	return strings.Join(words, " ")
}

// Quoted returns a path as one word of a shell's command, which is no option of it.
func Quoted(path string) string {
	if strings.HasPrefix(path, "-") {
		path = "./" + path
	}
	return shell.POSIX(path)
}

package rewrite

import (
	"bytes"
	"iter"

	"rehome/formats/loss"
	"rehome/internal/rawjson"
)

// maxDepth bounds how deep signatures are looked for. Clients have them at about six.
const maxDepth = 64

// unsigned removes the signatures of reasoning whose text changed from JSON, and
// returns the losses. was and is are the same JSON, before and after. What is not JSON
// is returned as it is.
//
// A block of Claude becomes text, as in a session of another model: the API rejects
// reasoning that is not signed. Cursor's clients accept it without a signature.
func unsigned(was, is []byte) (out []byte, lost []loss.Code) {
	if !bytes.Contains(was, []byte(`"signature"`)) || !rawjson.Valid(was) || !rawjson.Valid(is) {
		return is, nil
	}
	u := &unsigner{}
	return u.value(was, is, 0), u.lost
}

type unsigner struct{ lost []loss.Code }

func (u *unsigner) value(was, is []byte, depth int) []byte {
	if depth == maxDepth || bytes.Equal(was, is) || len(is) == 0 {
		return is
	}
	switch is[0] {
	case '{':
		if out, ok := u.block(was, is); ok {
			return out
		}
		return u.splice(is, u.pairs(second(rawjson.Members(was)), second(rawjson.Members(is))), depth)
	case '[':
		return u.splice(is, u.pairs(rawjson.Elements(was), rawjson.Elements(is)), depth)
	}
	return is
}

// pair is a value before and after.
type pair struct{ was, is []byte }

func (u *unsigner) pairs(was, is iter.Seq[[]byte]) (out []pair) {
	next, stop := iter.Pull(was)
	defer stop()
	for v := range is {
		before, ok := next()
		if !ok {
			return nil
		}
		out = append(out, pair{before, v})
	}
	return out
}

func second(all iter.Seq2[[]byte, []byte]) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for _, v := range all {
			if !yield(v) {
				return
			}
		}
	}
}

// splice returns JSON with what becomes of the values in it, which are parts of it.
func (u *unsigner) splice(is []byte, parts []pair, depth int) []byte {
	var out []byte
	rest := is
	for _, p := range parts {
		re := u.value(p.was, p.is, depth+1)
		if bytes.Equal(re, p.is) {
			continue
		}
		at := cap(rest) - cap(p.is) // p.is is a slice of rest
		out = append(append(out, rest[:at]...), re...)
		rest = rest[at+len(p.is):]
	}
	if out == nil {
		return is
	}
	return append(out, rest...)
}

// block returns an object of reasoning without its signature, if its text changed.
func (u *unsigner) block(was, is []byte) ([]byte, bool) {
	if rawjson.TextAt(is, "signature") == "" {
		return nil, false
	}
	switch thinking, kind := rawjson.Last(is, "thinking"), rawjson.TextAt(is, "type"); {
	case kind == "thinking" && rawjson.IsText(thinking):
		if bytes.Equal(thinking, rawjson.Last(was, "thinking")) {
			return nil, false
		}
		u.lost = append(u.lost, loss.ThinkingEdited)
		return bytes.Join([][]byte{[]byte(`{"type":"text","text":"<thinking>\n`), thinking[1 : len(thinking)-1], []byte(`\n</thinking>"}`)}, nil), true
	case bytes.Equal(rawjson.Last(is, "text"), rawjson.Last(was, "text")):
		return nil, false
	}
	u.lost = append(u.lost, loss.ThinkingEdited)
	return cutSignatures(is, 0), true
}

// cutSignatures removes the members named signature from an object, at any depth.
func cutSignatures(b []byte, depth int) []byte {
	if depth == maxDepth || len(b) == 0 || b[0] != '{' {
		return b
	}
	out := []byte{'{'}
	for name, value := range rawjson.Members(b) {
		if string(name) == "signature" {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(rawjson.Quote(out, name), ':'), cutSignatures(value, depth+1)...)
	}
	return append(out, '}')
}

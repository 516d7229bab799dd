package agentstate

import (
	"bytes"
	"unicode/utf8"

	"rehome/formats/internal/rawjson"
	"rehome/formats/internal/wire"
	"rehome/formats/loss"
	"rehome/formats/session"
)

// text is a string of protobuf. One that is no UTF-8 is mended, and kept raw
// among the extras.
func (s *State) text(b []byte, name string, extras *[]session.Extra) string {
	if utf8.Valid(b) {
		return string(b)
	}
	s.note(loss.TextRepairedKept)
	raw := append(wire.AppendBase64([]byte(`{"base64":`), b), '}')
	*extras = append(*extras, session.Extra{Name: name, Raw: raw})
	return string(bytes.ToValidUTF8(b, []byte("\uFFFD")))
}

// members are the members of an object as Extras, their names behind a prefix.
func members(object []byte, prefix string) (out []session.Extra) {
	for name, value := range rawjson.Members(object) {
		out = append(out, session.Extra{Name: prefix + string(name), Raw: session.Raw(value)})
	}
	return out
}

// quoted is a text as a JSON value.
func quoted(text string) session.Raw { return session.AppendString(nil, text) }

// stored is a moment of milliseconds; one of 0 was never set.
func stored(ms uint64) session.Stamp {
	if ms == 0 || ms > 1<<53 {
		return session.Stamp{}
	}
	return session.Stored(int64(ms))
}

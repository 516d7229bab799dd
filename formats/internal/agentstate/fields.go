package agentstate

import (
	"bytes"
	"unicode/utf8"

	"rehome/formats/internal/wire"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/internal/rawjson"
)

// text returns a string of protobuf. One that is not valid UTF-8 is repaired, and also
// kept raw in extras.
func (s *State) text(b []byte, name string, extras *[]session.Extra) string {
	if utf8.Valid(b) {
		return string(b)
	}
	s.note(loss.TextRepairedKept)
	raw := append(wire.AppendBase64([]byte(`{"base64":`), b), '}')
	*extras = append(*extras, session.Extra{Name: name, Raw: raw})
	return string(bytes.ToValidUTF8(b, []byte("\uFFFD")))
}

// members returns the members of an object as Extras, with a prefix before their names.
func members(object []byte, prefix string) (out []session.Extra) {
	for name, value := range rawjson.Members(object) {
		out = append(out, session.Extra{Name: prefix + string(name), Raw: session.Raw(value)})
	}
	return out
}

// quoted returns a text as a JSON string.
func quoted(text string) session.Raw { return session.AppendString(nil, text) }

// stored returns the time in milliseconds; 0 means that it was never set.
func stored(ms uint64) session.Stamp {
	if ms == 0 || ms > 1<<53 {
		return session.Stamp{}
	}
	return session.Stored(int64(ms))
}

package agentstate

import (
	"strings"

	"rehome/formats/internal/wire"
	"rehome/formats/session"
)

// Fields encodes those Extras that are fields of a message of the table, and returns the
// others. held are the fields that the message has already. Of several with one name the
// first counts: decoding gives one for each message, the innermost first.
func Fields(message string, extras []session.Extra, held ...string) (fields []byte, rest []session.Extra) {
	m := wire.Messages().Message(message)
	for _, e := range extras {
		out, ok := extraField(m, e, held)
		if !ok {
			rest = append(rest, e)
			continue
		}
		fields, held = append(fields, out...), append(held, e.Name)
	}
	return fields, rest
}

// extraField encodes one of them.
func extraField(m *wire.Message, e session.Extra, held []string) (out []byte, ok bool) {
	if len(e.Raw) == 0 || m.Named(e.Name) == nil && !strings.HasPrefix(e.Name, "#") {
		return nil, false
	}
	for _, name := range held {
		if e.Name == name {
			return nil, false
		}
	}
	out, err := m.AppendJSON(nil, object([]session.Extra{e}))
	return out, err == nil && len(out) > 0
}

// Holds reports whether a value is JSON of a message of the table.
func Holds(message string, value session.Raw) bool {
	if len(value) == 0 || value[0] != '{' {
		return false
	}
	_, err := wire.Messages().Message(message).AppendJSON(nil, value)
	return err == nil
}

// CallHolds reports whether an Extra is a field of the message of a tool call's kind,
// besides its arguments and its result; without a kind, one that a ToolCall holds.
func CallHolds(kind string, e session.Extra, held []string) bool {
	m := codecs().call.Message
	if f := m.Named(kind + "ToolCall"); f != nil {
		m = f.Message
	} else if m.Named(e.Name) != nil {
		return false // it is written in any case
	}
	_, ok := extraField(m, e, append(held, "args", "result"))
	return ok
}

package claude

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"slices"
	"time"
)

// digest identifies the value of a JSON document, whatever its spelling: the order of members,
// white space, escapes and the notation of numbers do not matter. Of members with the same name
// the last one counts, as in every client.
type digest [sha256.Size]byte

// traits are what some servers refuse or change in a document.
type traits struct {
	Null      bool // a string with U+0000
	Lone      bool // a string with half a surrogate pair
	Bytes     bool // bytes that are not UTF-8
	Doubled   bool // members of the same name
	MinusZero bool
	Range     bool // a number that is out of range for PostgreSQL's numeric
}

// entry is a JSON object of a transcript.
type entry struct {
	Line []byte
	Sum  digest
	traits
	kind, time member // "type" and "timestamp"
}

// member is where a member of an object is: its name at From, its value between Value and To.
type member struct{ From, Value, To int }

// inspect returns b as an entry, and false if it is not an object.
func inspect(b []byte) (entry, bool) { return walk(b, false) }

// outline is inspect without digests, which take most of its time.
func outline(b []byte) (entry, bool) {
	return walk(b, true)
}

func walk(b []byte, plain bool) (entry, bool) {
	b = bytes.Trim(b, " \t\r\n")
	if len(b) == 0 || b[0] != '{' || !json.Valid(b) {
		return entry{}, false
	}
	w := walker{b: b, plain: plain}
	w.Sum = w.value()
	w.Line = b
	return w.entry, true
}

// Time returns when an entry was written, zero if it does not say.
func (e *entry) Time() time.Time {
	var text string
	if json.Unmarshal(e.Line[e.time.Value:e.time.To], &text) != nil {
		return time.Time{}
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil || at.Unix() <= 0 || at.Year() > 9999 {
		return time.Time{}
	}
	return at
}

// metadata starts the entry as which the SDK stores the file that describes a subagent.
const metadata = `{"type":"agent_metadata"`

// asEntry returns the description of a subagent as an entry.
func asEntry(b []byte) ([]byte, bool) {
	e, ok := inspect(b)
	if !ok || e.kind.To > 0 {
		return nil, false
	}
	var out bytes.Buffer
	if json.Compact(&out, e.Line) != nil {
		return nil, false
	}
	rest := out.Bytes()[1:]
	if len(rest) > 1 {
		rest = append([]byte(","), rest...)
	}
	return append([]byte(metadata), rest...), true
}

// asMeta is the reverse of asEntry, and false for any other entry. The entry is compact.
func (e *entry) asMeta() ([]byte, bool) {
	if string(e.Line[e.kind.Value:e.kind.To]) != `"agent_metadata"` {
		return nil, false
	}
	return e.without(e.kind), true
}

// typeFirst returns a compact entry with its type as the first member, which is where clients
// look for it.
func (e *entry) typeFirst() []byte {
	if e.kind.From <= 1 {
		return e.Line
	}
	rest := e.without(e.kind)
	out := append([]byte("{"), e.Line[e.kind.From:e.kind.To]...)
	if len(rest) > 2 {
		out = append(out, ',')
	}
	return append(out, rest[1:]...)
}

// without returns a compact entry without a member.
func (e *entry) without(m member) []byte {
	from, to := m.From, m.To
	if e.Line[to] == ',' {
		to++
	} else if e.Line[from-1] == ',' {
		from--
	}
	return slices.Concat(e.Line[:from], e.Line[to:])
}

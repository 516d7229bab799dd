package sdkdoc

import (
	"bytes"
	"time"

	"rehome/formats/internal/secret"
	"rehome/formats/store"
	"rehome/internal/rawjson"
)

// Strip leaves out the secrets of JSON in a document, see secret.Strip. In agents
// and runs nobody says anything: what is named like a credential is one there.
func (k Kind) Strip(text []byte) (bare []byte, cuts []store.Insert, torn bool) {
	if k <= Run {
		return secret.StripOwn(text)
	}
	return secret.Strip(text)
}

// Bare is a cell without its secrets; hex says that it may hold them in
// hexadecimal, as meta rows do. torn: they cannot be cut out.
func Bare(cell []byte, hex bool) (bare []byte, cut, torn bool) {
	bare, cuts, torn := secret.Strip(cell)
	if cuts == nil && !torn && hex {
		return secret.StripHex(cell)
	}
	return bare, cuts != nil, torn
}

// HoldsSecret reports whether anything in a cell may be a secret.
func HoldsSecret(cell []byte) bool {
	_, cut, torn := Bare(cell, true)
	held, err := secret.Holds(bytes.NewReader(cell))
	return cut || torn || held || err != nil
}

// JSON reports whether a cell holds JSON, as JSON.parse takes it.
func JSON(cell []byte) bool { return rawjson.Valid(cell) }

// RootOf is the blob that a cell of a checkpoint names; ok is false if it is no
// such cell.
func RootOf(cell []byte) (id string, ok bool) {
	if !JSON(cell) {
		return "", false
	}
	raw := rawjson.Last(cell, "blobId")
	if len(raw) < 2 || raw[0] != '"' {
		return "", false
	}
	return rawjson.Text(raw), true
}

// Streams reports whether a payload is one that the SDK streams.
func Streams(payload []byte) bool {
	version, kind := false, false
	for name, value := range rawjson.Members(payload) {
		switch string(name) {
		case "schemaVersion":
			version = string(value) == "1"
		case "type":
			kind = string(value) == `"sdk_message"` || string(value) == `"result"` || string(value) == `"done"`
		}
	}
	return version && kind
}

// StreamEvent is the kind of the events that the SDK streams.
const StreamEvent = "run_stream_event"

// shapes are the times that JavaScript reads beside those that it writes.
var shapes = []string{time.RFC3339Nano, "2006-01-02", "2006-01-02T15:04", "2006-01-02T15:04:05", "2006-01-02T15:04:05.999999999", "2006-01-02T15:04Z07:00",
	"2006-01-02 15:04", "2006-01-02 15:04:05", "2006-01-02 15:04:05.999999999", "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05.999999999Z07:00", time.RFC1123, time.RFC1123Z, "2006-01", "2006"}

// IsTime reports whether a text is a time that the SDK reads.
func IsTime(s []byte) bool {
	if _, _, ok := parseISO(s); ok {
		return true
	}
	for _, shape := range shapes {
		if _, err := time.Parse(shape, string(s)); err == nil {
			return true
		}
	}
	return false
}

// IsMillis reports whether a JSON number is a time that JavaScript has.
func IsMillis(raw []byte) bool {
	v, _, ok := parseInt(raw)
	return ok && v <= maxMillis && v >= -maxMillis
}

// Whole is a JSON number that is an integer.
func Whole(raw []byte) (int64, bool) {
	v, whole, ok := parseInt(raw)
	return v, whole && ok
}

// Data appends the bytes that a member of a checkpoint's line says, a string of
// base64, as the SDK takes it.
func (p *Parser) Data(dst, raw []byte) ([]byte, bool) {
	p.text = p.text[:0]
	text, ok := p.stringIn(raw)
	if !ok {
		return dst, false
	}
	return unbase64(dst, text)
}

// BlobMember is that member of a line that was parsed before.
func BlobMember(line []byte) []byte { return rawjson.Last(line, "dataBase64") }

package lists

import (
	"encoding/base64"
	"encoding/hex"
	"strings"

	"rehome/formats/internal/sqlitefile"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/formats/store"
	"rehome/internal/rawjson"
)

// HasState reports whether a conversationState holds anything.
func HasState(raw []byte) bool {
	text := rawjson.Text(raw)
	return text != "" && text != "~"
}

// RootBytes returns the state that a session's record holds: base64 after a tilde,
// or hexadecimal digits; nil if it is neither.
func RootBytes(text string) []byte {
	if rest, ok := strings.CutPrefix(text, "~"); ok {
		for _, enc := range [...]*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding} {
			if b, err := enc.DecodeString(rest); err == nil {
				return b
			}
		}
		return nil
	}
	b, err := hex.DecodeString(text)
	if err != nil {
		return nil
	}
	return b
}

// EmbeddedJSON returns a value that is JSON inside of a string in most rows, and
// plain JSON in a few. A string that is not valid JSON is returned as it is.
func EmbeddedJSON(raw []byte) session.Raw {
	if len(raw) == 0 || string(raw) == `""` {
		return nil
	}
	if raw[0] != '"' {
		return session.Raw(raw)
	}
	if inner := rawjson.AppendText(make([]byte, 0, len(raw)), raw); opens(inner) {
		if doc, repaired, err := rawjson.Line(inner); err == nil && !repaired {
			return session.Raw(doc)
		}
	}
	return session.Raw(raw)
}

// opens reports whether a text begins as an object or array does.
func opens(b []byte) bool {
	for _, c := range b {
		switch c {
		case ' ', '\t', '\n', '\r':
		default:
			return c == '{' || c == '['
		}
	}
	return false
}

// QuietLine returns the value of a record as one line of JSON, and reports no
// losses.
func QuietLine(f sqlitefile.Found) ([]byte, Fate) {
	if f.Class == store.Null || string(f.Bytes) == "null" {
		return nil, Deleted
	}
	return Line(f.Bytes, store.Addr{}, func(loss.Loss) {})
}

// Line returns a value as one line of valid JSON; note gets what was repaired or
// makes that impossible.
func Line(b []byte, at store.Addr, note loss.Sink) ([]byte, Fate) {
	body, repaired, err := rawjson.Line(b)
	if err != nil {
		note.Add(loss.Loss{Code: loss.ValueNotJSON, At: at, Args: []string{err.Error()}})
		return nil, Broken
	}
	if repaired {
		note.Add(loss.Loss{Code: loss.TextRepaired, At: at})
	}
	return body, Claimed
}

// PlainText returns a value's text, "" if it is not a string.
func PlainText(raw []byte) string { return rawjson.Text(raw) }

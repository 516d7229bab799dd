package sdkdoc

import (
	"bytes"
	"encoding/hex"

	"rehome/internal/rawjson"
)

// A reference to a checkpoint stands in a cell between these two.
const (
	refHead = `{"blobId":"`
	refTail = `","storeKind":"local-agent-store"}`
)

// readRef finds the blob id in a cell, as the content of a JSON string, nil if
// there is none. exact means that appendRef spells the cell the same.
func readRef(cell []byte) (id []byte, exact bool) {
	if b, ok := bytes.CutPrefix(cell, []byte(refHead)); ok {
		if id, ok := bytes.CutSuffix(b, []byte(refTail)); ok && inner(id) {
			return id, true
		}
	}
	cell = bytes.Trim(cell, " \t\r\n")
	if !rawjson.Valid(cell) {
		return nil, false
	}
	var found [2]span
	if !split(cell, refCellMembers, found[:]).object {
		return nil, false
	}
	raw := found[0].of(cell)
	if len(raw) < 2 || raw[0] != '"' {
		return nil, false
	}
	spelled, _ := appendString(nil, rawjson.AppendUTF8(nil, raw[1:len(raw)-1]))
	return spelled[1 : len(spelled)-1], false
}

// inner reports whether the text stands between the quotes of a JSON string in
// its one spelling.
func inner(s []byte) bool {
	for _, c := range s {
		if escape[c] != 0 || c >= 0x80 {
			return false
		}
	}
	return true
}

// appendRef appends the cell that refers to a blob; id is the content of a
// JSON string.
func appendRef(dst, id []byte) []byte {
	return append(append(append(dst, refHead...), id...), refTail...)
}

// idState is what a blob id looks like.
type idState uint8

const (
	idWrong idState = iota // not bytes in hexadecimal: no database holds it
	idUpper                // some digits are upper case: a database holds it in lower case
	idPlain
)

func blobID(id []byte) idState {
	if len(id)%2 != 0 {
		return idWrong
	}
	state := idPlain
	for _, c := range id {
		switch {
		case c >= '0' && c <= '9', c >= 'a' && c <= 'f':
		case c >= 'A' && c <= 'F':
			state = idUpper
		default:
			return idWrong
		}
	}
	return state
}

// unbase64 appends the bytes of a text in base64, padded or not, with either
// alphabet, as the SDK takes it.
func unbase64(dst, text []byte) ([]byte, bool) {
	if out, err := std.AppendDecode(dst, text); err == nil {
		return out, true
	}
	fixed := make([]byte, 0, len(text)+3)
	for _, c := range bytes.TrimRight(text, "=") {
		switch c {
		case '-':
			c = '+'
		case '_':
			c = '/'
		case '\r', '\n':
			return dst, false
		}
		fixed = append(fixed, c)
	}
	out, err := rawStd.AppendDecode(dst, fixed)
	if err != nil {
		return dst, false
	}
	return out, true
}

// lowerID is a blob id as a database holds it.
func lowerID(dst, id []byte) []byte {
	at := len(dst)
	dst = append(dst, make([]byte, len(id)/2)...)
	n, _ := hex.Decode(dst[at:], id)
	raw := bytes.Clone(dst[at : at+n])
	return hex.AppendEncode(dst[:at], raw)
}

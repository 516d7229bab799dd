package secret

import (
	"bytes"

	"rehome/formats/store"
)

// Strip cuts the members that hold secrets out of JSON that lies in no table:
// a document, or text that will be kept beside one. inserts would put them
// back. torn means that the text is no JSON, yet names a secret: then nobody
// can say where it ends, and all of it has to stay home.
func Strip(text []byte) (out []byte, inserts []store.Insert, torn bool) {
	if !memberEnding().in(text) {
		return text, nil, false
	}
	return strip(text, 0)
}

// StripOwn is Strip for a record in which nobody says anything: members that are
// named like credentials are cut out, too.
func StripOwn(text []byte) (out []byte, inserts []store.Insert, torn bool) {
	return strip(text, anywhere)
}

func strip(text []byte, depth int) (out []byte, inserts []store.Insert, torn bool) {
	found, err := members(text, depth)
	if err != nil {
		return text, nil, mayHold(text) || depth > 0 && MayName(text)
	}
	if len(found) == 0 {
		return text, nil, false
	}
	out, inserts = cut(text, found)
	return out, inserts, false
}

// StripHex is Strip for JSON spelled in hexadecimal, which other text is left
// alone by.
func StripHex(text []byte) (out []byte, cut, torn bool) {
	r := bound{Rule: Rule{Hex: true}}
	plainText, d := r.open(store.TextCell(text))
	bare, inserts, torn := Strip(plainText)
	if d == plain {
		return bare, inserts != nil, torn || hidden(text)
	}
	return spell(store.Text, bare, d).Bytes(), inserts != nil, torn
}

// Unstrip puts back what Strip cut out; false where the offsets make no sense.
func Unstrip(text []byte, inserts []store.Insert) ([]byte, bool) { return insert(text, inserts) }

// Suspect is a cheap question about any text, JSON or a piece of it: might it
// name a secret?
func Suspect(text []byte) bool {
	return memberEnding().in(text) || bytes.Contains(text, []byte(`\`+`u0`))
}

// memberNames are the members that hold secrets wherever they stand.
func memberNames() []string {
	return []string{"blobEncryptionKey", "speculativeSummarizationEncryptionKey"}
}

package rewrite

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"

	"rehome/formats/store"
	"rehome/internal/rawjson"
)

// address is a blob that is named by the SHA-256 of its bytes. That the name is right
// is what makes a record one: nothing else has to be known of the store.
type address struct {
	id      id
	content []byte // decoded
	col     int    // the cell that holds it
	form    form
	from    int // of the encoded content in a line, to
	to      int
}

// form is how the content of a blob is spelled in its cell.
type form uint8

const (
	asBytes form = iota
	asHex
	asLine // base64 in a member of a line of documents
)

const dataMember = "dataBase64"

// addressed returns the blob that a record holds, if it holds one.
func addressed(b *store.Batch, i int, kind store.Kind) (a address, ok bool) {
	if kind == store.Lines {
		return addressedLine(b.Cell(i, 0).Bytes())
	}
	if b.Width() < 2 {
		return a, false
	}
	if a.id, ok = named(b.Cell(i, 0).Bytes()); !ok {
		return a, false
	}
	a.col, a.content = 1, b.Cell(i, 1).Bytes()
	if sha256.Sum256(a.content) == a.id {
		return a, true
	}
	if text := a.content; b.Cell(i, 1).Class == store.Text && len(text)%2 == 0 {
		a.form, a.content = asHex, make([]byte, len(text)/2)
		_, err := hex.Decode(a.content, text)
		return a, err == nil && sha256.Sum256(a.content) == a.id && string(hex.AppendEncode(nil, a.content)) == string(text)
	}
	return a, false
}

// named returns the id that a key is, or ends in.
func named(key []byte) (x id, ok bool) {
	if len(key) == len(x) {
		return id(key), true
	}
	digits := key[max(0, len(key)-2*len(x)):]
	n, err := hex.Decode(x[:], digits)
	return x, err == nil && n == len(x)
}

func addressedLine(line []byte) (a address, ok bool) {
	if !bytes.Contains(line, []byte(`"`+dataMember+`"`)) {
		return a, false
	}
	data := rawjson.Last(line, dataMember)
	name, isID := named([]byte(rawjson.TextAt(line, "blobId")))
	if len(data) < 2 || !isID {
		return a, false
	}
	a = address{id: name, form: asLine, from: cap(line) - cap(data) + 1}
	a.to = a.from + len(data) - 2
	var err error
	a.content, err = base64.StdEncoding.AppendDecode(nil, line[a.from:a.to])
	return a, err == nil && sha256.Sum256(a.content) == a.id
}

// spell returns the content as its cell spells it.
func (a *address) spell(content []byte) []byte {
	switch a.form {
	case asHex:
		return hex.AppendEncode(nil, content)
	case asLine:
		return base64.StdEncoding.AppendEncode(nil, content)
	}
	return content
}

package lists

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"strings"

	"rehome/formats/internal/wire"
	"rehome/formats/store"
)

// EachRef calls found with every hash that the value of a row names, in lower case or as
// it is written, whether or not it is that of a blob.
func EachRef(b []byte, found func(hash string)) {
	run := 0
	for i := 0; i <= len(b); i++ {
		if i < len(b) && isHex(b[i]) {
			run++
			continue
		}
		if run == 64 {
			h := string(b[i-64 : i])
			found(strings.ToLower(h))
			found(h)
		} else if run > 64 && run%2 == 0 { // a state that is spelled so
			if root, err := hex.DecodeString(string(b[i-run : i])); err == nil {
				eachWireRef(root, found, 0)
			}
		}
		run = 0
	}
	for rest := b; ; {
		i := bytes.Index(rest, []byte(`"~`))
		if i < 0 {
			return
		}
		rest = rest[i+2:]
		if text, _, ok := bytes.Cut(rest, []byte{'"'}); ok {
			if root, err := base64.StdEncoding.DecodeString(string(text)); err == nil {
				eachWireRef(root, found, 0)
			}
		}
	}
}

// EachBlobRef is EachRef for the content of a blob.
func EachBlobRef(b []byte, found func(hash string)) {
	EachRef(b, found)
	eachWireRef(b, found, 0)
}

func isHex(c byte) bool { return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f' }

// eachWireRef finds hashes in protobuf: fields of 32 bytes, however deep.
func eachWireRef(b []byte, found func(hash string), depth int) {
	r := wire.Read(b)
	for r.Next() {
		switch {
		case r.Type != wire.Bytes:
		case len(r.Body) == 32:
			found(hex.EncodeToString(r.Body))
		case depth < 20:
			eachWireRef(r.Body, found, depth+1)
		}
	}
}

// BlobBytes returns the content of a blob: as TEXT it is hexadecimal, as BLOB it is raw.
func BlobBytes(class store.Class, b []byte) []byte {
	if class == store.Text {
		if plain, err := hex.DecodeString(string(b)); err == nil {
			return plain
		}
	}
	return b
}

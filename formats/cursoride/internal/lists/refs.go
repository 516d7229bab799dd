package lists

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"iter"
	"strings"

	"rehome/formats/internal/wire"
	"rehome/formats/store"
)

// EachRef calls found with every hash that the value of a row names, in lower case or as
// it is written, whether or not it is that of a blob.
func EachRef(b []byte, found func(hash string)) {
	for run := range hexRuns(b) {
		if len(run) == hashLen {
			h := string(run)
			if low := strings.ToLower(h); low != h {
				found(low)
			}
			found(h)
		} else if len(run)%2 == 0 { // a state that is spelled so
			if root, err := hex.DecodeString(string(run)); err == nil {
				eachWireRef(root, found, 0)
			}
		}
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

// hashLen is how many hexadecimal digits a hash has.
const hashLen = 64

// hexRuns yields the runs of hexadecimal digits that are at least as long as a hash. Such
// a run has a digit at one of any places that are that far apart, so that few bytes of
// other text are read.
func hexRuns(b []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		from := 0 // of what was not read
		for i := hashLen - 1; i < len(b); i += hashLen {
			if !isHex(b[i]) {
				continue
			}
			start, end := i, i+1
			for start > from && isHex(b[start-1]) {
				start--
			}
			for end < len(b) && isHex(b[end]) {
				end++
			}
			if end-start >= hashLen && !yield(b[start:end]) {
				return
			}
			from, i = end, end
		}
	}
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

package check

import (
	"bytes"
	"fmt"
	"iter"

	"rehome/formats/store"
)

// ownKeyNames are the members in which clients keep their own keys. Readers
// withhold them where clients keep them, but not inside of content-addressed
// blobs, nor in messages, such as JSON in a text.
var ownKeyNames = [...]string{"blobEncryptionKey", "speculativeSummarizationEncryptionKey"}

// ownKey is such a member, found in some bytes.
type ownKey struct {
	name   string
	offset int64
}

// findOwnKeys yields the names, in upper or lower case, that are in quotes,
// escaped or not, and followed by a non-empty string.
func (s *secretSearch) findOwnKeys(b []byte) iter.Seq[ownKey] {
	return func(yield func(ownKey) bool) {
		for end := 0; s.wantOwnKeys; {
			i := bytes.IndexAny(b[end:], "kK") // all names end in Key
			if i < 0 || end+i+len("key") > len(b) {
				return
			}
			end += i + len("key")
			for _, name := range ownKeyNames {
				from := end - len(name)
				if from > 0 && b[from-1] == '"' && bytes.EqualFold(b[from:end], []byte(name)) && hasValue(b[end:]) && !yield(ownKey{name, int64(from)}) {
					return
				}
			}
			end -= len("ey")
		}
	}
}

// hasValue reports whether a closing quote, a colon and a non-empty string
// follow.
func hasValue(b []byte) bool {
	const near = 64
	b = bytes.TrimLeft(b[:min(len(b), near)], `\`)
	b, quoted := bytes.CutPrefix(b, []byte{'"'})
	b, colon := bytes.CutPrefix(bytes.TrimLeft(b, " \t"), []byte{':'})
	b, text := bytes.CutPrefix(bytes.TrimLeft(b, ` \t\`), []byte{'"'})
	return quoted && colon && text && len(b) > 0 && b[0] != '"' && b[0] != '\\' && !bytes.HasPrefix(b, []byte("rehome:withheld"))
}

// placeKey returns the line of text or, in compressed text, the record.
func placeKey(at store.Addr) string {
	if at.Line > 0 {
		return fmt.Sprintf("%s:%d", at.File, at.Line)
	}
	return at.String()
}

package convert

import (
	"bytes"
	"fmt"
	"iter"

	"rehome/formats/store"
)

// ownKeyNames are the members in which clients keep keys of their own. Readers
// withhold them where a client keeps them; not inside of blobs that are named
// after their content, and not in what somebody said, such as JSON in a text.
var ownKeyNames = [...]string{"blobEncryptionKey", "speculativeSummarizationEncryptionKey"}

// ownKey is such a member in some bytes.
type ownKey struct {
	name   string
	offset int64
}

// ownKeysIn finds the names, in any case of their letters, that stand in quotes,
// escaped or not, before a text that is not empty.
func (s *secretive) ownKeysIn(b []byte) iter.Seq[ownKey] {
	return func(yield func(ownKey) bool) {
		for end := 0; s.own; {
			i := bytes.IndexAny(b[end:], "kK") // of Key, in which all names end
			if i < 0 || end+i+len("key") > len(b) {
				return
			}
			end += i + len("key")
			for _, name := range ownKeyNames {
				from := end - len(name)
				if from > 0 && b[from-1] == '"' && bytes.EqualFold(b[from:end], []byte(name)) && keyed(b[end:]) && !yield(ownKey{name, int64(from)}) {
					return
				}
			}
			end -= len("ey")
		}
	}
}

// keyed reports whether what follows a name is the end of its quotes, a colon and
// a text.
func keyed(b []byte) bool {
	const near = 64
	b = bytes.TrimLeft(b[:min(len(b), near)], `\`)
	b, quoted := bytes.CutPrefix(b, []byte{'"'})
	b, colon := bytes.CutPrefix(bytes.TrimLeft(b, " \t"), []byte{':'})
	b, text := bytes.CutPrefix(bytes.TrimLeft(b, ` \t\`), []byte{'"'})
	return quoted && colon && text && len(b) > 0 && b[0] != '"' && b[0] != '\\' && !bytes.HasPrefix(b, []byte("rehome:withheld"))
}

// placeOf is a line of text, or a record of text that is compressed.
func placeOf(at store.Addr) string {
	if at.Line > 0 {
		return fmt.Sprintf("%s:%d", at.File, at.Line)
	}
	return at.String()
}

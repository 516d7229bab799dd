package lists

import (
	"crypto/sha256"
	"encoding/hex"

	"rehome/formats/session"
	"rehome/internal/rawjson"
)

// Said is a digest of what the bubbles of a session say, in any order, by which package read
// sees that a client changed none of those that package write wrote.
type Said struct{ sum [sha256.Size]byte }

// Add adds a bubble: its id, text, thought and summary.
func (s *Said) Add(id string, bubble []byte) {
	b := session.AppendString(nil, id)
	for _, raw := range [][]byte{
		rawjson.Last(bubble, "text"), rawjson.At(bubble, "thinking", "text"), rawjson.At(bubble, "conversationSummary", "summary"),
	} {
		b = session.AppendString(b, rawjson.Text(raw))
	}
	for i, c := range sha256.Sum256(b) {
		s.sum[i] ^= c
	}
}

// String returns the digest as hexadecimal digits.
func (s *Said) String() string { return hex.EncodeToString(s.sum[:]) }

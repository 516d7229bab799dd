package prose

import (
	"crypto/sha256"
	"encoding/hex"

	"rehome/cmd/internal/screen"
	"rehome/formats/session"
)

// Digest returns the digest of what is left out. It is a cryptographic one, since whoever
// hides a change from a reviewer chooses both versions.
func Digest(b []byte) screen.Safe {
	sum := sha256.Sum256(b)
	return spelled(sum[:])
}

func spelled(sum []byte) screen.Safe { return "sha256:" + screen.Visible(hex.EncodeToString(sum[:16])) }

// HeadDigest returns the digest of what is known of a session besides its messages.
func HeadDigest(s *session.Session) screen.Safe { return Digest(session.AppendHead(nil, s)) }

// leftOut returns how a note ends about something that is not printed.
func (o *Options) leftOut(b []byte) screen.Safe {
	if !o.Digests {
		return ""
	}
	return ", " + Digest(b)
}

// digest adds a message to the digest of its turn.
func (w *walker) digest(m *session.Message) {
	if !w.o.Digests {
		return
	}
	w.line = append(session.AppendMessage(w.line[:0], m), '\n')
	w.sum.Write(w.line)
	if m.Said() {
		w.messages++
	} else {
		w.records++
	}
}

// endDigest prints the digest of a turn. It covers all members of its messages, printed or not.
func (w *walker) endDigest() {
	var counts []screen.Safe
	if w.messages > 0 {
		counts = append(counts, screen.Plural(w.messages, "message"))
	}
	if w.records > 0 {
		counts = append(counts, screen.Plural(w.records, "internal record"))
	}
	if len(counts) == 0 {
		return
	}
	w.out.Digest(screen.Join(append(counts, spelled(w.sum.Sum(nil))), ", "))
	w.sum.Reset()
	w.messages, w.records, w.internal = 0, 0, 0
}

// inFull prints what a note only names, for those who review what the model is sent.
func (w *walker) inFull(note screen.Safe, text string) {
	w.out.Note(note)
	w.out.Thinking(text)
}

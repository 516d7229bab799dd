package agentstate

import (
	"context"
	"crypto/sha256"

	"rehome/formats/internal/wire"
	"rehome/formats/loss"
	"rehome/formats/session"
)

// fate is the state of a blob in the account. The highest that it reaches counts.
type fate uint8

const (
	unseen fate = iota
	missing
	looked // read, its kind not known yet
	unreadable
	opaque
	claimed
)

// ledger is the account of the blobs of one store, shared by an agent and its subagents.
type ledger struct {
	blobs Blobs
	fates fates
	count [claimed + 1]int64

	members, taken, extras int64

	bytes   int64 // of all blobs read, each counted once
	repeats int64 // read beyond usualReads
	spent   bool  // repeats exceeded the limit
}

const (
	// usualReads is how often a blob is read where it has one place: when it is
	// outlined, and for a call and its result.
	usualReads  = 4
	freeRepeats = 64 << 20
	perRead     = 512 // what a read costs beside its bytes
	maxPerByte  = 8
)

// read returns the bytes of a blob, valid until the next read; nil if the blob is missing,
// which is noted once. role says what the blob is to the state.
func (s *State) read(ctx context.Context, id ID, role string) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	l := s.ledger
	b, err := l.blobs.Blob(ctx, id)
	if err != nil {
		return nil, err
	}
	e := l.fates.at(id)
	s.at = id
	if b == nil {
		if e.fate() == unseen {
			e.become(missing)
			s.note(loss.BlobMissing, role)
		}
		return nil, nil
	}
	if e.fate() <= missing {
		e.become(looked)
		l.count[looked]++
		l.bytes += int64(len(b))
		if sha256.Sum256(b) != id {
			if id == s.root.id && s.root.named {
				s.note(loss.RootMismatch)
			} else {
				s.note(loss.BlobMismatch)
			}
		}
	}
	if e.reads() < usualReads {
		e.read()
	} else if l.repeats += int64(len(b)) + perRead; l.repeats > freeRepeats+maxPerByte*l.bytes {
		if !l.spent {
			l.spent = true
			s.note(loss.BlobRepeats)
		}
		return nil, nil
	}
	return b, nil
}

// mark sets the fate of a blob that was read, unless it has a higher one.
func (l *ledger) mark(id ID, f fate) {
	if e := l.fates.find(id); e != nil && f > e.fate() {
		l.count[e.fate()]--
		l.count[f]++
		e.become(f)
	}
}

// leave accounts for a blob that is left out, unless it was read.
func (l *ledger) leave(id ID) {
	if e := l.fates.at(id); e.fate() == unseen {
		e.become(unreadable)
		l.count[unreadable]++
	}
}

// note reports a loss in the current blob.
func (s *State) note(code loss.Code, args ...string) {
	if s.o.Note == nil {
		return
	}
	n := loss.Loss{Code: code, Args: args}
	if s.o.At != nil {
		n.At = s.o.At(s.at)
	}
	s.o.Note(n)
}

// spoiled notes that the current blob could not be understood.
func (s *State) spoiled(code loss.Code) {
	s.ledger.mark(s.at, unreadable)
	s.note(code)
}

// took counts members that were understood.
func (l *ledger) took(n int64) {
	l.members += n
	l.taken += n
}

// carried counts members that are kept raw.
func (l *ledger) carried(n int64) {
	l.members += n
	l.extras += n
}

// spell returns a message as JSON.
func (s *State) spell(m *wire.Message, b []byte) []byte {
	seen, strays := s.walker.Seen, s.walker.Strays
	out := s.walker.Append(nil, m, b)
	s.ledger.took(s.walker.Seen - seen - (s.walker.Strays - strays))
	s.ledger.carried(s.walker.Strays - strays)
	return out
}

// origin returns the addresses of the records that a message comes from.
func (s *State) origin(ids ...ID) []string {
	out := make([]string, 0, len(ids))
	for i, id := range ids {
		if i > 0 && id == ids[i-1] {
			continue
		}
		if s.o.At != nil {
			out = append(out, s.o.At(id).Short())
		} else {
			out = append(out, id.String())
		}
	}
	return out
}

// leftover returns fields that no struct holds as Extras.
func (s *State) leftover(m *wire.Message, fields []byte) []session.Extra {
	if len(fields) == 0 {
		return nil
	}
	seen := s.walker.Seen
	object := s.walker.Append(nil, m, fields)
	s.ledger.carried(s.walker.Seen - seen)
	return members(object, "")
}

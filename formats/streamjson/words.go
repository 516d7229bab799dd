package streamjson

import (
	"crypto/sha256"
	"hash"
	"io"
)

// tally is a text that goes by: enough of it to know it again.
type tally struct {
	n int
	h hash.Hash
}

func (t *tally) add(s string) {
	if t.h == nil {
		t.h = sha256.New()
	}
	_, _ = io.WriteString(t.h, s)
	t.n += len(s)
}

// is reports whether s is the text. An empty text is nothing to compare with.
func (t *tally) is(s string) bool { return t.n > 0 && len(s) == t.n && t.leads(s) }

// leads reports whether s begins with the text.
func (t *tally) leads(s string) bool {
	if t.n == 0 || len(s) < t.n {
		return false
	}
	var sum [sha256.Size]byte
	return sha256.Sum256([]byte(s[:t.n])) == [sha256.Size]byte(t.h.Sum(sum[:0]))
}

// copy goes on by itself.
func (t *tally) copy() tally {
	if t.h == nil {
		return tally{}
	}
	c, err := t.h.(hash.Cloner).Clone()
	if err != nil {
		return tally{} // SHA-256 always can
	}
	return tally{t.n, c}
}

// words knows what a run has said so far, without keeping it.
type words struct {
	piece  tally // since the last repetition
	before tally // clean, where piece began
	last   tally // the last whole text
	all    tally // of the run
	clean  tally // without what lost attempts said
	pieces bool  // there were pieces: whole texts repeat them
	again  bool  // a retry came since the last text
}

// next takes a piece in.
func (w *words) next(s string) {
	if w.piece.n == 0 {
		w.before = w.clean.copy()
	}
	w.piece.add(s)
	w.fresh(s)
	w.pieces = true
}

func (w *words) fresh(s string) {
	w.all.add(s)
	w.clean.add(s)
}

// found is how a whole text compares with what was said.
type found uint8

const (
	anew     found = iota // not said before
	repeated              // nothing new in it
	longer                // begins with what was said; the rest is new
	apart                 // something else than what its pieces said
)

// whole takes a whole text in. known is how many of its bytes were said.
func (w *words) whole(s string) (f found, known int) {
	switch {
	case w.piece.n > 0:
		f, known = w.against(s)
	case w.pieces && (w.last.is(s) || w.all.is(s) || w.clean.is(s)), w.again && w.last.is(s):
		f = repeated
	}
	if f == anew || f == longer {
		w.fresh(s[known:])
	}
	w.last, w.piece, w.again = tally{}, tally{}, false
	w.last.add(s)
	return f, known
}

// against compares a whole text with the pieces in front of it.
func (w *words) against(s string) (found, int) {
	switch {
	case w.piece.is(s), w.all.is(s), w.clean.is(s):
		return repeated, 0
	case w.clean.leads(s):
		return longer, w.clean.n
	case w.piece.leads(s):
		return longer, w.piece.n
	}
	return apart, 0
}

// retry is told of a new attempt. What the lost one had said and no whole text
// has repeated is given back, to be known if it comes again.
func (w *words) retry() tally {
	lost := w.piece
	if lost.n > 0 {
		w.clean = w.before
	}
	w.piece, w.again = tally{}, true
	return lost
}

// says reports whether a result is what the run said.
func (w *words) says(s string) bool { return w.all.is(s) || w.clean.is(s) || w.last.is(s) }

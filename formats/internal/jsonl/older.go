package jsonl

import (
	"context"
	"crypto/sha256"
	"iter"
	"slices"
	"strings"

	"rehome/formats/internal/lines"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/formats/store"
)

// Superseded accounts for another file of a session that is read from f. A line of which f has
// all text is superseded. Any other is left out, and reported. said returns what somebody says
// in a line that is not JSON; nil: there is no such file.
func (s *Store) Superseded(ctx context.Context, f, older *File, note loss.Sink, said func(string) string) (a session.Account, err error) {
	known := map[[sha256.Size]byte]bool{}
	if err := s.each(ctx, f, -1, func(l lines.Line) bool {
		for t := range spoken(&l, said) {
			known[sha256.Sum256([]byte(t))] = true
		}
		return true
	}); err != nil {
		return a, err
	}
	return a, s.each(ctx, older, -1, func(l lines.Line) bool {
		a.Read++
		same := !l.Long
		for t := range spoken(&l, said) {
			same = same && known[sha256.Sum256([]byte(t))]
		}
		if same {
			a.Superseded++
			return true
		}
		a.Unreadable++
		note.Add(loss.Loss{Code: loss.CopyDiffers, At: store.Addr{File: older.Name, Line: l.Number}})
		return true
	})
}

// spoken yields the lines of all text in a line of a file.
func spoken(l *lines.Line, said func(string) string) iter.Seq[string] {
	return func(yield func(string) bool) {
		p := Parse(*l)
		texts := session.Strings(p.Object)
		if p.Object == nil && said != nil {
			texts = slices.Values([]string{said(string(l.Bytes))})
		} else if p.Bad != "" {
			texts = slices.Values([]string{string(l.Bytes)})
		}
		for t := range texts {
			for line := range strings.Lines(t) {
				if line = strings.TrimSpace(line); line != "" && !yield(line) {
					return
				}
			}
		}
	}
}

package leaks

import (
	"cmp"
	"slices"
)

// scan is the state of one call of Scan.
type scan struct {
	*Scanner
	b        []byte
	seen     []progress // by rule
	used     []int      // rules whose progress is not zero
	busy     []int      // rules that have something to search
	hits     []match    // not reported yet
	reported int        // end of the last reported hit
	plain    unescaped
}

// progress is how far a rule has got.
type progress struct {
	from, to int // range to search with the whole expression; empty if equal
	used     bool
	done     int  // end of its last match
	long     bool // the range may have several matches that begin at a word
	longEnd  int  // end of the last full-length look
}

// match is a secret, and the rule that found it.
type match struct{ from, to, rule int }

func (w *scan) reset() {
	for _, id := range w.used { // far fewer than all: most texts are short
		w.seen[id] = progress{}
	}
	w.used, w.busy, w.hits, w.reported, w.b = w.used[:0], w.busy[:0], w.hits[:0], 0, nil
}

// How many characters are tried at a word: most words fail after a few.
const (
	shortLook  = 16
	mediumLook = 256
)

// slack is how much more is read before a word than a rule needs, so that an
// escape before it is not cut.
const slack = 24

// start tries a rule at a word, and records the range to search if it can match
// there.
func (w *scan) start(id, at int) {
	r, t := w.rules[id], &w.seen[id]
	if at < t.done {
		return
	}
	if !t.used {
		t.used = true
		w.used = append(w.used, id)
	}
	if t.long && at < t.to {
		if !r.anchored || w.holds(r, at) {
			t.to = max(t.to, at+r.after)
		}
		return
	}
	from, to, long := max(t.done, at-r.before-slack, 0), at+r.after, !r.anchored
	if r.anchored {
		end, spent := w.try(r, t, at)
		switch {
		case spent:
			long = true
		case end < 0:
			return
		default:
			to = end + 1 // the next character decides where a word ends
		}
	}
	if t.from < t.to && t.to < from {
		w.search(id)
	}
	if t.from == t.to {
		t.from, t.to, t.long = from, to, long
		w.busy = append(w.busy, id)
		return
	}
	t.from, t.to, t.long = min(t.from, from), max(t.to, to), t.long || long
}

// try returns where a match that begins at a place ends, -1 if there is none.
// spent means that more characters are needed to decide.
//
// If a mediumLook is not enough, there is an full-length one, but only one at a
// time: what begins within it is left to the whole expression, which reads each
// byte once, with all words in its range. So the time for a text of nothing but
// beginnings grows linearly.
func (w *scan) try(r *rule, t *progress, at int) (end int, spent bool) {
	end, spent, _ = w.look(r, at, mediumLook)
	if !spent || r.after <= mediumLook {
		return end, spent && end >= 0
	}
	if at < t.longEnd {
		return -1, true
	}
	end, spent, t.longEnd = w.look(r, at, r.after)
	return end, spent && end >= 0
}

// holds reports whether a rule has not failed a few characters after a place.
func (w *scan) holds(r *rule, at int) bool {
	end, spent, _ := w.look(r, at, shortLook)
	return end >= 0 || spent
}

// look reads at most limit characters of a match that begins at a place, and
// returns how far it read.
func (w *scan) look(r *rule, at, limit int) (end int, spent bool, read int) {
	if !r.mark.follows(w.b, at) {
		return -1, false, at
	}
	g := runeReader{b: w.b, at: at, left: limit, first: true}
	span := r.tailAfterOne().FindReaderIndex(&g)
	if span == nil {
		return -1, g.exhausted, g.at
	}
	return at + span[1] - 1, g.exhausted, g.at // the first character counts as one
}

// search runs the whole expression of a rule in its range.
func (w *scan) search(id int) {
	r, t := w.rules[id], &w.seen[id]
	from, to := max(t.from, t.done), min(t.to, len(w.b))
	whole := from == 0 || from == t.done
	t.from, t.to = 0, 0
	w.plain.fill(w.b, from, to)
	text, origin := w.plain.text, w.plain.origin
	for _, m := range r.full().FindAllSubmatchIndex(text, -1) {
		if m[0] == 0 && !whole || m[1] == len(text) && origin[m[1]] < len(w.b) {
			continue // truncated: it may be the middle of something else
		}
		t.done = max(t.done, origin[m[1]])
		for a, b := range w.accept(r, text, m) {
			w.hits = append(w.hits, match{origin[a], origin[b], id})
		}
	}
}

// searchRest searches all remaining ranges.
func (w *scan) searchRest() {
	for _, id := range w.busy {
		if t := w.seen[id]; t.from < t.to {
			w.search(id)
		}
	}
	w.busy = w.busy[:0]
}

// report reports the hits that end before limit. If several rules match the
// same bytes, the most specific one is reported.
func (w *scan) report(limit int, found func(Hit)) {
	slices.SortFunc(w.hits, match.compare)
	kept := w.hits[:0]
	for _, h := range w.hits {
		last := len(kept) - 1
		switch {
		case h.from < w.reported:
		case last < 0 || kept[last].to <= h.from:
			kept = append(kept, h)
		case w.rules[h.rule].specificity() > w.rules[kept[last].rule].specificity():
			kept[last] = h
		}
	}
	late := kept[:0]
	for _, h := range kept {
		if h.to > limit {
			late = append(late, h)
			continue
		}
		r := w.rules[h.rule]
		w.reported = h.to
		found(Hit{Rule: r.ID, Title: r.Title, Offset: int64(h.from), Length: int64(h.to - h.from), Generic: r.generic})
	}
	w.hits = late
}

// compare sorts by start, then the longer first, then in the order of the
// rules.
func (c match) compare(d match) int {
	return cmp.Or(cmp.Compare(c.from, d.from), cmp.Compare(d.to, c.to), cmp.Compare(c.rule, d.rule))
}

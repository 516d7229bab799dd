package leaks

import (
	"cmp"
	"slices"
)

// scan is one call of Scan: what it keeps while it goes through the bytes.
type scan struct {
	*Scanner
	b     []byte
	seen  []track // by rule
	busy  []int   // the rules that have something to search
	hits  []claim // not told yet
	told  int     // the end of what was told last
	plain plain
}

// track is how far a rule has got.
type track struct {
	from, to int  // still to be searched by the whole expression; empty: nothing
	done     int  // the end of its last match
	long     bool // the search is for more than one match that begins at a word
	looked   int  // the end of the last long look
}

// claim is a hit and the rule that claims it.
type claim struct{ from, to, rule int }

func (w *scan) reset() {
	clear(w.seen)
	w.busy, w.hits, w.told, w.b = w.busy[:0], w.hits[:0], 0, nil
}

// How many characters are tried at a word: most words fail after a few.
const (
	peek   = 16
	glance = 256
)

// slack is how much more is read before a word than a rule asks for, so that an
// escape in front of it is not cut.
const slack = 24

// ask looks whether a rule can hold at a word that begins at a place, and if
// so notes what must be searched.
func (w *scan) ask(id, at int) {
	r, t := w.rules[id], &w.seen[id]
	if at < t.done {
		return
	}
	if t.long && at < t.to {
		if !r.begun || w.holds(r, at) {
			t.to = max(t.to, at+r.reach)
		}
		return
	}
	from, to, long := max(t.done, at-r.lead-slack, 0), at+r.reach, !r.begun
	if r.begun {
		end, spent := w.try(r, t, at)
		switch {
		case spent:
			long = true
		case end < 0:
			return
		default:
			to = end + 1 // what comes next decides where a word ends
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

// try tells where a match that begins at a place ends, -1 if there is none;
// spent means that it cannot be told from as many characters as were read.
//
// Where a glance is not enough there is a long look, but only one at a time:
// what begins within it is left to the whole expression, which takes each byte
// once, with all words in its reach. So the time that a text of nothing but
// beginnings takes grows with its length and not faster.
func (w *scan) try(r *rule, t *track, at int) (end int, spent bool) {
	end, spent, _ = w.look(r, at, glance)
	if !spent || r.reach <= glance {
		return end, spent && end >= 0
	}
	if at < t.looked {
		return -1, true
	}
	end, spent, t.looked = w.look(r, at, r.reach)
	return end, spent && end >= 0
}

// holds reports whether a rule has not failed a few characters behind a place.
func (w *scan) holds(r *rule, at int) bool {
	end, spent, _ := w.look(r, at, peek)
	return end >= 0 || spent
}

// look reads so many characters of a match that begins at a place, and tells
// how far it read.
func (w *scan) look(r *rule, at, limit int) (end int, spent bool, read int) {
	g := gaze{b: w.b, at: at, left: limit, ahead: true}
	span := r.gate().FindReaderIndex(&g)
	if span == nil {
		return -1, g.spent, g.at
	}
	return at + span[1] - 1, g.spent, g.at // the first character counts one
}

// search lets the whole expression of a rule run where it was asked for.
func (w *scan) search(id int) {
	r, t := w.rules[id], &w.seen[id]
	from, to := max(t.from, t.done), min(t.to, len(w.b))
	whole := from == 0 || from == t.done
	t.from, t.to = 0, 0
	w.plain.fill(w.b, from, to)
	text, origin := w.plain.text, w.plain.origin
	for _, m := range r.full().FindAllSubmatchIndex(text, -1) {
		if m[0] == 0 && !whole || m[1] == len(text) && origin[m[1]] < len(w.b) {
			continue // cut off: it may be the middle of something else
		}
		t.done = max(t.done, origin[m[1]])
		if a, b, ok := w.judge(r, text, m); ok {
			w.hits = append(w.hits, claim{origin[a], origin[b], id})
		}
	}
}

// rest searches what is still to be searched.
func (w *scan) rest() {
	for _, id := range w.busy {
		if t := w.seen[id]; t.from < t.to {
			w.search(id)
		}
	}
	w.busy = w.busy[:0]
}

// tell reports the hits that end before a place. Where several claim the same
// bytes, the one that says most of them is told.
func (w *scan) tell(limit int, found func(Hit)) {
	slices.SortFunc(w.hits, claim.compare)
	kept := w.hits[:0]
	for _, h := range w.hits {
		last := len(kept) - 1
		switch {
		case h.from < w.told:
		case last < 0 || kept[last].to <= h.from:
			kept = append(kept, h)
		case w.rules[h.rule].weight() > w.rules[kept[last].rule].weight():
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
		w.told = h.to
		found(Hit{Rule: r.ID, Title: r.Title, Offset: int64(h.from), Length: int64(h.to - h.from), Generic: r.generic})
	}
	w.hits = late
}

// compare sorts by place; of those that begin together the longer is first,
// then the one that the set lists first.
func (c claim) compare(d claim) int {
	return cmp.Or(cmp.Compare(c.from, d.from), cmp.Compare(d.to, c.to), cmp.Compare(c.rule, d.rule))
}

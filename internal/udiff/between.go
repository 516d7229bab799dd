package udiff

import (
	"cmp"
	"slices"
	"strings"
)

const (
	// context is how many unchanged lines stand on each side of a change.
	context = 3
	// maxEdits is how many lines may differ before the search is for lines that are
	// once in both texts, and then between these: it takes the square of it.
	maxEdits = 600
	// maxDepth is how often such lines are searched for between others.
	maxDepth = 4
)

// Change is a run of lines of the old text that a run of lines of the new text
// replaces.
type Change struct{ OldStart, Removed, NewStart, Added int }

func (c Change) oldEnd() int { return c.OldStart + c.Removed }
func (c Change) newEnd() int { return c.NewStart + c.Added }

// Between returns what turns one text into another, as hunks.
func Between(before, after string) (out []Hunk) {
	a, b := cut(before), cut(after)
	list := Changes(a, b)
	for i := 0; i < len(list); {
		end := i + 1
		for end < len(list) && list[end].OldStart-list[end-1].oldEnd() <= 2*context {
			end++
		}
		out = append(out, gather(a, b, list[i:end]))
		i = end
	}
	return out
}

// Region is the part of two texts in which they differ, in whole lines. The old
// one has a line even where nothing but lines was added, if there is one.
func Region(before, after string) (older, newer string) {
	a, b := cut(before), cut(after)
	lead, tail := ends(a, b)
	if len(a)-lead-tail == 0 && len(a) > 0 {
		if lead > 0 {
			lead--
		} else {
			tail--
		}
	}
	return strings.Join(a[lead:len(a)-tail], ""), strings.Join(b[lead:len(b)-tail], "")
}

// cut keeps the line ends.
func cut(s string) (out []string) {
	for line := range strings.Lines(s) {
		out = append(out, line)
	}
	return out
}

// ends counts the equal lines at both ends.
func ends(a, b []string) (lead, tail int) {
	for lead < min(len(a), len(b)) && a[lead] == b[lead] {
		lead++
	}
	for tail < min(len(a), len(b))-lead && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	return lead, tail
}

// gather returns the hunk of changes that are close to each other.
func gather(a, b []string, list []Change) Hunk {
	first, last := list[0], list[len(list)-1]
	lead, tail := min(first.OldStart, context), min(len(a)-last.oldEnd(), context)
	from, to, start := first.OldStart-lead, last.oldEnd()+tail, first.NewStart-lead
	h := Hunk{OldStart: from + 1, OldLines: to - from, NewStart: start + 1, NewLines: last.newEnd() + tail - start}
	add := func(mark string, lines []string) {
		for _, line := range lines {
			h.Lines = append(h.Lines, mark+strings.TrimSuffix(line, "\n"))
		}
	}
	at := from
	for _, c := range list {
		add(" ", a[at:c.OldStart])
		add("-", a[c.OldStart:c.oldEnd()])
		add("+", b[c.NewStart:c.newEnd()])
		at = c.oldEnd()
	}
	add(" ", a[at:to])
	if h.OldLines == 0 {
		h.OldStart--
	}
	if h.NewLines == 0 {
		h.NewStart--
	}
	return h
}

// Changes returns the changes that turn a into b, in order: as few lines as
// possible, up to a limit. Where nearly everything differs, that is one change.
func Changes(a, b []string) []Change { return changes(a, b, maxDepth) }

func changes(a, b []string, depth int) []Change {
	lead, tail := ends(a, b)
	a, b = a[lead:len(a)-tail], b[lead:len(b)-tail]
	if len(a) == 0 && len(b) == 0 {
		return nil
	}
	var list []Change
	if len(a) > 0 && len(b) > 0 {
		if list = shortestEdit(a, b); list == nil && depth > 0 {
			list = between(a, b, anchors(a, b), depth-1)
		}
	}
	if list == nil {
		list = []Change{{0, len(a), 0, len(b)}}
	}
	for i := range list {
		list[i].OldStart += lead
		list[i].NewStart += lead
	}
	return list
}

// between returns the changes between anchors, nil if there are none.
func between(a, b []string, anchors [][2]int, depth int) (out []Change) {
	if len(anchors) == 0 {
		return nil
	}
	last := [2]int{-1, -1}
	for _, at := range append(anchors, [2]int{len(a), len(b)}) {
		x, y := last[0]+1, last[1]+1
		for _, c := range changes(a[x:at[0]], b[y:at[1]], depth) {
			out = append(out, Change{c.OldStart + x, c.Removed, c.NewStart + y, c.Added})
		}
		last = at
	}
	return out
}

// anchors returns where lines are that are once in a and once in b: as many as are in the
// same order in both.
func anchors(a, b []string) (out [][2]int) {
	type seen struct{ inA, inB, at int }
	lines := make(map[string]*seen, len(b))
	for i, line := range b {
		if lines[line] == nil {
			lines[line] = &seen{}
		}
		lines[line].inB++
		lines[line].at = i
	}
	for _, line := range a {
		if s := lines[line]; s != nil {
			s.inA++
		}
	}
	var tops []int // of the smallest end of an increasing run of each length, in pairs
	var pairs [][2]int
	var before []int // the pair before each pair in its run
	for i, line := range a {
		s := lines[line]
		if s == nil || s.inA != 1 || s.inB != 1 {
			continue
		}
		n, _ := slices.BinarySearchFunc(tops, s.at, func(top, at int) int { return cmp.Compare(pairs[top][1], at) })
		up := -1
		if n > 0 {
			up = tops[n-1]
		}
		pairs, before = append(pairs, [2]int{i, s.at}), append(before, up)
		if n == len(tops) {
			tops = append(tops, 0)
		}
		tops[n] = len(pairs) - 1
	}
	if len(tops) == 0 {
		return nil
	}
	for at := tops[len(tops)-1]; at >= 0; at = before[at] {
		out = append(out, pairs[at])
	}
	slices.Reverse(out)
	return out
}

// shortestEdit returns the shortest edit script that turns a into b, by Myers'
// algorithm. Each round extends the furthest points on the diagonals by one
// edit; the points are recorded so that walkBack can recover the script. It
// returns nil if the script would be longer than maxEdits.
func shortestEdit(a, b []string) []Change {
	limit := min(len(a)+len(b), maxEdits)
	v := make([]int, 2*limit+3)
	var rounds [][]int
	for d := 0; d <= limit; d++ {
		for k := -d; k <= d; k += 2 {
			at := limit + 1 + k
			x := v[at-1] + 1 // delete a line of a
			if k == -d || k != d && v[at-1] < v[at+1] {
				x = v[at+1] // insert a line of b
			}
			for x < len(a) && x-k < len(b) && a[x] == b[x-k] {
				x++
			}
			v[at] = x
			if x >= len(a) && x-k >= len(b) {
				return walkBack(rounds, len(a), len(b))
			}
		}
		rounds = append(rounds, append([]int(nil), v[limit+1-d:limit+2+d]...))
	}
	return nil
}

// walkBack recovers the edits from the furthest points of each round. Those of
// round d are on the diagonals -d to d.
func walkBack(rounds [][]int, x, y int) []Change {
	var back []Change
	for d := len(rounds); d > 0; d-- {
		prev := rounds[d-1]
		at := func(k int) int { // furthest x on diagonal k one round ago
			if i := k + d - 1; i >= 0 && i < len(prev) {
				return prev[i]
			}
			return -1
		}
		k := x - y
		down := k == -d || k != d && at(k-1) < at(k+1)
		if down {
			x = at(k + 1)
			y = x - (k + 1)
			back = append(back, Change{x, 0, y, 1})
		} else {
			x = at(k - 1)
			y = x - (k - 1)
			back = append(back, Change{x, 1, y, 0})
		}
	}
	var out []Change
	for _, c := range slices.Backward(back) {
		if n := len(out); n > 0 && out[n-1].oldEnd() == c.OldStart && out[n-1].newEnd() == c.NewStart {
			out[n-1].Removed += c.Removed
			out[n-1].Added += c.Added
			continue
		}
		out = append(out, c)
	}
	return out
}

package udiff

import "strings"

const (
	// around is how many unchanged lines stand on each side of a change.
	around = 3
	// farthest is how many lines may differ before what differs is told as one
	// change: the search takes the square of it.
	farthest = 500
)

// edit takes lines a[from:to] out and puts b[at:till] there.
type edit struct{ from, to, at, till int }

// Between is what turns one text into another, as hunks.
func Between(before, after string) (out []Hunk) {
	a, b := cut(before), cut(after)
	list := edits(a, b)
	for i := 0; i < len(list); {
		end := i + 1
		for end < len(list) && list[end].from-list[end-1].to <= 2*around {
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

func gather(a, b []string, list []edit) Hunk {
	first, last := list[0], list[len(list)-1]
	from, to := max(0, first.from-around), min(len(a), last.to+around)
	h := Hunk{OldStart: from + 1, OldLines: to - from}
	start := first.at - (first.from - from)
	h.NewStart, h.NewLines = start+1, last.till+(to-last.to)-start
	add := func(mark string, lines []string) {
		for _, line := range lines {
			h.Lines = append(h.Lines, mark+strings.TrimSuffix(line, "\n"))
		}
	}
	at := from
	for _, e := range list {
		add(" ", a[at:e.from])
		add("-", a[e.from:e.to])
		add("+", b[e.at:e.till])
		at = e.to
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

// edits looks for the fewest lines to change, between the equal ends.
func edits(a, b []string) []edit {
	lead, tail := ends(a, b)
	a, b = a[lead:len(a)-tail], b[lead:len(b)-tail]
	if len(a) == 0 && len(b) == 0 {
		return nil
	}
	list, ok := search(a, b)
	if !ok {
		list = []edit{{0, len(a), 0, len(b)}}
	}
	for i := range list {
		e := &list[i]
		e.from, e.to, e.at, e.till = e.from+lead, e.to+lead, e.at+lead, e.till+lead
	}
	return list
}

// search walks the diagonals, with one more change a round, until an end is
// reached (Myers 1986). It remembers each round to find the way back.
func search(a, b []string) ([]edit, bool) {
	reach := map[int]int{1: 0} // diagonal -> how far in a
	var rounds []map[int]int
	for d := 0; d <= min(farthest, len(a)+len(b)); d++ {
		before := make(map[int]int, d+2)
		for k := -d - 1; k <= d+1; k++ {
			if x, ok := reach[k]; ok {
				before[k] = x
			}
		}
		rounds = append(rounds, before)
		for k := -d; k <= d; k += 2 {
			x := step(before, k, d)
			for x < len(a) && x-k < len(b) && a[x] == b[x-k] {
				x++
			}
			reach[k] = x
			if x >= len(a) && x-k >= len(b) {
				return back(rounds, len(a), len(b)), true
			}
		}
	}
	return nil, false
}

// step is where diagonal k begins in round d: one line of b comes, or one of a
// goes.
func step(before map[int]int, k, d int) int {
	if k == -d || k != d && before[k-1] < before[k+1] {
		return before[k+1]
	}
	return before[k-1] + 1
}

// back follows the rounds from the end to the start.
func back(rounds []map[int]int, x, y int) (out []edit) {
	for d := len(rounds) - 1; d > 0; d-- {
		before, k := rounds[d], x-y
		from := k - 1
		if k == -d || k != d && before[k-1] < before[k+1] {
			from = k + 1
		}
		px := before[from]
		py := px - from
		e := edit{px, px, py, py + 1}
		if from == k-1 {
			e = edit{px, px + 1, py, py}
		}
		if n := len(out); n > 0 && out[n-1].from == e.to && out[n-1].at == e.till {
			out[n-1].from, out[n-1].at = e.from, e.at
		} else {
			out = append(out, e)
		}
		x, y = px, py
	}
	for i, j := 0, len(out)-1; i < j; i, j = i+1, j-1 {
		out[i], out[j] = out[j], out[i]
	}
	return out
}

package prose

import (
	"fmt"
	"strings"
)

// maxEdits is the number of changed lines up to which a minimal diff is
// computed. Beyond it, the changed middle is shown as one change. Time and
// memory grow with the square of it.
const maxEdits = 600

// contextLines is how many unchanged lines surround a change.
const contextLines = 3

// change is a run of lines of the old text that a run of lines of the new text replaces.
type change struct{ oldStart, removed, newStart, added int }

// unified returns a unified diff of two texts without the two lines that name the files.
func unified(before, after string) []string {
	a, b := splitLines(before), splitLines(after)
	var out []string
	list := changes(a, b)
	for i := 0; i < len(list); {
		end := i + 1
		for end < len(list) && list[end].oldStart-(list[end-1].oldStart+list[end-1].removed) <= 2*contextLines {
			end++
		}
		out = append(out, hunk(a, b, list[i:end])...)
		i = end
	}
	return out
}

// hunk returns the lines of one hunk, which holds changes that are close to each other.
func hunk(a, b []string, list []change) []string {
	first, last := list[0], list[len(list)-1]
	lead := min(first.oldStart, contextLines)
	tail := min(len(a)-last.oldStart-last.removed, contextLines)
	from, end := first.oldStart-lead, last.oldStart+last.removed+tail
	out := []string{fmt.Sprintf("@@ -%s +%s @@", lineRange(from, end-from), lineRange(first.newStart-lead, last.newStart+last.added+tail-(first.newStart-lead)))}
	at := from
	keep := func(to int) {
		for ; at < to; at++ {
			out = append(out, " "+a[at])
		}
	}
	for _, c := range list {
		keep(c.oldStart)
		for ; at < c.oldStart+c.removed; at++ {
			out = append(out, "-"+a[at])
		}
		for _, l := range b[c.newStart : c.newStart+c.added] {
			out = append(out, "+"+l)
		}
	}
	keep(end)
	return out
}

// lineRange formats a range of lines as diff does: an empty range is named by
// the line before it.
func lineRange(from, n int) string {
	if n > 0 {
		from++
	}
	if n == 1 {
		return fmt.Sprint(from)
	}
	return fmt.Sprintf("%d,%d", from, n)
}

func splitLines(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(s, "\n"), "\n")
}

// changes returns the changes that turn a into b, in order. It strips common
// lines at both ends first, since most edits are small and in the middle.
func changes(a, b []string) []change {
	lead := 0
	for lead < len(a) && lead < len(b) && a[lead] == b[lead] {
		lead++
	}
	tail := 0
	for tail < len(a)-lead && tail < len(b)-lead && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	a, b = a[lead:len(a)-tail], b[lead:len(b)-tail]
	if len(a) == 0 && len(b) == 0 {
		return nil
	}
	list := shortestEdit(a, b)
	if list == nil {
		list = []change{{0, len(a), 0, len(b)}}
	}
	for i := range list {
		list[i].oldStart += lead
		list[i].newStart += lead
	}
	return list
}

// shortestEdit returns the shortest edit script that turns a into b, by Myers'
// algorithm. Each round extends the furthest points on the diagonals by one
// edit; the points are recorded so that walkBack can recover the script. It
// returns nil if the script would be longer than maxEdits.
func shortestEdit(a, b []string) []change {
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
func walkBack(rounds [][]int, x, y int) []change {
	var back []change
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
			back = append(back, change{x, 0, y, 1})
		} else {
			x = at(k - 1)
			y = x - (k - 1)
			back = append(back, change{x, 1, y, 0})
		}
	}
	var out []change
	for i := len(back) - 1; i >= 0; i-- {
		c := back[i]
		if n := len(out); n > 0 && out[n-1].oldStart+out[n-1].removed == c.oldStart && out[n-1].newStart+out[n-1].added == c.newStart {
			out[n-1].removed += c.removed
			out[n-1].added += c.added
			continue
		}
		out = append(out, c)
	}
	return out
}

// diffLines returns the lines of a diff without its file headers.
func diffLines(text string) []string {
	list := splitLines(strings.ReplaceAll(text, "\r\n", "\n"))
	for len(list) > 0 && (strings.HasPrefix(list[0], "--- ") || strings.HasPrefix(list[0], "+++ ") || strings.HasPrefix(list[0], "diff ") || strings.HasPrefix(list[0], "Index: ") || strings.HasPrefix(list[0], "====")) {
		list = list[1:]
	}
	return list
}

// diffStat counts the lines that a diff adds and removes.
func diffStat(diff []string) (added, removed int) {
	for _, l := range diff {
		switch {
		case strings.HasPrefix(l, "+"):
			added++
		case strings.HasPrefix(l, "-"):
			removed++
		}
	}
	return added, removed
}

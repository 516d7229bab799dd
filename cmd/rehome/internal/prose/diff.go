package prose

import (
	"fmt"
	"strings"
)

// mostEdits is how many changed lines are told apart from each other; beyond it
// the changed middle is shown as one. Time and memory grow with its square.
const mostEdits = 600

// contextLines are how many unchanged lines stand around a change.
const contextLines = 3

// change is a run of lines that others have taken the place of.
type change struct{ old, removed, fresh, added int }

// unified compares two texts line by line, as a unified diff without its two
// lines about files.
func unified(before, after string) []string {
	a, b := splitLines(before), splitLines(after)
	var out []string
	list := changes(a, b)
	for i := 0; i < len(list); {
		end := i + 1
		for end < len(list) && list[end].old-(list[end-1].old+list[end-1].removed) <= 2*contextLines {
			end++
		}
		out = append(out, hunk(a, b, list[i:end])...)
		i = end
	}
	return out
}

// hunk spells changes that lie close together.
func hunk(a, b []string, list []change) []string {
	first, last := list[0], list[len(list)-1]
	lead := min(first.old, contextLines)
	tail := min(len(a)-last.old-last.removed, contextLines)
	from, end := first.old-lead, last.old+last.removed+tail
	out := []string{fmt.Sprintf("@@ -%s +%s @@", lineRange(from, end-from), lineRange(first.fresh-lead, last.fresh+last.added+tail-(first.fresh-lead)))}
	at := from
	keep := func(to int) {
		for ; at < to; at++ {
			out = append(out, " "+a[at])
		}
	}
	for _, c := range list {
		keep(c.old)
		for ; at < c.old+c.removed; at++ {
			out = append(out, "-"+a[at])
		}
		for _, l := range b[c.fresh : c.fresh+c.added] {
			out = append(out, "+"+l)
		}
	}
	keep(end)
	return out
}

// lineRange spells a place as diff does: one without lines is named by the line
// before it.
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

// changes are what turns a into b, in order. Common ends are taken off first:
// most edits are small and in the middle.
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
	list := shortest(a, b)
	if list == nil {
		list = []change{{0, len(a), 0, len(b)}}
	}
	for i := range list {
		list[i].old += lead
		list[i].fresh += lead
	}
	return list
}

// shortest is the shortest way from a to b by Myers: it walks along the
// diagonals with one more edit in each round, and goes back by the rounds it
// remembers. nil: it would take more than mostEdits.
func shortest(a, b []string) []change {
	most := min(len(a)+len(b), mostEdits)
	v := make([]int, 2*most+3)
	var rounds [][]int
	for d := 0; d <= most; d++ {
		for k := -d; k <= d; k += 2 {
			at := most + 1 + k
			x := v[at-1] + 1 // one line of a goes
			if k == -d || k != d && v[at-1] < v[at+1] {
				x = v[at+1] // one line of b comes
			}
			for x < len(a) && x-k < len(b) && a[x] == b[x-k] {
				x++
			}
			v[at] = x
			if x >= len(a) && x-k >= len(b) {
				return walkBack(rounds, len(a), len(b))
			}
		}
		rounds = append(rounds, append([]int(nil), v[most+1-d:most+2+d]...))
	}
	return nil
}

// walkBack finds the edits from the furthest points of each round. Those of
// round d are the diagonals -d to d.
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
		if n := len(out); n > 0 && out[n-1].old+out[n-1].removed == c.old && out[n-1].fresh+out[n-1].added == c.fresh {
			out[n-1].removed += c.removed
			out[n-1].added += c.added
			continue
		}
		out = append(out, c)
	}
	return out
}

// shownDiff is a diff that came as text, in lines, without the two that name
// the file.
func shownDiff(text string) []string {
	list := splitLines(strings.ReplaceAll(text, "\r\n", "\n"))
	for len(list) > 0 && (strings.HasPrefix(list[0], "--- ") || strings.HasPrefix(list[0], "+++ ") || strings.HasPrefix(list[0], "diff ") || strings.HasPrefix(list[0], "Index: ") || strings.HasPrefix(list[0], "====")) {
		list = list[1:]
	}
	return list
}

// counted are the lines that a diff adds and takes away.
func counted(diff []string) (added, removed int) {
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

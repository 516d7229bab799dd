package entries

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strconv"

	"rehome/internal/rawjson"
)

// order is the order of the entries of one list. Entries are given by their indexes
// in the list.
type order struct {
	list    []Entry
	natural []int // the entries in natural order
	rank    []int // the position of each entry in natural
	dated   bool  // an entry has a time
}

func newOrder(list []Entry) (*order, error) {
	n := len(list)
	o := &order{list: list, natural: make([]int, n), rank: make([]int, n)}
	created := make([]float64, n)
	for i, e := range list {
		created[i] = timeOf(e.JSON)
		o.dated = o.dated || created[i] != 0
		o.natural[i] = i
	}
	slices.SortFunc(o.natural, func(i, j int) int {
		return cmp.Or(cmp.Compare(created[j], created[i]), cmp.Compare(list[i].ID, list[j].ID))
	})
	ids := make(map[string]bool, n)
	for r, i := range o.natural {
		o.rank[i] = r
		if ids[list[i].ID] {
			return nil, fmt.Errorf("two entries of %q have the id %q", list[i].Member, list[i].ID)
		}
		ids[list[i].ID] = true
	}
	return o, nil
}

// timeOf returns what entries are sorted by, descending; 0 if there is no time.
func timeOf(json []byte) float64 {
	sign, text := 1.0, rawjson.Last(json, "createdAt")
	if text == nil {
		sign, text = -1, rawjson.Last(json, "unixMs")
	}
	if at, err := strconv.ParseFloat(string(text), 64); err == nil {
		return sign * at
	}
	return 0
}

// mark sets After or Before of the entries that are not in natural order.
//
// Between two entries that are, all have the same mark. If each belongs further back,
// it is Before: so new entries in front of them change nothing. Otherwise it is After,
// so new entries at the end change nothing.
func (o *order) mark() {
	in := o.sorted()
	for i := 0; i < len(in); i++ {
		if in[i] {
			continue
		}
		end := i
		for end < len(in) && !in[end] {
			end++
		}
		before := end < len(in)
		for j := i; j < end && before; j++ {
			before = o.rank[j] > o.rank[end]
		}
		for ; i < end; i++ {
			if before {
				o.list[i].Before = o.list[i+1].ID
			} else {
				o.list[i].After = o.list[i-1].ID
			}
		}
	}
}

// sorted reports which entries need no mark: those of the first of the longest runs
// in natural order. In a list without times, these are the entries that come after
// all entries before them: that depends on nothing after them.
func (o *order) sorted() []bool {
	in := make([]bool, len(o.rank))
	if !o.dated {
		last := -1
		for i, r := range o.rank {
			if r > last {
				in[i], last = true, r
			}
		}
		return in
	}
	length := make([]int, len(o.rank)) // of the longest run that starts at an entry
	var starts []int                   // by length: the highest rank that starts a run, negated to be ascending
	for i := len(o.rank) - 1; i >= 0; i-- {
		n := sort.SearchInts(starts, -o.rank[i])
		if n == len(starts) {
			starts = append(starts, 0)
		}
		starts[n] = -o.rank[i]
		length[i] = n + 1
	}
	want, last := len(starts), -1
	for i, r := range o.rank {
		if length[i] == want && r > last {
			in[i], last, want = true, r, want-1
		}
	}
	return in
}

// sequence returns the entries in the order of the client's list.
func (o *order) sequence() []int {
	// A marked entry belongs to its neighbor, on one of its two sides: that is a
	// binary tree but for the number of children, and the order is its in-order walk.
	//
	// Children are in the opposite of natural order: lists in natural order have no
	// marks, so where there are many, the list grows the other way.
	parent := o.parents()
	before, after := make([][]int, len(parent)), make([][]int, len(parent))
	var todo []int // a stack; an entry whose children are on it already is negative
	for _, i := range o.natural {
		switch p := parent[i]; {
		case p < 0:
			todo = append(todo, i)
		case o.list[i].After != "":
			after[p] = append(after[p], i)
		default:
			before[p] = append(before[p], i)
		}
	}
	slices.Reverse(todo)
	out := make([]int, 0, len(parent))
	for len(todo) > 0 {
		i := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if i < 0 {
			out = append(out, ^i)
			continue
		}
		todo = append(append(append(todo, after[i]...), ^i), before[i]...)
	}
	return out
}

// parents returns the neighbor that each entry names, or -1. Of entries that name
// each other in a cycle, one has none: the first to be reached in natural order.
func (o *order) parents() []int {
	index := make(map[string]int, len(o.list))
	for i, e := range o.list {
		index[e.ID] = i
	}
	parent := make([]int, len(o.list))
	for i, e := range o.list {
		p, ok := index[cmp.Or(e.After, e.Before)]
		if parent[i] = p; !ok {
			parent[i] = -1
		}
	}
	walk := make([]int, len(o.list)) // the walk that came to an entry first, from 1
	for n, i := range o.natural {
		at := i
		for at >= 0 && walk[at] == 0 {
			walk[at] = n + 1
			at = parent[at]
		}
		if at >= 0 && walk[at] == n+1 {
			parent[at] = -1
		}
	}
	return parent
}

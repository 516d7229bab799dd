package gemini

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"rehome/formats/internal/jsonl"
	"rehome/formats/session"
	"rehome/formats/store"
	"rehome/internal/rawjson"
)

// tell decides which records are told, in which order, and what each follows.
func (g *log) tell() {
	kids := map[int32][]int32{}
	for i := len(g.records) - 1; i >= 0; i-- {
		r := &g.records[i]
		if r.is&gone != 0 && g.records[r.up].is&gone != 0 {
			r.up = g.records[r.up].up // its last state is known by now, unless it is older
		}
	}
	for i := len(g.records) - 1; i >= 0; i-- {
		r := &g.records[i]
		if r.is&gone == 0 && r.up >= 0 && g.records[r.up].is&gone != 0 {
			r.up = g.records[r.up].up
		}
		if r.is&(left|gone) == left {
			kids[r.up] = append(kids[r.up], int32(i)) // the last one first
		}
	}
	for i := range g.records {
		g.repeats(int32(i))
	}
	for i, r := range g.records {
		if r.is&unlinked != 0 {
			g.add(int32(i), -1)
		}
	}
	up := g.family(-1, -1, kids)
	for _, i := range append(g.archived, g.path...) {
		up = g.family(i, up, kids)
	}
	g.add(tip, up)
	g.at, g.answered, g.archived, g.path = nil, nil, nil, nil
}

// repeats gives a line that only repeats results to the record that has them.
func (g *log) repeats(i int32) {
	r := &g.records[i]
	if r.is&answers == 0 || r.is&gone != 0 {
		return
	}
	of, last := r.of, i
	if g.records[of].is&gone != 0 {
		of = g.records[of].up
	}
	if r.place >= 0 && g.records[of].place < 0 { // that is not sent any more
		r.is &^= answers
		return
	}
	for g.records[last].was >= 0 {
		last = g.records[last].was
	}
	g.records[last].was, g.records[of].was = g.records[of].was, i
}

func (g *log) add(i, up int32) { g.told, g.before = append(g.told, i), append(g.before, up) }

// family tells a record, and the branches that were left after it. It returns what the next
// one follows.
func (g *log) family(i, up int32, kids map[int32][]int32) (next int32) {
	type one struct{ i, up int32 }
	next = up
	for todo := []one{{i, up}}; len(todo) > 0; {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		follows := at.i
		if at.i < 0 || g.records[at.i].is&answers != 0 {
			follows = at.up
		} else {
			g.add(at.i, at.up)
		}
		if at.i == i {
			next = follows
		}
		for _, kid := range kids[at.i] {
			if g.records[kid].is&differs != 0 {
				todo = append(todo, one{kid, at.up})
			} else {
				todo = append(todo, one{kid, follows})
			}
		}
		delete(kids, at.i)
	}
	return next
}

// Record reads a record again, and adds what it follows.
func (g *log) Record(ctx context.Context, number int, _ int64, _ int) (l jsonl.Line, err error) {
	i := g.told[number-1]
	var r record
	if i == tip {
		l.Object = []byte(`{"type":"` + tipKind + `"}`)
	} else if r = g.records[i]; r.is&unlinked != 0 && g.bad[i].Bad != "" {
		l = g.bad[i]
	} else if l, err = g.Source.Record(ctx, int(r.line), r.offset, int(r.size)); err != nil {
		return l, err
	}
	l.Number, l.Offset = number, r.offset
	if l.Object == nil {
		return l, nil
	}
	if l.Repaired || len(l.Bytes) > 0 {
		l.Bytes = l.Object
	}
	up, err := g.id(ctx, g.before[number-1])
	if err != nil {
		return l, err
	}
	p := append(bytes.Clone(l.Object[:len(l.Object)-1]), `,"`+before+`":`...)
	p = session.AppendString(p, up)
	switch {
	case r.is&differs != 0:
		p = append(p, `,"id":""`...)
	case r.is&more != 0:
		p = append(p, `,"`+known+`":true`...)
	case r.is&aside != 0:
		p = session.AppendString(append(p, `,"id":`...), asideID(i))
	case r.is&(summary|left) == summary && r.up >= 0:
		first, err := g.id(ctx, r.up)
		if err != nil {
			return l, err
		}
		p = session.AppendString(append(p, `,"`+keeps+`":`...), first)
	}
	l.Object = append(p, '}')
	return l, nil
}

// id returns the id of a record.
func (g *log) id(ctx context.Context, i int32) (string, error) {
	switch {
	case i < 0:
		return "", nil
	case g.records[i].is&aside != 0:
		return asideID(i), nil
	case g.last != i:
		r := g.records[i]
		l, err := g.Source.Record(ctx, int(r.line), r.offset, int(r.size))
		if err != nil {
			return "", err
		}
		g.last, g.lastID = i, rawjson.TextAt(l.Object, "id")
	}
	return g.lastID, nil
}

// asideID is the id of a line that has none.
func asideID(i int32) string { return fmt.Sprintf("record-%d", i+1) }

// maxAddr is how many lines of a message are named.
const maxAddr = 100

// Addr are the lines of a record: those of its earlier states, too, and those that repeat its
// results.
func (g *log) Addr(number int) (out []store.Addr) {
	i := g.told[number-1]
	if i == tip {
		return g.Source.Addr(0)
	}
	for ; i >= 0 && len(out) < maxAddr; i = g.records[i].was {
		at := g.Source.Addr(int(g.records[i].line))[0]
		if !slices.ContainsFunc(out, func(one store.Addr) bool { return one.Line == at.Line }) {
			out = append(out, at)
		}
	}
	return out
}

// Count is how many lines are only part of a record.
func (g *log) Count(number int) (n int) {
	i := g.told[number-1]
	if i == tip {
		return 0
	}
	for ; i >= 0; i = g.records[i].was {
		if g.records[i].is&inner == 0 {
			n++
		}
	}
	return n
}

// Older accounts for the lines that are not told.
func (g *log) Older(ctx context.Context) (session.Account, error) {
	sum, err := g.Source.Older(ctx)
	sum.Add(g.older)
	return sum, err
}

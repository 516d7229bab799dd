package lineclient

import (
	"fmt"
	"hash/maphash"
	"slices"

	"rehome/formats/internal/members"
	"rehome/formats/session"
	"rehome/internal/rawjson"
)

// entry is what the first pass keeps of a line.
type entry struct {
	id, parent uint64 // hashes; 0: none
	offset     int64
	size       int32
	turn       int32 // the number of its turn among outline.turns, from 1; 0: none
	branch     int32 // live, nowhere, or the number of a branch that was left, from 1
	kind       uint16
	is         flags
}

type flags uint8

const (
	chained  flags = 1 << iota // it is part of the tree
	repeated                   // another line has its id
	settled                    // it is an extra of its turn, or says nothing
	archived                   // it was compacted
	unsent                     // the client does not send it
	prompt
)

const (
	live    = 0
	nowhere = -1
)

// outline is what has to be known of a session before its first message.
type outline struct {
	c       *Client
	agent   string // whose lines it has; "": those of the session itself
	seed    maphash.Seed
	entries []entry          // by lines
	at      map[uint64]int32 // the last line with an id
	last    int32            // the last line of the tree; -1: none
	turns   []*session.Turn

	agents agents
	named  map[string]int32 // lines by the names that others know them by
	begun  map[string]int32 // the last lines of the kinds at which compactions begin

	keeps map[int32]uint64 // of compactions: the first line that stays
	edits map[int32]edit   // of edits

	path     []int32         // the live lines in the order in which the client sends them
	straight bool            // that is their order in the file
	early    []int32         // lines after kept that are not sent again
	boundary int32           // the last compaction; -1: none
	kept     int32           // the line that it stands before
	edited   map[int32]int32 // the edits in force, by the lines that they change
	left     []branch        // the branches that were left
	settings []session.Extra // aside lines before the first turn
	room     int             // bytes that aside lines can still have
}

// edit is a line that changes another one.
type edit struct {
	target uint64
	gone   bool
}

// branch is what was left at some line.
type branch struct {
	name  string
	lines []int32
}

// maxAside is how many bytes of settings a session's turns can have.
const maxAside = 64 << 10

func newOutline(c *Client) *outline {
	return &outline{c: c, seed: maphash.MakeSeed(), at: map[uint64]int32{}, last: -1, boundary: -1, kept: -1, keeps: map[int32]uint64{}, edits: map[int32]edit{},
		edited: map[int32]int32{}, named: map[string]int32{}, begun: map[string]int32{}, agents: agents{at: map[string]bool{}, of: map[string]string{}}, room: maxAside}
}

// hash returns what stands for an id in memory; 0 for none.
func (o *outline) hash(id string) uint64 {
	if id == "" {
		return 0
	}
	return max(1, maphash.String(o.seed, id))
}

// take takes the next line of the first pass.
func (o *outline) take(r *Record) {
	i, c := int32(len(o.entries)), o.c
	e := entry{offset: r.Offset, size: int32(len(r.Bytes)), branch: nowhere}
	if r.Object == nil || r.Kind == c.Head.Kind {
		o.entries = append(o.entries, e)
		return
	}
	k := c.Kinds[r.Kind]
	if k.Named != "" && len(o.named) < maxNamed {
		o.named[rawjson.Text(r.Peek(k.Named))] = i
	}
	e.kind, e.is = c.index[r.Kind], chained
	if !o.mine(r) {
		e.is = 0
		o.entries = append(o.entries, e)
		return
	}
	if c.prompts(r) {
		e.is |= prompt
	}
	if k.Unsent != nil && k.Unsent(r) {
		e.is |= unsent
	}
	if e.id, e.parent = o.hash(r.ID), o.hash(c.parent(r)); e.id != 0 {
		if other, ok := o.at[e.id]; ok {
			o.entries[other].is |= repeated
			e.is |= repeated
		}
		o.at[e.id] = i
	}
	if k.Keeps != "" {
		o.keeps[i] = o.hash(r.Text(k.Keeps))
	}
	if k.Since != "" && len(k.Say(r)) > 0 {
		o.keeps[i] = 0
		if at, ok := o.begun[k.Since]; ok {
			o.keeps[i] = o.entries[at].id
		}
	}
	o.begun[r.Kind] = i
	if k.Edits != "" {
		o.edits[i] = edit{o.hash(rawjson.Text(r.Peek(k.Edits))), r.Peek(k.With) == nil}
	}
	o.entries = append(o.entries, e)
	o.tell(i, o.up(i), r)
	o.last = i
}

// maxNamed is how many lines can have names.
const maxNamed = 1 << 16

// prompts reports whether a line is a prompt of the user.
func (c *Client) prompts(r *Record) bool {
	k := c.Kinds[r.Kind]
	return k.Prompt && (k.Given == nil || !k.Given(r))
}

// up returns the line before another one; -1 if there is none. Lines without ids follow one
// another.
func (o *outline) up(i int32) int32 {
	e := &o.entries[i]
	switch {
	case o.c.Line.Parent == "" || o.c.Line.Flat || e.id == 0:
		for i--; i >= 0 && o.entries[i].is&chained == 0; i-- {
		}
		return i
	case e.parent == 0:
		return -1
	}
	if at, ok := o.at[e.parent]; ok {
		return at
	}
	return -1
}

// tell adds to its turn what a line says of it.
func (o *outline) tell(i, up int32, r *Record) {
	e, k := &o.entries[i], o.c.Kinds[r.Kind]
	e.turn = 0
	if up >= 0 {
		e.turn = o.entries[up].turn
	}
	if e.is&prompt != 0 {
		t := &session.Turn{Number: 1, Start: r.Time}
		if e.turn > 0 {
			t.Number = o.turns[e.turn-1].Number + 1
		}
		o.turns = append(o.turns, t)
		e.turn = int32(len(o.turns))
	}
	t := &session.Turn{}
	if e.turn > 0 {
		t = o.turns[e.turn-1]
	}
	if k.Turn != nil {
		k.Turn(r, t)
	}
	if k.Role == session.Assistant && r.Time.Known() {
		t.End = r.Time
	}
	if e.is &^= settled; k.Named != "" || k.Own != nil && k.Own(r) {
		e.is |= settled
	}
	if raw := members.Bare(r.Kind, r.Object); k.Aside && len(raw) <= o.room {
		o.room -= len(raw)
		e.is |= settled
		extra := session.Extra{Name: r.Kind, Raw: raw}
		if e.turn > 0 {
			t.Extras = append(t.Extras, extra)
		} else {
			o.settings = append(o.settings, extra)
		}
	}
}

// arrange finds the place of every line. It reports whether turns have to be told again,
// because not all lines are live.
func (o *outline) arrange() (again bool) {
	for i := o.last; i >= 0 && o.entries[i].branch == nowhere; i = o.up(i) {
		o.entries[i].branch = live
		o.path = append(o.path, i)
	}
	slices.Reverse(o.path)
	o.straight = slices.IsSorted(o.path)
	total := 0
	for i := range o.entries {
		if o.entries[i].is&chained != 0 {
			total++
		}
	}
	o.branches()
	o.compaction()
	o.edit()
	o.unsent()
	return total > len(o.path) || !o.straight
}

// branches finds the branches that were left: each begins where a line has another parent
// than one of its branch.
func (o *outline) branches() {
	n := int32(0)
	for i := range o.entries {
		e := &o.entries[i]
		if e.branch != nowhere || e.is&chained == 0 {
			continue
		}
		if up := o.up(int32(i)); up >= 0 && up < int32(i) && o.entries[up].branch > live {
			e.branch = o.entries[up].branch
		} else {
			n++
			e.branch = n
			o.left = append(o.left, branch{name: fmt.Sprintf("branch-%d", n)})
		}
		b := &o.left[e.branch-1]
		b.lines = append(b.lines, int32(i))
	}
}

// compaction finds the last compaction of the live branch, and what it left.
func (o *outline) compaction() {
	at, first := -1, -1
	for n, i := range o.path {
		if _, ok := o.keeps[i]; ok {
			at = n
		}
	}
	if at < 0 {
		return
	}
	o.boundary = o.path[at]
	first = slices.IndexFunc(o.path[:at], func(i int32) bool { return o.entries[i].id != 0 && o.entries[i].id == o.keeps[o.boundary] })
	if first < 0 {
		first = at
	}
	o.kept = o.path[first]
	for n, i := range o.path[:at] {
		_, compacts := o.keeps[i]
		switch {
		case n < first:
			o.entries[i].is |= archived
		case compacts || o.c.Kinds[o.c.names[o.entries[i].kind]].Once:
			o.entries[i].is |= archived
			o.early = append(o.early, i)
		}
	}
}

// edit finds the edits in force.
func (o *outline) edit() {
	if len(o.edits) == 0 {
		return
	}
	on := map[uint64]int32{}
	for _, i := range o.path {
		if e := &o.entries[i]; e.is&archived == 0 && e.id != 0 {
			on[e.id] = i
		}
	}
	for _, i := range o.path {
		if change, ok := o.edits[i]; ok && o.entries[i].is&archived == 0 {
			if target, ok := on[change.target]; ok && target != i {
				o.edited[target] = i
			}
		}
	}
}

// unsent makes branches of what is on the live one and is not sent: what lines said before
// they were changed, and lines for the screen alone.
func (o *outline) unsent() {
	for _, i := range o.path {
		if o.entries[i].is&unsent != 0 || o.isEdited(i) {
			o.left = append(o.left, branch{name: fmt.Sprintf("branch-%d", len(o.left)+1), lines: []int32{i}})
		}
	}
}

// isEdited reports whether a line has other content from some line on.
func (o *outline) isEdited(i int32) bool {
	_, changed := o.edited[i]
	return changed
}

// forget makes the first pass ready to be told the turns again.
func (o *outline) forget() { o.turns, o.settings, o.room = nil, nil, maxAside }

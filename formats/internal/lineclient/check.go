package lineclient

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"rehome/formats"
	"rehome/formats/internal/jsonl"
	"rehome/formats/internal/linecheck"
	"rehome/formats/internal/lines"
	"rehome/formats/rule"
	"rehome/formats/session"
	"rehome/formats/store"
)

// The rules that hold for every client of this kind, see Client.Consequences.
const (
	noHead     = "RH492"
	noParent   = "RH493"
	noCall     = "RH494"
	noResult   = "RH495"
	noMember   = "RH496"
	sameID     = "RH497"
	twoFiles   = "RH498"
	newKind    = "RH204"
	maxPending = 1 << 20
)

// check applies the rules to each file.
func (c *Client) check(ctx context.Context, l *formats.Location, v formats.View, q *rule.Pass) error {
	s, err := jsonl.Open(l, c.layout())
	if err != nil {
		return jsonl.Failure(ctx, c.Name, l.Path, err)
	}
	defer s.Close()
	for _, f := range s.Wanted() {
		files := []*jsonl.File{f}
		if l.IsDir() {
			files = append(files, f.Older...)
		}
		for n, f := range files {
			a := &audit{c: c, f: f, q: q.OwnedBy(f.ID), ids: newOutline(c), parents: map[uint64]place{}, calls: map[string]int{}}
			if n > 0 {
				a.say(twoFiles, 0, "", "")
			}
			if err := s.Check(ctx, f, v, a.q, linecheck.Options{Odd: func(int) { a.gap = true }}, a.line); err != nil {
				return err
			}
			a.end()
		}
	}
	return nil
}

// audit is what is known of one file while it is read.
type audit struct {
	c       *Client
	f       *jsonl.File
	q       *rule.Pass
	n       int
	gap     bool // a line could not be read
	ids     *outline
	parents map[uint64]place // parents that were not seen yet, with the first line that names them
	calls   map[string]int   // lines of calls without a result
}

type place struct {
	line int
	id   string
}

// say reports a finding, with what the client does about it.
func (a *audit) say(id string, line int, pointer, says string, args ...any) {
	what, asked := a.c.Consequences[id]
	if !asked && id != newKind {
		return
	}
	if what != "" {
		says, args = says+"%v", append(args, rule.Words(joined(says)+what))
	}
	a.q.Add(id, store.Addr{File: a.f.Name, Line: line}, pointer, says, args...)
}

func joined(says string) string {
	if says == "" {
		return ""
	}
	return ": "
}

func (a *audit) line(l *linecheck.Line) {
	r := a.c.parse(jsonl.Line{Line: lines.Line{Number: l.Number}, Object: l.Bytes})
	k, known := a.c.Kinds[r.Kind]
	if a.n++; a.n == 1 && !a.gap && !a.c.isHead(l.Bytes) {
		a.say(noHead, l.Number, "", "")
	}
	if r.Kind == a.c.Head.Kind {
		return
	}
	if !known {
		a.say(newKind, l.Number, "", "type %q", rule.Clip(r.Kind))
	}
	a.tree(r)
	for _, name := range k.Needs {
		if r.Peek(name) == nil {
			a.say(noMember, l.Number, pointer(k.In), "member %q", name)
		}
	}
	if k.Say == nil {
		return
	}
	for _, p := range k.Say(r) {
		switch p := p.(type) {
		case *session.ToolCall:
			if len(a.calls) < maxPending {
				a.calls[p.ID] = l.Number
			}
		case *session.ToolResult:
			if a.calls[p.Call] == 0 && !a.gap {
				a.say(noCall, l.Number, pointer(k.In), "call %q", rule.Clip(p.Call))
			}
			delete(a.calls, p.Call)
		}
	}
}

// tree checks the id and the parent of a line.
func (a *audit) tree(r *Record) {
	id, up := a.ids.hash(r.ID), a.c.parent(r)
	if _, twice := a.ids.at[id]; twice && id != 0 {
		a.say(sameID, r.Number, "/"+a.c.Line.ID, "id %q", rule.Clip(r.ID))
	}
	a.ids.at[id] = int32(r.Number)
	delete(a.parents, id)
	if of := a.ids.hash(up); up != "" && len(a.parents) < maxPending {
		_, seen := a.ids.at[of]
		if _, waits := a.parents[of]; !seen && !waits {
			a.parents[of] = place{r.Number, up}
		}
	}
}

// pointer is the JSON pointer to a member of a line.
func pointer(name string) string {
	if name == "" {
		return ""
	}
	return "/" + name
}

// end checks what only the whole file shows.
func (a *audit) end() {
	missing := slices.SortedFunc(maps.Values(a.parents), func(x, y place) int { return cmp.Compare(x.line, y.line) })
	for _, p := range missing {
		a.say(noParent, p.line, "/"+a.c.Line.Parent, "parent %q", rule.Clip(p.id))
	}
	open := slices.SortedFunc(maps.Keys(a.calls), func(x, y string) int { return cmp.Or(cmp.Compare(a.calls[x], a.calls[y]), cmp.Compare(x, y)) })
	for _, id := range open {
		a.say(noResult, a.calls[id], "", "call %q", rule.Clip(id))
	}
}

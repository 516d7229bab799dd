package lineclient

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

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
	separator  = "RH145"
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
			a := &Audit{Store: s, File: f, c: c, q: c.consequences(q.OwnedBy(f.ID)), ids: newOutline(c), parents: map[uint64]place{}, calls: map[string]place{}}
			if n > 0 {
				a.Say(twoFiles, 0, "", "")
			}
			if err := s.Check(ctx, f, v, a.q, linecheck.Options{Odd: func(int) { a.Gap = true }}, a.line); err != nil {
				return err
			}
			if err := a.replayed(ctx, v); err != nil {
				return err
			}
			a.end()
		}
	}
	return nil
}

// consequences adds to findings about lines as text what the client does about them.
func (c *Client) consequences(q *rule.Pass) *rule.Pass {
	one := *q
	one.Report = func(f rule.Finding) {
		if what := c.Consequences[f.Rule]; what != "" && rule.Lookup(f.Rule).Layer == rule.Container {
			if says := f.Text(); len(f.Args) == 0 {
				f.Message = strings.ReplaceAll(says, "%", "%%")
			}
			f.Args = append(f.Args, rule.Words(joined(f.Message)+what))
			f.Message += "%v"
		}
		q.Report(f)
	}
	return &one
}

// Audit is what is known of one file while it is read.
type Audit struct {
	Store *jsonl.Store
	File  *jsonl.File
	Gap   bool // a line could not be read, or is in another file

	c       *Client
	q       *rule.Pass
	n       int
	ids     *outline
	parents map[uint64]place // parents that were not seen yet, with the first line that names them
	calls   map[string]place // calls without a result
}

// place is a line, and what is to be known of it: the id of its parent, or the member that
// has that of its call.
type place struct {
	line int
	id   string
}

// Say reports a finding, with what the client does about it. What no client says of a rule is
// in the rule.
func (a *Audit) Say(id string, line int, pointer, says string, args ...any) {
	what, asked := a.c.Consequences[id]
	if generic := id >= noHead && id <= twoFiles; !asked && generic {
		return
	}
	if what != "" {
		says, args = says+"%v", append(args, rule.Words(joined(says)+what))
	}
	a.q.Add(id, store.Addr{File: a.File.Name, Line: line}, pointer, says, args...)
}

func joined(says string) string {
	if says == "" {
		return ""
	}
	return ": "
}

func (a *Audit) line(l *linecheck.Line) {
	r := a.c.parse(jsonl.Line{Line: lines.Line{Number: l.Number}, Object: l.Bytes})
	if a.n++; a.n == 1 && !a.Gap {
		if !a.c.isHead(l.Bytes) {
			a.Say(noHead, l.Number, "", "")
		} else if a.c.First != nil {
			a.c.First(a, r)
		}
	}
	if _, asked := a.c.Consequences[separator]; asked && linecheck.Separators(l.Bytes) && a.q.Enabled(rule.Container) {
		a.q.Report(rule.Finding{Rule: separator, At: store.Addr{File: a.File.Name, Line: l.Number}})
	}
	if a.c.Replay == nil {
		a.record(r)
	}
}

// replayed applies the rules to records that are not the lines themselves.
func (a *Audit) replayed(ctx context.Context, v formats.View) error {
	if a.c.Replay == nil {
		return nil
	}
	src := a.c.source(a.Store, a.File, -1, v)
	for l, err := range src.Each(ctx) {
		if err != nil {
			return err
		}
		if r := a.c.parse(l); r.Object != nil {
			r.Number = src.Addr(l.Number)[0].Line
			a.record(r)
		}
	}
	return nil
}

// record applies the rules to a record.
func (a *Audit) record(r *Record) {
	k, known := a.c.Kinds[r.Kind]
	if r.Kind == a.c.Head.Kind {
		return
	}
	if !known {
		a.Say(newKind, r.Number, "", "type %q", rule.Clip(r.Kind))
	}
	a.tree(r)
	for _, name := range k.Needs {
		if r.Peek(name) == nil {
			a.Say(noMember, r.Number, pointer(r.in), "member %q", name)
		}
	}
	if id := r.Text(cmp.Or(k.Opens, k.Closes)); id != "" && k.Opens != "" {
		a.opens(id, place{r.Number, pointer(r.in, k.Opens)})
	} else if id != "" && k.Closes != "" {
		a.closes(id, place{r.Number, pointer(r.in, k.Closes)})
	}
	if k.Say == nil || k.Prompt {
		return
	}
	said := k.Say(r)
	with := answered(said)
	for _, p := range said {
		switch p := p.(type) {
		case *session.ToolCall:
			if !with[p.ID] {
				a.opens(p.ID, place{r.Number, ""})
			}
		case *session.ToolResult:
			if !with[p.Call] {
				a.closes(p.Call, place{r.Number, pointer(r.in)})
			}
		}
	}
}

// answered are the calls whose results stand with them.
func answered(said []session.Part) map[string]bool {
	calls, out := map[string]bool{}, map[string]bool{}
	for _, p := range said {
		switch p := p.(type) {
		case *session.ToolCall:
			calls[p.ID] = true
		case *session.ToolResult:
			if calls[p.Call] {
				out[p.Call] = true
			}
		}
	}
	return out
}

// opens takes the id of a call.
func (a *Audit) opens(id string, at place) {
	if len(a.calls) < maxPending {
		a.calls[id] = at
	}
}

// closes takes the id of a call that has its result.
func (a *Audit) closes(id string, at place) {
	if a.calls[id].line == 0 && !a.Gap {
		a.Say(noCall, at.line, at.id, "call %q", rule.Clip(id))
	}
	delete(a.calls, id)
}

// tree checks the id and the parent of a line.
func (a *Audit) tree(r *Record) {
	id, up := a.ids.hash(r.ID), a.c.parent(r)
	if _, twice := a.ids.at[id]; twice && id != 0 {
		a.Say(sameID, r.Number, "/"+a.c.Line.ID, "id %q", rule.Clip(r.ID))
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

// pointer is the JSON pointer to a member of a line, or to a member of that.
func pointer(names ...string) (out string) {
	for _, name := range names {
		if name != "" {
			out += "/" + name
		}
	}
	return out
}

// end checks what only the whole file shows.
func (a *Audit) end() {
	missing := slices.SortedFunc(maps.Values(a.parents), func(x, y place) int { return cmp.Compare(x.line, y.line) })
	for _, p := range missing {
		a.Say(noParent, p.line, "/"+a.c.Line.Parent, "parent %q", rule.Clip(p.id))
	}
	open := slices.SortedFunc(maps.Keys(a.calls), func(x, y string) int { return cmp.Or(cmp.Compare(a.calls[x].line, a.calls[y].line), cmp.Compare(x, y)) })
	for _, id := range open {
		a.Say(noResult, a.calls[id].line, a.calls[id].id, "call %q", rule.Clip(id))
	}
}

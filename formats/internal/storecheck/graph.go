package storecheck

import (
	"context"

	"rehome/formats/internal/agentstate"
	"rehome/formats/rule"
	"rehome/formats/store"
)

// Graph asks about the blobs of one store, wherever they lie.
type Graph struct {
	walk    agentstate.Graph
	q       *rule.Pass
	at      func(place uint64) store.Addr
	talk    talk
	prompts rule.Validator
	asked   struct { // the blob whose address was asked for last: to find one reads its row
		id agentstate.ID
		at store.Addr
		ok bool
	}
}

// NewGraph asks about blobs that an index names. read gives the bytes at a
// place, at its address.
func NewGraph(q *rule.Pass, x *agentstate.Index, read func(ctx context.Context, place uint64) ([]byte, error), at func(place uint64) store.Addr) *Graph {
	g := &Graph{q: q, at: at}
	g.walk = agentstate.Graph{Index: x, Read: read, Found: g.fault, Drift: q.Enabled(rule.Schema)}
	if q.Enabled(rule.Meaning) || q.Enabled(rule.Schema) {
		g.walk.Prompt = g.prompt
	}
	if q.Schema != nil {
		g.prompts = q.Schema("cursor-prompt-1")
	}
	return g
}

func newGraph(s *Store, x *agentstate.Index) *Graph { return NewGraph(s.q, x, s.read, s.at) }

// Has reports whether there is a blob of that name.
func (g *Graph) Has(id agentstate.ID) bool {
	_, ok := g.walk.Index.Place(id)
	return ok
}

// Root walks a state. by is what names its root, pointer where in it.
func (g *Graph) Root(ctx context.Context, id agentstate.ID, by store.Addr, pointer string) error {
	there, err := g.walk.Walk(ctx, id)
	if err == nil && !there {
		g.q.Report(rule.Finding{Rule: "RH303", At: by, Pointer: pointer, Message: "no blob %s", Args: []any{id.String()[:12]}})
	}
	return err
}

// Len is how many blobs there are.
func (g *Graph) Len() int { return g.walk.Index.Len() }

// Workspaces are the addresses of the folders that a state was used in.
func (g *Graph) Workspaces(ctx context.Context, root agentstate.ID) ([]string, error) {
	place, ok := g.walk.Index.Place(root)
	if !ok {
		return nil, nil
	}
	b, err := g.walk.Read(ctx, place)
	return agentstate.WorkspaceURIs(b), err
}

// RootBytes walks a state whose root is no blob.
func (g *Graph) RootBytes(ctx context.Context, root []byte) error { return g.walk.WalkBytes(ctx, root) }

// Finish tells what only the end of all walks shows: at is the blobs as a
// whole.
func (g *Graph) Finish(at store.Addr) {
	if g.walk.Unread == 0 { // else results may be where nobody looked
		g.talk.finish(g.q)
	}
	if all, reached := g.walk.Index.Len(), g.walk.Index.Reached(); reached < all {
		g.q.Reportf("RH305", at, "%v of %v", rule.Count(int64(all-reached), ""), rule.Count(int64(all), ""))
	}
}

func (g *Graph) addr(id agentstate.ID) store.Addr {
	if g.asked.ok && g.asked.id == id {
		return g.asked.at
	}
	place, ok := g.walk.Index.Place(id)
	if !ok {
		return store.Addr{}
	}
	g.asked.id, g.asked.at, g.asked.ok = id, g.at(place), true
	return g.asked.at
}

// fault reports what is wrong with the graph.
func (g *Graph) fault(f agentstate.Fault) {
	out := rule.Finding{Pointer: f.Pointer, Message: f.Says, Args: f.Args}
	if f.HasBy {
		out.At = g.addr(f.By)
	}
	switch f.Kind {
	case agentstate.Missing:
		out.Rule, out.Message, out.Args = "RH304", "%s, %s", []any{rule.Words(f.As.String()), f.ID.String()[:12]}
	case agentstate.Malformed:
		out.Rule = "RH306"
	case agentstate.NoID:
		out.Rule = "RH307"
	case agentstate.NoMessage:
		out.Rule = "RH308"
	default:
		out.Rule = "RH204"
	}
	if f.Path != f.Pointer {
		out.Message, out.Args = out.Message+" (%s of the root)", append(out.Args, rule.Words(f.Path))
	}
	g.q.Report(out)
}

// prompt asks about one prompt message.
func (g *Graph) prompt(id agentstate.ID, doc []byte, path string) {
	if g.prompts != nil {
		if causes := g.prompts(doc); len(causes) > 0 { // only then: looking up the address may overwrite doc
			at := g.addr(id)
			for _, c := range causes {
				g.q.Report(rule.Finding{Rule: "RH203", At: at, Pointer: c.Pointer, Message: c.Message, Args: c.Args})
			}
			return
		}
	}
	if g.q.Enabled(rule.Meaning) {
		g.talk.hear(g, id, doc, path)
	}
}

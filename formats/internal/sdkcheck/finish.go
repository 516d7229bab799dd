package sdkcheck

import (
	"cmp"
	"context"
	"slices"

	"rehome/formats/internal/agentstate"
	"rehome/formats/internal/blobs"
	"rehome/formats/internal/sdkdoc"
	"rehome/formats/internal/storecheck"
	"rehome/formats/rule"
	"rehome/formats/store"
)

// Finish asks what only all documents together tell.
func (c *Catalog) Finish() {
	for _, a := range c.order {
		c.owner = a.ID
		c.finishAgent(a)
	}
	c.owner = ""
	for _, r := range c.runs {
		if !r.known && !c.Gaps.Runs {
			c.q.Reportf("RH316", r.at, "run %q", rule.Clip(r.ID))
		}
	}
	c.runs, c.last, c.keys = nil, nil, nil
}

func (c *Catalog) finishAgent(a *agent) {
	for _, r := range a.runs {
		if !a.known && !c.Gaps.Agents {
			c.q.Report(rule.Finding{Rule: cmp.Or(c.Places.Orphan, "RH312"), At: r.At, Pointer: c.Places.Agent, Message: "%q", Args: []any{rule.Clip(a.ID)}})
		}
	}
	slices.SortStableFunc(a.runs, func(x, y *run) int { return cmp.Compare(x.Turn, y.Turn) })
	c.numbers(a.runs)
	c.underWay(a.runs)
	if a.known && a.Active != "" && !c.Gaps.Runs {
		c.active(a)
	}
}

// numbers asks whether the runs of an agent are numbered from 1.
func (c *Catalog) numbers(runs []*run) {
	twice, gap := false, (*run)(nil)
	for i, r := range runs {
		if i > 0 && runs[i-1].Turn == r.Turn {
			twice = true
			c.q.Report(rule.Finding{Rule: "RH314", At: r.At, Pointer: c.Places.Turn, Message: "%d", Args: []any{r.Turn}})
		} else if gap == nil && r.Turn != int64(i+1) {
			gap = r
		}
	}
	if gap != nil && !twice && !c.Gaps.Runs {
		c.q.Report(rule.Finding{Rule: "RH315", At: gap.At, Pointer: c.Places.Turn, Message: "%d", Args: []any{gap.Turn}})
	}
}

// underWay asks about runs that have not ended. One that is queued waits for
// its first prompt.
func (c *Catalog) underWay(runs []*run) {
	for i, r := range runs {
		switch {
		case r.Status == "" || sdkdoc.Ended(r.Status):
		case i+1 < len(runs) && runs[len(runs)-1].Turn > r.Turn:
			c.q.Report(rule.Finding{Rule: "RH323", At: r.At, Pointer: c.Places.Status, Message: "%s", Args: []any{r.Status}})
		case r.Status != sdkdoc.Queued:
			c.q.Report(rule.Finding{Rule: "RH324", At: r.At, Pointer: c.Places.Status, Message: "%s", Args: []any{r.Status}})
		}
	}
}

func (c *Catalog) active(a *agent) {
	r := c.runs[a.Active]
	var id, says string
	var args []any
	switch {
	case r == nil || !r.known:
		id, says, args = "RH321", "%q", []any{rule.Clip(a.Active)}
	case r.Agent != a.ID:
		id, says, args = "RH322", "belongs to %q", []any{rule.Clip(r.Agent)}
	case sdkdoc.Ended(r.Status):
		id, says, args = "RH322", "%s", []any{r.Status}
	default:
		return
	}
	c.q.Report(rule.Finding{Rule: id, At: a.At, Pointer: c.Places.Active, Message: says, Args: args})
}

// Agents lists the agents that there are documents of.
func (c *Catalog) Agents() (out []Agent) {
	for _, a := range c.order {
		if a.known {
			out = append(out, a.Agent)
		}
	}
	return out
}

// Known reports whether there is a document of an agent.
func (c *Catalog) Known(id string) bool {
	a := c.agents[id]
	return a != nil && a.known
}

// reference is a checkpoint that a document names.
type reference struct {
	root    string
	at      store.Addr
	pointer string
}

// references are the checkpoints of an agent in the order in which they were
// made.
func (c *Catalog) references(id string) (out []reference) {
	a := c.agents[id]
	if a == nil {
		return nil
	}
	add := func(root string, at store.Addr, pointer string) {
		if root != "" {
			out = append(out, reference{root, at, pointer})
		}
	}
	for _, r := range a.runs {
		add(r.Start, r.At, c.Places.Start)
		add(r.Latest, r.At, c.Places.Latest)
	}
	add(a.Root, a.At, c.Places.Checkpoint)
	return out
}

// Walk walks all checkpoints of an agent. g is nil of an agent that has no
// blobs at all.
func (c *Catalog) Walk(ctx context.Context, agent string, g *storecheck.Graph) error {
	q := c.q.OwnedBy(agent)
	for _, r := range c.references(agent) {
		id, exact, _ := blobs.ParseID(r.root)
		if !exact {
			q.Report(rule.Finding{Rule: "RH303", At: r.at, Pointer: r.pointer, Message: "%q is not a blob id", Args: []any{rule.Clip(r.root)}})
			continue
		}
		if g == nil {
			q.Report(rule.Finding{Rule: "RH303", At: r.at, Pointer: r.pointer, Message: "%s: the agent has no blobs", Args: []any{agentstate.ID(id).String()[:12]}})
			continue
		}
		if err := g.Root(ctx, id, r.at, r.pointer); err != nil {
			return err
		}
	}
	return nil
}

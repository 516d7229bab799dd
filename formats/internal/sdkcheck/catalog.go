package sdkcheck

import (
	"slices"

	"rehome/formats/internal/sdkdoc"
	"rehome/formats/rule"
	"rehome/formats/store"
)

// Catalog is the documents of one store. It belongs to one goroutine until
// Finish; then nothing changes it any more, and any number may ask it.
type Catalog struct {
	// Places are what members are called in this kind of store, for findings.
	Places Places
	// Gaps says that records could not be read: nothing is said of what is
	// missing then.
	Gaps struct{ Agents, Runs, Events bool }

	q      *rule.Pass
	order  []*agent
	agents map[string]*agent
	runs   map[string]*run
	last   *run
	keys   map[eventKey]struct{}
	owner  string // the agent that Finish checks
}

// Places are the names of members, as pointers.
type Places struct {
	Status, Active, Checkpoint, Turn, Agent, Offset, Seq, Key string
	Start, Latest                                             string // checkpoints of a run
	Orphan                                                    string // the rule that a run without its agent breaks, RH312 if not given
	Ends                                                      map[string]string
}

// New is an empty catalog.
func New(q *rule.Pass, p Places) *Catalog {
	c := &Catalog{Places: p, agents: map[string]*agent{}, runs: map[string]*run{}, keys: map[eventKey]struct{}{}}
	c.q = q.Owned(func(*rule.Finding) string { return c.owner })
	return c
}

// AgentOf returns the agent of a run, "" if it is not known.
func (c *Catalog) AgentOf(run []byte) string {
	if r := c.last; r != nil && r.ID == string(run) {
		return r.Agent
	}
	if r := c.runs[string(run)]; r != nil {
		return r.Agent
	}
	return ""
}

// Agent is one agent's document.
type Agent struct {
	ID        string
	Workspace string
	Active    string // run
	Root      string // of the newest checkpoint; "" of none
	At        store.Addr
}

type agent struct {
	Agent
	known bool // there is a document of it; else only runs name it
	runs  []*run
}

// Run is one run's document.
type Run struct {
	ID, Agent string
	Turn      int64
	// Status is the word as lines spell it, "" of one that is not known.
	Status string
	Ends   []string // the times of an end that are set, see Places.Ends
	Start  string   // roots
	Latest string
	At     store.Addr
}

type run struct {
	Run
	known  bool
	events sdkdoc.Numbers
	at     store.Addr // of the first event, where the run is not known
}

// PutAgent enters an agent.
func (c *Catalog) PutAgent(a Agent) {
	have := c.agent(a.ID)
	if have.known {
		c.q.Reportf("RH327", a.At, "%q", rule.Clip(a.ID))
		return
	}
	have.Agent, have.known = a, true
}

func (c *Catalog) agent(id string) *agent {
	a := c.agents[id]
	if a == nil {
		a = &agent{}
		a.ID = id
		c.agents[id] = a
		c.order = append(c.order, a)
	}
	return a
}

// PutRun enters a run.
func (c *Catalog) PutRun(r Run) {
	have := c.runs[r.ID]
	switch {
	case have == nil:
		have = &run{}
		c.runs[r.ID] = have
	case have.known && have.Agent == r.Agent:
		c.q.Reportf("RH327", r.At, "%q", rule.Clip(r.ID))
		return
	case have.known: // another agent's, which lines allow
		have = &run{}
	}
	have.Run, have.known = r, true
	a := c.agent(r.Agent)
	a.runs = append(a.runs, have)
	c.ends(&r)
}

// ends compares the status with the times of an end.
func (c *Catalog) ends(r *Run) {
	if r.Status == "" {
		return
	}
	want, asked := c.Places.Ends[r.Status]
	for _, e := range r.Ends {
		if e != want && !(asked && want == "?") {
			c.q.Report(rule.Finding{Rule: "RH325", At: r.At, Pointer: e, Message: "%s", Args: []any{r.Status}})
		}
	}
	if asked && want != "?" && !slices.Contains(r.Ends, want) {
		c.q.Report(rule.Finding{Rule: "RH325", At: r.At, Pointer: want, Message: "%s", Args: []any{r.Status}})
	}
}

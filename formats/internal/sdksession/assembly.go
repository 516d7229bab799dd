package sdksession

import (
	"context"
	"errors"

	"rehome/formats"
	"rehome/formats/internal/agentstate"
	"rehome/formats/internal/members"
	"rehome/formats/internal/sdkdoc"
	"rehome/formats/internal/transcript"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/formats/store"
)

// spine is the source that tells the conversation.
type spine uint8

const (
	runSpine spine = iota
	graphSpine
	transcriptSpine
)

// assembly is one agent's session being put together.
type assembly struct {
	store       *Store
	agent       *agent
	doc         *sdkdoc.AgentDoc
	head        session.Session
	checkpoints *Checkpoints
	graph       Graph
	turns       []agentstate.Turn
	plan        *plan
	spine       spine
	survey      *transcript.Survey
	old         *oldText // a transcript in the old form, where nothing else is

	prompts map[*run]int // prompts of the transcript, by the run they began
	copies  copies
	closers []func() error
	tally   session.Account
	raw     int // bytes of documents that ride along
}

// assemble opens all sources of an agent and makes the head of its session.
func (s *Store) assemble(ctx context.Context, g *agent, history bool) (a *assembly, err error) {
	a = &assembly{store: s, agent: g}
	defer func() {
		if err != nil {
			err = errors.Join(err, a.close())
		}
	}()
	if err := a.document(ctx); err != nil {
		return a, err
	}
	if err := a.openCheckpoints(ctx, history); err != nil {
		return a, err
	}
	var root agentstate.ID
	if a.doc != nil {
		root, _ = agentstate.ParseID(a.doc.Root)
	}
	if a.plan, err = s.match(ctx, g, a.turns, root); err != nil {
		return a, err
	}
	if err := a.transcript(ctx); err != nil {
		return a, err
	}
	if err := a.asides(ctx); err != nil {
		return a, err
	}
	a.complete()
	a.head.Messages = a.messages(ctx)
	if len(a.copies.files) > 0 || len(s.kids[transcript.Spell(g.id)]) > 0 {
		a.head.Messages = a.copies.listen(g.id, a.head.Messages)
	}
	return a, nil
}

// document reads the agent's record.
func (a *assembly) document(ctx context.Context) error {
	a.head.ID, a.head.Agent, a.head.Head.Turns, a.head.Bytes = a.agent.id, session.CursorSDK, -1, -1
	if !a.agent.known {
		return nil
	}
	line, err := a.store.Lines.Line(ctx, sdkdoc.Agent, a.agent.place)
	if err != nil {
		return err
	}
	a.tally.Read++
	if a.doc = sdkdoc.ReadAgent(line); a.doc == nil {
		a.tally.Unreadable++
		return nil
	}
	a.tally.Converted++
	a.tally.Add(a.doc.Account)
	a.head.Head = a.doc.Head
	a.head.Head.Turns, a.head.Bytes = -1, -1
	a.head.Status, a.head.Extras = a.doc.Status, a.doc.Extras
	if a.store.Cwd != "" {
		a.head.Workspace = a.store.Cwd
	}
	return nil
}

// unnamed is the name that the SDK gives to the database of each agent.
const unnamed = "New Agent"

// openCheckpoints opens the checkpoints and reads the state.
func (a *assembly) openCheckpoints(ctx context.Context, history bool) error {
	checkpoints, err := a.store.Checkpoints(ctx, a.agent.id)
	if checkpoints != nil {
		a.closers = append(a.closers, checkpoints.Close)
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, formats.ErrBusy):
		return err
	case err != nil: // the others may still tell the session
		a.store.Note(loss.Loss{Code: loss.CheckpointsUnreadable, At: store.Addr{File: a.store.Names.State, Key: store.TextCell([]byte(a.agent.id))}, Args: []string{sober(err)}})
		return nil
	case checkpoints == nil:
		return nil
	}
	a.checkpoints = checkpoints
	a.head.Extras = append(a.head.Extras, checkpoints.Extra...)
	if a.doc == nil {
		a.head.Title, a.head.Created = checkpoints.Head.Title, checkpoints.Head.Created
	} else if name := checkpoints.Head.Title; name != "" && name != unnamed && name != a.head.Title {
		a.head.Extras = append(a.head.Extras, extra("meta.name", name))
	}
	root, ok := a.root()
	if !ok {
		if root, ok, err = a.search(ctx); err != nil {
			return err
		}
	}
	if !ok {
		return nil
	}
	o := agentstate.Options{Blobs: checkpoints.Blobs, Root: root, At: checkpoints.At, Note: a.store.Note, History: history, All: checkpoints.All}
	for _, r := range a.agent.runs {
		if r.hasLatest {
			o.Roots = append(o.Roots, r.latest)
		}
	}
	graph, err := a.store.read(ctx, o)
	if err != nil {
		return err
	}
	a.graph = graph
	if graph.Broken() == "" {
		a.spine, a.turns = graphSpine, graph.Turns()
	}
	return nil
}

// sober is the innermost text of an error that names no file of the user's.
func sober(err error) string {
	for {
		e := (*formats.Error)(nil)
		if !errors.As(err, &e) || e.Err == nil {
			return "cannot be opened"
		}
		if errors.As(e.Err, &e) {
			err = e
			continue
		}
		return e.Err.Error()
	}
}

// root is the current state: the catalog's word, which the SDK goes by, else the store.db's
// own, else what the newest run left. Where the first two differ, it says so.
func (a *assembly) root() (agentstate.ID, bool) {
	if a.doc != nil {
		if id, ok := agentstate.ParseID(a.doc.Root); ok {
			if other := a.checkpoints.Root; a.checkpoints.Named && other != id {
				a.store.Note(loss.Loss{Code: loss.StateOther, At: a.checkpoints.At(other)})
				a.head.Extras = append(a.head.Extras, extra("meta.latestRootBlobId", other.String()))
			}
			return id, true
		}
	}
	if a.checkpoints.Named {
		return a.checkpoints.Root, true
	}
	for i := len(a.agent.runs) - 1; i >= 0; i-- {
		if r := a.agent.runs[i]; r.hasLatest {
			return r.latest, true
		}
	}
	return agentstate.ID{}, false
}

// search looks for the state that was stored last.
func (a *assembly) search(ctx context.Context) (agentstate.ID, bool, error) {
	id, found, err := agentstate.Newest(ctx, a.checkpoints.Blobs, a.checkpoints.All)
	if found && err == nil {
		a.store.Note(loss.Loss{Code: loss.StateGuessed, At: a.checkpoints.At(id)})
	}
	return id, found, err
}

// mostRaw bounds what rides along in the head.
const mostRaw = 1 << 20

// asides puts documents that make no turn into the Extras: runs that never
// began, and second documents of one id, which the SDK lists and does not use.
func (a *assembly) asides(ctx context.Context) error {
	for _, p := range a.agent.doubles {
		if err := a.aside(ctx, sdkdoc.Agent, p); err != nil {
			return err
		}
	}
	for _, r := range a.agent.runs {
		if r.known {
			a.tally.Read++
			a.tally.Converted++
		}
		for _, p := range r.doubles {
			if err := a.aside(ctx, sdkdoc.Run, p); err != nil {
				return err
			}
		}
	}
	for _, r := range a.plan.asleep {
		a.tally.Read--
		a.tally.Converted--
		if err := a.aside(ctx, sdkdoc.Run, r.place); err != nil {
			return err
		}
	}
	return nil
}

func (a *assembly) aside(ctx context.Context, k sdkdoc.Kind, p Place) error {
	line, err := a.store.Lines.Line(ctx, k, p)
	if err != nil {
		return err
	}
	a.tally.Read++
	a.tally.CarriedRaw++
	at := a.store.Lines.At(k, p)
	if line != nil && a.raw+len(line) <= mostRaw {
		if b := members.Bare("document", line); b != nil {
			a.raw += len(b)
			a.head.Extras = append(a.head.Extras, session.Extra{Name: at.String(), Raw: b})
			return nil
		}
	}
	a.store.Note(loss.Loss{Code: loss.DocumentExcess, At: at})
	return nil
}

func (a *assembly) close() error {
	var errs []error
	for _, c := range a.closers {
		errs = append(errs, c())
	}
	a.closers = nil
	return errors.Join(errs...)
}

package read

import (
	"context"
	"errors"
	"os"
	"path"
	"slices"

	"rehome/formats"
	"rehome/formats/cursorsdk/internal/layout"
	"rehome/formats/internal/sdkdoc"
	"rehome/formats/internal/sdksession"
	"rehome/formats/internal/sdkstore"
	"rehome/formats/internal/sqlitefile"
	"rehome/formats/internal/sqlitepages"
	"rehome/formats/internal/sqlitestore"
	"rehome/formats/internal/transcript"
)

// Scan searches the databases and transcripts of a state root, or of those of a
// project. Any agent can have what it finds.
func Scan(ctx context.Context, l *formats.Location, v formats.View, s *formats.Scan) (err error) {
	if l, err = layout.StateRoot(l); err != nil {
		return err
	}
	d := &decoder{ctx: ctx, view: v, place: l.Path, around: layout.Around(l.Path), Store: sdksession.NewStore(v)}
	d.Fail = d.fail
	databases, _, err := layout.Shape(layout.Project(l)).FilesFor(l, formats.View{OnLoss: v.OnLoss})
	if err != nil && !errors.Is(err, sqlitestore.ErrNoDatabase) {
		return err
	}
	if d.Root, err = os.OpenRoot(l.Path); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Root.Close()) }()
	c := &scan{Scan: sdksession.NewScan(s), decoder: d, agents: map[string]bool{}}
	var stores []string
	for _, p := range databases {
		table := c.table
		if path.Base(p.Path) == sdkstore.StoreName {
			stores, table = append(stores, p.Path), c.any
		}
		if err := sqlitefile.EachRow(ctx, p.Name, layout.Options(v), table); err != nil || s.Done() {
			return err
		}
	}
	c.End()
	if err := c.transcripts(l, stores); err != nil || s.Done() {
		return err
	}
	return nil
}

// scan is one search.
type scan struct {
	*sdksession.Scan
	*decoder
	agents map[string]bool // that the catalogs name
}

// any searches the rows of a table.
func (c *scan) any(*sqlitefile.PlanTable) func(*sqlitepages.Row) error {
	return func(r *sqlitepages.Row) error {
		c.Take("", r.Record())
		return nil
	}
}

// table searches the rows of a table of a catalog.
func (c *scan) table(t *sqlitefile.PlanTable) func(*sqlitepages.Row) error {
	agent, workspace := t.Column("agent_id"), t.Column("workspace_ref")
	run, seq, payload := t.Column("run_id"), t.Column("seq"), t.Column("payload_json")
	events := t.Name == sdkdoc.Event.Table()
	if events && (run < 0 || seq < 0 || payload < 0) {
		c.AddAll("")
	}
	return func(r *sqlitepages.Row) error {
		c.Take("", r.Record())
		switch {
		case c.Done():
		case events:
			c.Event(string(r.Cell(run).Bytes()), r.Cell(seq).Int(), r.Cell(payload).Bytes())
		case agent >= 0:
			id := string(r.Cell(agent).Bytes())
			if c.agents[id] = true; workspace >= 0 && c.around.Workspaces != nil {
				c.around.Workspaces[id] = string(r.Cell(workspace).Bytes())
			}
		}
		return nil
	}
}

// transcripts searches the transcripts of the agents that Decode looks for.
func (c *scan) transcripts(l *formats.Location, stores []string) error {
	if err := c.FindTranscripts(c.ctx, ""); err != nil {
		return err
	}
	if len(c.decoder.Transcripts) > 0 || layout.Project(l) {
		return c.Scan.Transcripts(c.Root, c.decoder.Transcripts)
	}
	for id := range c.agents {
		c.CheckpointAgents = append(c.CheckpointAgents, id)
	}
	slices.Sort(c.CheckpointAgents)
	if _, err := sdkstore.OwnersOf(c.CheckpointAgents, stores, func(string) (string, error) { return "", errUnlisted }); err != nil {
		return err
	}
	if err := c.besideScripts(); err != nil {
		return err
	}
	for _, f := range c.decoder.Transcripts {
		root, err := os.OpenRoot(c.Outer[f.Path])
		if err != nil {
			return err
		}
		if err := errors.Join(c.Scan.Transcripts(root, []transcript.File{f}), root.Close()); err != nil {
			return err
		}
	}
	return nil
}

var errUnlisted = errors.New("a store.db of an agent that the catalog does not name")

package read

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path"
	"slices"
	"unicode/utf8"

	"rehome/formats"
	"rehome/formats/cursorsdk/internal/layout"
	"rehome/formats/internal/sdkdoc"
	"rehome/formats/internal/sdksession"
	"rehome/formats/internal/sdkstore"
	"rehome/formats/internal/sqlitefile"
	"rehome/formats/internal/sqlitepages"
	"rehome/formats/internal/sqlitestore"
	"rehome/formats/internal/transcript"
	"rehome/formats/store"
)

// Scan searches the databases and transcripts of a state root, or of those of a
// project.
func Scan(ctx context.Context, l *formats.Location, v formats.View, s *formats.Scan) (err error) {
	if l, err = layout.StateRoot(l); err != nil {
		return err
	}
	d := newDecoder(ctx, v)
	d.place, d.around = l.Path, layout.Around(l.Path)
	databases, _, err := layout.Shape(layout.Project(l)).FilesFor(l, formats.View{OnLoss: v.OnLoss})
	if err != nil && !errors.Is(err, sqlitestore.ErrNoDatabase) {
		return err
	}
	if d.Root, err = os.OpenRoot(l.Path); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Root.Close()) }()
	c := &scan{Scan: sdksession.NewScan(s), decoder: d, found: map[string]uint64{}}
	for _, p := range databases {
		table := c.table
		if path.Base(p.Path) == sdkstore.StoreName {
			table = c.blobs(p.Path)
		}
		if err := sqlitefile.EachRow(ctx, p.Name, layout.Options(v), table); err != nil || s.Done() {
			return err
		}
	}
	if err := d.owners(databases); err != nil {
		return err
	}
	if err := c.transcripts(l); err != nil {
		return err
	}
	c.End(d.Index.Agents())
	for agent, p := range d.stores {
		c.Add(agent, c.found[p.Path])
	}
	return nil
}

// scan is one search.
type scan struct {
	*sdksession.Scan
	*decoder
	found map[string]uint64 // terms by database of checkpoints
}

// blobs returns the function for the tables of a database of checkpoints.
func (c *scan) blobs(path string) func(*sqlitefile.PlanTable) func(*sqlitepages.Row) error {
	return func(*sqlitefile.PlanTable) func(*sqlitepages.Row) error {
		return func(r *sqlitepages.Row) error {
			c.found[path] = c.Find(r.Record(), c.found[path])
			return nil
		}
	}
}

// table searches the rows of a table of a catalog.
func (c *scan) table(t *sqlitefile.PlanTable) func(*sqlitepages.Row) error {
	if t.Name == sdkdoc.Event.Table() {
		return c.events(t)
	}
	agent, workspace, run := t.Column("agent_id"), t.Column("workspace_ref"), t.Column("run_id")
	return func(r *sqlitepages.Row) error {
		id := c.id(r, agent)
		c.Take(id, r.Record())
		if id == "" {
			return nil
		}
		c.Index.Know(id)
		if workspace >= 0 && c.around.Workspaces != nil {
			c.around.Workspaces[id] = string(r.Cell(workspace).Bytes())
		}
		if run := c.id(r, run); run != "" {
			c.Run(run, id)
		}
		return nil
	}
}

// id returns the id in a column, "" if there is none that is the same in a session.
func (c *scan) id(r *sqlitepages.Row, column int) string {
	if column < 0 {
		return ""
	}
	cell := r.Cell(column)
	if b := cell.Bytes(); cell.Class == store.Text && utf8.Valid(b) && bytes.IndexByte(b, 0) < 0 {
		return string(b)
	}
	c.AddAll("")
	return ""
}

// events searches the events of runs.
func (c *scan) events(t *sqlitefile.PlanTable) func(*sqlitepages.Row) error {
	run, seq, payload := t.Column("run_id"), t.Column("seq"), t.Column("payload_json")
	if run < 0 || seq < 0 || payload < 0 {
		c.AddAll("")
	}
	foreign := slices.ContainsFunc(t.Columns, func(name string) bool { return !slices.Contains(sdkdoc.Event.Columns(), name) })
	return func(r *sqlitepages.Row) error {
		if c.Done() {
			return nil
		}
		c.Event(r.Cell(run).Bytes(), r.Cell(seq).Int(), r.Cell(payload).Bytes(), r.Record())
		if foreign {
			c.Take("", r.Record())
		}
		return nil
	}
}

// transcripts searches the transcripts of the agents that Decode looks for.
func (c *scan) transcripts(l *formats.Location) error {
	if err := c.FindTranscripts(c.ctx, ""); err != nil {
		return err
	}
	if len(c.decoder.Transcripts) > 0 || layout.Project(l) {
		return c.Scan.Transcripts(c.Root, c.decoder.Transcripts)
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

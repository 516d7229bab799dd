package cursorsdk

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"rehome/formats"
	"rehome/formats/cursorsdk/internal/layout"
	"rehome/formats/internal/agentstate"
	"rehome/formats/internal/filename"
	"rehome/formats/internal/members"
	"rehome/formats/internal/sdkdoc"
	"rehome/formats/internal/sdkstore"
	"rehome/formats/internal/sqlitefile"
	"rehome/formats/internal/sqliterepair"
	"rehome/formats/internal/storecheck"
	"rehome/formats/internal/storedb"
	"rehome/formats/internal/storerepair"
	"rehome/formats/rule"
	"rehome/formats/session"
	"rehome/formats/store"
	"rehome/internal/rawjson"
)

// repair repairs the catalog of a project, or the database of an agent.
func repair(ctx context.Context, at string, r *formats.Repair) error {
	switch filepath.Base(at) {
	case sdkstore.StoreName:
		who := owner(ctx, filepath.Join(filepath.Dir(filepath.Dir(filepath.Dir(at))), sdkstore.IndexName), filepath.Base(filepath.Dir(at)))
		if err := storerepair.File(ctx, at, r, who); err != nil {
			return err
		}
		if err := adopt(ctx, at, r); err != nil {
			return err
		}
		return rename(filepath.Dir(at), r)
	case sdkstore.IndexName:
		if done, err := sqliterepair.File(ctx, at, r, false); done || err != nil {
			return err
		}
		c := &catalog{path: at, r: r, roots: map[string]string{}}
		return sqliterepair.Fatal(ctx, storerepair.Edit(ctx, at, func(e *sqlitefile.Editor) error { return c.repair(ctx, e) }))
	}
	return nil
}

// rename gives the folder of an agent the name under which the client looks for it.
func rename(folder string, r *formats.Repair) error {
	for _, f := range r.Findings {
		to := filepath.Join(filepath.Dir(folder), "agent-"+filepath.Base(folder))
		if _, err := os.Lstat(to); f.Rule == "RH416" && errors.Is(err, os.ErrNotExist) {
			r.Did(f, "added agent- to the name of the folder", "")
			return os.Rename(folder, to)
		}
	}
	return nil
}

// owner returns what the catalog says of the agent whose folder has a name.
func owner(ctx context.Context, index, folder string) storerepair.Agent {
	none := storerepair.Agent{Rootless: true}
	db, err := sqlitefile.Open(ctx, index, sqlitefile.Options{})
	if err != nil {
		return none // without a catalog, nothing is known
	}
	defer db.Close()
	for _, t := range db.Tables() {
		id, name, created := store.FindColumn(t.Columns, "agent_id"), store.FindColumn(t.Columns, "name"), store.FindColumn(t.Columns, "created_at")
		if !strings.EqualFold(t.Name, sdkdoc.Agent.Table()) || min(id, name, created) < 0 {
			continue
		}
		for b, err := range db.Scan(ctx, 0, t) {
			if err != nil {
				return none
			}
			for i := range b.Rows() {
				who := storerepair.Agent{ID: string(b.Cell(i, id).Bytes()), Title: string(b.Cell(i, name).Bytes()), Rootless: true}
				if storecheck.AgentFolder(who.ID) != folder {
					continue
				}
				if t, err := time.Parse(time.RFC3339, string(b.Cell(i, created).Bytes())); err == nil {
					who.Created = t.UnixMilli()
				}
				return who
			}
			b.Release()
		}
	}
	return none
}

// catalog is an index.db that is repaired.
type catalog struct {
	path  string
	r     *formats.Repair
	roots map[string]string // newest whole states, by agent
}

func (c *catalog) repair(ctx context.Context, e *sqlitefile.Editor) error {
	for _, f := range c.r.Findings {
		column := ""
		if len(f.Pointer) > 1 {
			column = f.Pointer[1:]
		}
		var err error
		switch f.Rule {
		case "RH303":
			err = c.checkpoint(ctx, e, f, column)
		case "RH312":
			err = c.orphan(ctx, e, f)
		case "RH317":
			err = c.set(ctx, e, f, "UPDATE run_events SET offset=CAST(seq AS TEXT) WHERE rowid=?1", "set the offset to the event's number", "")
		case "RH320":
			err = c.set(ctx, e, f, "UPDATE run_events SET idempotency_key=NULL WHERE rowid=?1", "cleared the key of the later event", "that key")
		case "RH321":
			err = c.set(ctx, e, f, "UPDATE agents SET active_run_id=NULL WHERE rowid=?1", "cleared the active run", "")
		case "RH406":
			err = c.cell(ctx, e, f, column)
		case "RH407":
			err = c.set(ctx, e, f, "UPDATE run_events SET payload_json='null' WHERE rowid=?1", "set the payload to null", "the payload of the event")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// set runs a statement on the row of a finding.
func (c *catalog) set(ctx context.Context, e *sqlitefile.Editor, f rule.Finding, statement, did, lost string) error {
	n, err := e.Exec(ctx, statement, f.At.RowID)
	if err == nil && n > 0 {
		c.r.Did(f, did, lost)
	}
	return err
}

// cell clears a cell that does not hold JSON.
func (c *catalog) cell(ctx context.Context, e *sqlitefile.Editor, f rule.Finding, column string) error {
	statement, ok := map[string]string{
		"metadata_json":              "UPDATE agents SET metadata_json='{}' WHERE rowid=?1",
		"model_params_json":          "UPDATE runs SET model_params_json=NULL WHERE rowid=?1",
		"usage_json":                 "UPDATE runs SET usage_json=NULL WHERE rowid=?1",
		"start_checkpoint_ref_json":  "UPDATE runs SET start_checkpoint_ref_json=NULL WHERE rowid=?1",
		"latest_checkpoint_ref_json": "UPDATE runs SET latest_checkpoint_ref_json=NULL WHERE rowid=?1",
	}[column]
	if ok && column == "latest_checkpoint_ref_json" && f.At.Set == "agents" {
		return c.checkpoint(ctx, e, f, column)
	}
	if !ok {
		return nil
	}
	return c.set(ctx, e, f, statement, "cleared the cell", "what it held")
}

// newest returns the newest whole state of an agent, "" if it has none.
func (c *catalog) newest(ctx context.Context, agent string) (string, error) {
	if root, ok := c.roots[agent]; ok {
		return root, nil
	}
	root, err := storerepair.Newest(ctx, c.store(agent), true)
	if err = sqliterepair.Fatal(ctx, err); err == nil {
		c.roots[agent] = root
	}
	return root, err
}

func (c *catalog) store(agent string) string {
	return filepath.Join(filepath.Dir(c.path), "agents", storecheck.AgentFolder(agent), sdkstore.StoreName)
}

// checkpoint replaces a checkpoint that is missing: that of an agent by its newest whole
// state, that of a run by nothing.
func (c *catalog) checkpoint(ctx context.Context, e *sqlitefile.Editor, f rule.Finding, column string) error {
	if f.At.Set != "agents" {
		statement := "UPDATE runs SET latest_checkpoint_ref_json=NULL WHERE rowid=?1"
		if column == "start_checkpoint_ref_json" {
			statement = "UPDATE runs SET start_checkpoint_ref_json=NULL WHERE rowid=?1"
		}
		return c.set(ctx, e, f, statement, "cleared the run's checkpoint", "")
	}
	row, err := e.One(ctx, "SELECT +agent_id FROM agents WHERE rowid=?1", f.At.RowID)
	if err != nil || row == nil {
		return err
	}
	root, err := c.newest(ctx, string(row[0].Bytes()))
	if err != nil {
		return err
	}
	if root == "" {
		return c.set(ctx, e, f, "UPDATE agents SET latest_checkpoint_ref_json=NULL WHERE rowid=?1", "cleared the checkpoint: no state of the agent is left", "what the model knows of the conversation")
	}
	if _, err := e.Exec(ctx, "UPDATE agents SET latest_checkpoint_ref_json=?1 WHERE rowid=?2", reference(root), f.At.RowID); err != nil {
		return err
	}
	c.r.Did(f, "went back to the newest state that is complete, "+root[:12], storerepair.OlderLost)
	return nil
}

func reference(root string) string {
	return `{"blobId":"` + root + `","storeKind":"local-agent-store"}`
}

// orphan writes the row of the agent of a run again.
func (c *catalog) orphan(ctx context.Context, e *sqlitefile.Editor, f rule.Finding) error {
	row, err := e.One(ctx, "SELECT +agent_id FROM runs WHERE rowid=?1", f.At.RowID)
	if err != nil || row == nil {
		return err
	}
	return c.agent(ctx, e, f, string(row[0].Bytes()))
}

// adopt writes the row of the agent of a store.db again.
func adopt(ctx context.Context, at string, r *formats.Repair) error {
	for _, f := range r.Findings {
		id := rawjson.TextAt(storerepair.Meta(ctx, at), "agentId")
		if f.Rule != "RH313" || storecheck.AgentFolder(id) != filepath.Base(filepath.Dir(at)) {
			continue
		}
		c := &catalog{path: filepath.Join(filepath.Dir(filepath.Dir(filepath.Dir(at))), sdkstore.IndexName), r: r, roots: map[string]string{}}
		if !r.Own(filepath.Dir(c.path)) {
			return nil
		}
		if err := c.make(ctx); err != nil || !r.Own(c.path) {
			return err
		}
		return sqliterepair.Fatal(ctx, storerepair.Edit(ctx, c.path, func(e *sqlitefile.Editor) error { return c.agent(ctx, e, f, id) }))
	}
	return nil
}

// make makes a catalog that is missing, as the client makes it.
func (c *catalog) make(ctx context.Context) error {
	if _, err := os.Lstat(c.path); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	f, err := os.OpenFile(c.path, os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), storerepair.Edit(ctx, c.path, func(e *sqlitefile.Editor) (err error) {
		for statement := range strings.SplitSeq(sdkstore.DeclaredSQL, ";\n") {
			if err == nil && strings.HasPrefix(statement, "CREATE") {
				_, err = e.Exec(ctx, statement)
			}
		}
		return err
	}))
}

// workspace returns the folder of an agent: that of the others, or the one that a state of
// its conversation or the names of the folders around the catalog tell. The client looks
// for the agent in a folder that is named by the hash of its own.
func (c *catalog) workspace(ctx context.Context, e *sqlitefile.Editor, id, root string) (found string, err error) {
	row, err := e.One(ctx, "SELECT +workspace_ref FROM agents")
	if err != nil {
		return "", err
	}
	if row != nil {
		return string(row[0].Bytes()), nil
	}
	state, err := sqlitefile.Value(ctx, c.store(id), storedb.BlobsTable, root, sqlitefile.Options{})
	if err != nil {
		return "", sqliterepair.Fatal(ctx, err)
	}
	folder := filepath.Dir(c.path)
	for _, uri := range agentstate.WorkspaceURIs(state) {
		if found, _ = agentstate.FilePath(uri); filename.HashOf(found) == filepath.Base(folder) {
			return found, nil
		}
	}
	return cmp.Or(layout.FolderOf(filepath.Base(filepath.Dir(filepath.Dir(folder))), filepath.Base(folder)), found), nil
}

const insertAgent = `INSERT INTO agents (agent_id, workspace_ref, status, latest_checkpoint_ref_json, name, metadata_json, created_at, updated_at)
SELECT ?1, ?6, 'IDLE', ?2, ?3, '{}', coalesce(?4, min(created_at), ?5), coalesce(max(updated_at), ?4, ?5)
FROM runs WHERE agent_id=?1`

// agent writes the row of an agent again, from its runs and its store.db. Without a
// store.db there is no agent to continue.
func (c *catalog) agent(ctx context.Context, e *sqlitefile.Editor, f rule.Finding, id string) error {
	if row, err := e.One(ctx, "SELECT 1 FROM agents WHERE agent_id=?1", id); err != nil || row != nil {
		return err // an earlier finding was about the same agent
	}
	root, err := c.newest(ctx, id)
	if err != nil || root == "" {
		return err
	}
	named, err := e.One(ctx, "SELECT +latest_checkpoint_ref_json FROM runs WHERE agent_id=?1 AND latest_checkpoint_ref_json IS NOT NULL ORDER BY turn_number DESC", id)
	if err != nil {
		return err
	}
	if named != nil { // the user may have gone back to it from a newer one
		blob := rawjson.TextAt(named[0].Bytes(), "blobId")
		if b, err := sqlitefile.Value(ctx, c.store(id), storedb.BlobsTable, blob, sqlitefile.Options{}); err == nil && len(b) > 0 {
			root = blob
		}
	}
	workspace, err := c.workspace(ctx, e, id, root)
	if err != nil {
		return err
	}
	name, created := described(ctx, c.store(id))
	if _, err = e.Exec(ctx, insertAgent, id, reference(root), name, created, session.FormatMillis(session.FirstMoment), workspace); err == nil {
		lost := "its metadata"
		if workspace == "" {
			lost += ", and the path of its folder, by which the client finds it"
		}
		c.r.Did(f, "wrote the agent's row again, from its runs and its store.db", lost)
	}
	return err
}

// described returns the name of an agent and when it was created, from its store.db; nil
// if that is unknown.
func described(ctx context.Context, at string) (name, created any) {
	doc := storerepair.Meta(ctx, at)
	if text := rawjson.TextAt(doc, "name"); text != "" {
		name = text
	}
	if ms := rawjson.Last(doc, "createdAt"); len(ms) > 0 {
		if t, err := time.Parse(time.RFC3339, rawjson.Text(ms)); err == nil {
			created = session.FormatMillis(t.UnixMilli())
		} else if n, ok := members.Whole(ms); ok {
			created = session.FormatMillis(n)
		}
	}
	return name, created
}

// Package into adds agents to a state root that the SDK uses, and takes them out
// again.
//
// The agents come as a state root of their own. Their databases and transcripts are
// moved first; then one transaction adds the rows to index.db, where the SDK looks for
// agents. An agent that is there already is replaced only if it is as Add wrote it:
// the member rehome of its metadata says which runs and which root it had then. Blobs
// are named by their content, so they are added to a database and never replaced.
package into

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"rehome/formats"
	"rehome/formats/internal/sdkstore"
	"rehome/formats/internal/sqlitefile"
	"rehome/formats/internal/storedb"
	"rehome/internal/fsx"
)

// changes is what an undo record says.
type changes struct {
	Created  bool          `json:"created,omitempty"` // index.db did not exist
	Replaced bool          `json:"rows,omitempty"`    // rowsName holds the rows that were replaced
	Agents   []agentChange `json:"agents"`
	Files    []fileChange  `json:"files,omitempty"`
}

// agentChange is what became of an agent's rows and blobs. The digests are of its rows.
type agentChange struct {
	ID     string         `json:"id"`
	Before string         `json:"before,omitempty"` // "" if it was not there
	After  string         `json:"after"`
	Blobs  *storedb.Added `json:"blobs,omitempty"` // nil if the whole database is new
}

// addition is one call of Add.
type addition struct {
	formats.Addition
	*sqlitefile.Editor // of index.db; nil if there is none
	extends            bool
	cols               columns
	out                formats.Added
	log                changes
}

// Add is formats.Into.Add.
func Add(ctx context.Context, a formats.Addition) (formats.Added, error) {
	x := &addition{Addition: a, out: formats.Added{Was: formats.Absent}}
	err := x.run(ctx)
	if x.Editor != nil {
		err = errors.Join(err, x.Close())
	}
	return x.out, err
}

// Extend is formats.Into.Extend.
func Extend(ctx context.Context, a formats.Addition) error {
	x := &addition{Addition: a, extends: true}
	err := x.run(ctx)
	if x.Editor != nil {
		err = errors.Join(err, x.Close())
	}
	return err
}

// Has is formats.Into.Has.
func Has(ctx context.Context, store, id string) (found bool, err error) {
	index := filepath.Join(store, sdkstore.IndexName)
	if _, err := os.Lstat(index); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	db, err := sqlitefile.Open(ctx, index, sqlitefile.Options{})
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	rows, err := db.Keyed(ctx, "agents", "agent_id", "status")
	if err != nil {
		return false, err
	}
	defer rows.Close()
	_, found, err = rows.Get(ctx, id, math.MaxInt64)
	return found, err
}

func (x *addition) run(ctx context.Context) error {
	ids, err := stamp(ctx, x.From, !x.Exact)
	if err != nil {
		return err
	}
	index := x.index()
	if _, err := os.Lstat(index); errors.Is(err, fs.ErrNotExist) && !x.extends {
		return x.create(ctx, ids)
	}
	open := sqlitefile.HasOpen(index)
	if x.Editor, err = sqlitefile.Edit(ctx, index, filepath.Join(x.From, sdkstore.IndexName)); err != nil {
		return err
	}
	if x.cols, err = x.columns(ctx); err != nil {
		return err
	}
	if err := x.refuseRunning(ctx, open, ids); err != nil {
		return err
	}
	if x.extends {
		return x.extend(ctx, ids[0])
	}
	if ids, err = x.wanted(ctx, ids); err != nil || len(ids) == 0 || x.DryRun {
		return err
	}
	return x.merge(ctx, ids)
}

func (x *addition) index() string { return filepath.Join(x.To, sdkstore.IndexName) }

// refuseRunning refuses a store that its client is writing to, as far as its rows say:
// a process has it open, and an agent is running. A run that ended with its process
// says RUNNING for ever; nobody has the store open then.
func (x *addition) refuseRunning(ctx context.Context, open bool, ids []string) error {
	for row, err := range x.Rows(ctx, "SELECT +agent_id, +active_run_id FROM main.agents WHERE status='RUNNING' ORDER BY agent_id") {
		if err != nil {
			return err
		}
		if id := string(row[0].Bytes()); open || slices.Contains(ids, id) {
			return &formats.Error{At: x.index(), Err: fmt.Errorf("%w: agent %s is running (run %s)", formats.ErrBusy, id, row[1].Bytes()), Hint: "wait until the run has finished, or stop it, and try again"}
		}
	}
	return nil
}

// wanted returns the agents to write: those that the store lacks, and those that
// Update allows to replace. If one may not be written, none is.
func (x *addition) wanted(ctx context.Context, ids []string) (out []string, err error) {
	for _, id := range ids {
		was, err := x.standing(ctx, id)
		if err != nil {
			return nil, err
		}
		switch {
		case was == formats.Same:
			if len(ids) == 1 {
				x.out.Was = was
			}
			continue
		case was == formats.Absent, was == formats.Older && x.Update:
			if len(out) == 0 {
				x.out.Was = was
			}
			out = append(out, id)
		default:
			x.out.Was = was
			return nil, nil
		}
	}
	return out, nil
}

// create places a whole store, its index last.
func (x *addition) create(ctx context.Context, ids []string) (err error) {
	if x.DryRun {
		return nil
	}
	x.log.Created = true
	from := filepath.Join(x.From, sdkstore.IndexName)
	e, err := sqlitefile.Edit(ctx, from, "")
	if err != nil {
		return err
	}
	cols, err := columnsOf(ctx, e, "main")
	for _, id := range ids {
		var after string
		if err == nil {
			after, err = digest(ctx, e, "main", cols, id)
		}
		x.log.Agents = append(x.log.Agents, agentChange{ID: id, After: after})
	}
	if err = errors.Join(err, e.Close()); err != nil {
		return err
	}
	if err := x.save(ctx, ids); err != nil {
		return err
	}
	if err := x.place(ctx, ids); err != nil {
		return err
	}
	if err := fsx.SyncFile(from); err != nil {
		return err
	}
	if err := fsx.Move(from, x.index()); err != nil {
		return &formats.Error{At: x.index(), Err: formats.Cause(err), Hint: "the client created it meanwhile: try again"}
	}
	return fsx.SyncFolder(x.To)
}

// merge writes the agents to a store that is there.
func (x *addition) merge(ctx context.Context, ids []string) error {
	for _, id := range ids {
		before, err := digest(ctx, x.Editor, "main", x.cols.all, id)
		if err != nil {
			return err
		}
		x.log.Agents = append(x.log.Agents, agentChange{ID: id, Before: before})
		x.log.Replaced = x.log.Replaced || before != ""
	}
	if x.log.Replaced {
		if err := x.keepRows(ctx, ids); err != nil {
			return err
		}
	}
	for i, id := range ids {
		if err := x.replaceRows(ctx, id); err != nil {
			return err
		}
		var err error
		if x.log.Agents[i].After, err = digest(ctx, x.Editor, "main", x.cols.all, id); err != nil {
			return err
		}
	}
	return x.perform(ctx, ids)
}

// perform makes a change that is known: the undo record, then the files, then the rows.
func (x *addition) perform(ctx context.Context, ids []string) error {
	if err := x.save(ctx, ids); err != nil {
		return err
	}
	if err := x.place(ctx, ids); err != nil {
		return err
	}
	return x.Commit(ctx)
}

// save writes the undo record.
func (x *addition) save(ctx context.Context, ids []string) error {
	for i, id := range ids {
		b, err := x.planBlobs(ctx, id)
		if err != nil {
			return err
		}
		x.log.Agents[i].Blobs = b
	}
	if err := x.planFiles(); err != nil {
		return err
	}
	record, err := json.Marshal(&x.log)
	if err != nil {
		return err
	}
	return x.Log.Save(record)
}

// stamp returns the ids of all agents. If mark is true, it writes into the metadata of each
// which runs and which root it has.
func stamp(ctx context.Context, root string, mark bool) (ids []string, err error) {
	e, err := sqlitefile.Edit(ctx, filepath.Join(root, sdkstore.IndexName), "")
	if err != nil {
		return nil, err
	}
	defer e.Close()
	for row, err := range e.Rows(ctx, "SELECT +agent_id FROM agents ORDER BY agent_id") {
		if err != nil {
			return nil, err
		}
		ids = append(ids, string(row[0].Bytes()))
	}
	for _, id := range ids {
		if strings.ContainsRune(id, 0) {
			return nil, &formats.Error{At: root, Err: errors.New("an agent's id contains NUL, which the client cannot read")}
		}
		if !mark {
			continue
		}
		print, err := fingerprint(ctx, e, id)
		if err != nil {
			return nil, err
		}
		if _, err := e.Exec(ctx, "UPDATE agents SET metadata_json=json_set(metadata_json, '$.rehome.wrote', ?2) WHERE agent_id=?1 AND json_valid(metadata_json)", id, print); err != nil {
			return nil, err
		}
	}
	return ids, errors.Join(e.Commit(ctx), e.Close())
}

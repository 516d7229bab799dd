package refile

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"rehome/formats"
	"rehome/formats/cursoride/internal/lists"
	"rehome/formats/internal/sqlitefile"
)

// changes is what an undo record says.
type changes struct {
	Changes []change `json:"labels"`
}

// edit opens the global database of a user dir that nobody uses.
func edit(ctx context.Context, dir string) (*editor, error) {
	if err := inUse(dir); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, lists.GlobalDB)
	e, err := sqlitefile.Edit(ctx, path, "")
	if err != nil {
		return nil, err
	}
	ed := &editor{e, map[string]bool{}}
	if err = ed.inspect(ctx, path); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return ed, nil
}

// inspect finds the tables of the database, and refuses one in which others would change.
func (e *editor) inspect(ctx context.Context, path string) error {
	for row, err := range e.Rows(ctx, "SELECT +type, +name, +tbl_name FROM main.sqlite_schema WHERE type='trigger' OR type='table' ORDER BY type, name") {
		if err != nil {
			return err
		}
		name, table := string(row[1].Bytes()), string(row[2].Bytes())
		if string(row[0].Bytes()) == "table" {
			e.tables[name] = true
		} else if slices.ContainsFunc([]string{lists.ItemTable, lists.DiskTable, lists.HeadTable}, func(t string) bool { return strings.EqualFold(t, table) }) {
			return &formats.Error{At: path, Err: fmt.Errorf("trigger %q would change other rows", name), Hint: unusualHint}
		}
	}
	return nil
}

// Refile is formats.Refiler.Refile.
func Refile(ctx context.Context, list []*formats.Refiled, log formats.UndoLog) (err error) {
	if len(list) == 0 {
		return nil
	}
	e, err := edit(ctx, list[0].Store)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	var moves []*move
	for _, s := range list {
		moves = append(moves, s.Plan.([]*move)...)
	}
	if err := relabel(ctx, e, moves); err != nil {
		return err
	}
	var record changes
	for _, m := range moves {
		if m.adds() {
			m.err = e.add(ctx, m)
		}
		switch {
		case m.err != nil:
			return m.err
		case len(m.changes) == 0:
			return formats.Changed("", list[0].Store) // since it was planned
		}
		record.Changes = append(record.Changes, m.changes...)
	}
	b, err := json.Marshal(&record)
	if err != nil {
		return err
	}
	if err := started(list[0].Store); err != nil { // while the labels were replaced
		return err
	}
	if err := log.Save(b); err != nil {
		return err
	}
	return e.Commit(ctx)
}

// Why a composer is not filed as it was.
const (
	changedSince = "changed since, by its client or a later move"
	isGone       = "it no longer exists"
)

// undoing is one call of Undo.
type undoing struct {
	*editor
	changes []change
	kept    map[string]string
	seen    map[string]bool // composers of which at least one label is there
}

// Undo is formats.Refiler.Undo.
func Undo(ctx context.Context, r formats.UndoRecord, dryRun bool) (out []formats.Undone, err error) {
	var record changes
	if err := json.Unmarshal(r.Changes, &record); err != nil {
		return nil, &formats.Error{At: r.Dir, Err: err, Hint: "this undo record is corrupt"}
	}
	e, err := edit(ctx, r.Store)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	u := &undoing{editor: e, changes: record.Changes, kept: map[string]string{}, seen: map[string]bool{}}
	for _, write := range []bool{false, !dryRun} { // first find out which of them stay
		if err := u.run(ctx, write); err != nil {
			return nil, err
		}
	}
	var ids []string
	for _, c := range record.Changes {
		if !slices.Contains(ids[max(0, len(ids)-1):], c.ID) {
			ids = append(ids, c.ID)
		}
	}
	slices.Sort(ids)
	for _, id := range slices.Compact(ids) {
		if !u.seen[id] && u.kept[id] == "" {
			u.kept[id] = isGone
		}
		out = append(out, formats.Undone{Key: id, Kept: u.kept[id]})
	}
	if dryRun {
		return out, nil
	}
	return out, e.Commit(ctx)
}

// run puts back the labels that were replaced, and removes the rows that were added, unless
// the client has changed them since: those get the label of the old workspace.
func (u *undoing) run(ctx context.Context, write bool) error {
	byPlace := map[place]map[string][]change{}
	var places []place
	for _, c := range u.changes {
		if byPlace[c.place] == nil {
			byPlace[c.place] = map[string][]change{}
			places = append(places, c.place)
		}
		byPlace[c.place][c.ID] = append(byPlace[c.place][c.ID], c)
	}
	for _, p := range places {
		if !known(p) {
			return &formats.Error{At: p.Table, Pointer: p.Key, Err: errors.New("not a record that names the workspace of a session"), Hint: "this undo record is corrupt"}
		}
		cell, ok, err := u.get(ctx, p)
		if err != nil {
			return err
		}
		if !ok {
			if c := byPlace[p][p.Key]; len(c) > 0 && c[0].Added != nil { // a killed run added no row
				_, there, err := u.get(ctx, place{lists.DiskTable, valueColumn, lists.ComposerRow + p.Key})
				if err != nil {
					return err
				}
				u.seen[p.Key] = u.seen[p.Key] || there
			}
			continue
		}
		added, err := u.added(ctx, p, byPlace[p])
		if err != nil {
			return err
		}
		waiting, remove := byPlace[p], false
		out, changes, valid := p.relabel(cell.Bytes(), func(id string, label []byte) []byte {
			if len(waiting[id]) == 0 || u.kept[id] != "" {
				return nil
			}
			c := waiting[id][0]
			waiting[id] = waiting[id][1:]
			u.seen[id] = true
			switch {
			case bytes.Equal(label, c.Before):
				return nil
			case !p.labeled(label, c.After):
				u.kept[id] = changedSince
				return nil
			case added:
				remove = true
				return nil
			}
			return c.Before
		})
		if !valid {
			for id := range waiting {
				u.kept[id] = changedSince
			}
		}
		switch {
		case !write:
		case remove:
			_, err = u.Exec(ctx, "DELETE FROM main."+lists.HeadTable+" WHERE "+idColumn+"=?1", p.Key)
		case len(changes) > 0:
			err = u.put(ctx, p, cell.WithBytes(out))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// added reports whether a place is in a row that was added, and has not changed since.
func (u *undoing) added(ctx context.Context, p place, changes map[string][]change) (bool, error) {
	c := changes[p.Key]
	if p.Column != spaceColumn || len(c) == 0 || c[0].Added == nil {
		return false, nil
	}
	is, ok, err := u.get(ctx, place{p.Table, valueColumn, p.Key})
	return ok && bytes.Equal(is.Bytes(), c[0].Added), err
}

// known reports whether a place can have labels: an undo record is a file that others could
// have changed.
func known(p place) bool {
	return slices.Contains(sharedPlaces[:], p) || slices.Contains(ownPlaces(owner(p)), p)
}

package into

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"rehome/formats"
	"rehome/formats/internal/sdkstore"
	"rehome/formats/internal/sqlitefile"
	"rehome/internal/fsx"
)

// undoing is one call of Undo.
type undoing struct {
	formats.UndoRecord
	*sqlitefile.Editor // of index.db; nil if there is none
	changes
	cols [3][]string
	kept map[string]string // agents that stay, and why
}

const changed = "changed since, by its client or a later migration"

// Undo is formats.Into.Undo.
func Undo(ctx context.Context, r formats.UndoRecord, dryRun bool) (out []formats.Undone, err error) {
	u := &undoing{UndoRecord: r, kept: map[string]string{}}
	if err := json.Unmarshal(r.Changes, &u.changes); err != nil {
		return nil, &formats.Error{At: r.Dir, Err: err, Hint: "this undo record is corrupt"}
	}
	index := filepath.Join(r.Store, sdkstore.IndexName)
	if _, err := os.Lstat(index); err == nil {
		if err := u.rows(ctx, index, dryRun); err != nil {
			return nil, err
		}
	}
	for _, a := range u.Agents {
		why := u.kept[a.ID]
		if why == "" {
			if why, err = u.store(ctx, a, dryRun); err != nil {
				return out, err
			}
		}
		out = append(out, formats.Undone{Key: a.ID, Kept: why})
	}
	if len(u.kept) == 0 { // otherwise a transcript may be that of an agent that stays
		for _, f := range u.Files {
			why, err := u.file(f, dryRun)
			if err != nil {
				return out, err
			}
			if why != "" {
				out = append(out, formats.Undone{Key: f.Path, Kept: why})
			}
		}
	}
	if u.Created && !dryRun && len(u.kept) == 0 {
		err = u.removeEmpty(ctx, index)
	}
	return out, err
}

// rows restores the rows of all agents that are as Add left them.
func (u *undoing) rows(ctx context.Context, index string, dryRun bool) (err error) {
	open := sqlitefile.HasOpen(index)
	rows := ""
	if u.Replaced {
		rows = filepath.Join(u.Dir, rowsName)
	}
	if u.Editor, err = sqlitefile.Edit(ctx, index, rows); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, u.Close()) }()
	if u.cols, err = columnsOf(ctx, u.Editor, "main"); err != nil {
		return &formats.Error{At: index, Err: err}
	}
	for _, a := range u.Agents {
		is, err := digest(ctx, u.Editor, "main", u.cols, a.ID)
		switch {
		case err != nil:
			return err
		case is == a.Before:
			continue // undone already, or never done
		case is != a.After:
			u.kept[a.ID] = changed
			continue
		case open && sqlitefile.HasOpen(storeOf(u.Store, a.ID)):
			u.kept[a.ID] = "in use: the client has it open"
			continue
		}
		if err := deleteRows(ctx, u.Editor, a.ID); err != nil {
			return err
		}
		if a.Before == "" {
			continue
		}
		if err := u.restoreRows(ctx, a.ID); err != nil {
			return err
		}
	}
	if dryRun {
		return nil
	}
	return u.Commit(ctx)
}

// restoreRows puts back the rows that an agent had.
func (u *undoing) restoreRows(ctx context.Context, id string) error {
	for _, t := range tables() {
		kept, err := u.Columns(ctx, sqlitefile.Attached, t.name)
		if err != nil {
			return err
		}
		names := list(slices.DeleteFunc(kept, func(n string) bool { return n == "rehome_row" }), "")
		if _, err := u.Exec(ctx, "INSERT INTO main."+t.name+" (rowid, "+names+") SELECT rehome_row, "+names+" FROM "+sqlitefile.Attached+"."+t.name+" WHERE "+t.where(sqlitefile.Attached)+" ORDER BY rehome_row", id); err != nil {
			return err
		}
	}
	return nil
}

// store takes away the blobs of an agent.
func (u *undoing) store(ctx context.Context, a agentChange, dryRun bool) (kept string, err error) {
	path := storeOf(u.Store, a.ID)
	if _, err := os.Lstat(path); err != nil || dryRun {
		return "", missingIsFine(err)
	}
	if a.Blobs == nil {
		if a.Before != "" {
			return "", nil // it had a database that is missing by now
		}
		for _, suffix := range append([]string{""}, sqlitefile.SideFiles()...) {
			if err := os.Remove(path + suffix); missingIsFine(err) != nil {
				return "", err
			}
		}
		_ = os.Remove(filepath.Dir(path)) // unless something else is there
		return "", nil
	}
	e, err := sqlitefile.Edit(ctx, path, "")
	if err != nil {
		return "", err
	}
	defer e.Close()
	if err := a.Blobs.Remove(ctx, e); err != nil {
		return "", err
	}
	return "", e.Commit(ctx)
}

// file restores a transcript, or what a link in its place leads to.
func (u *undoing) file(f fileChange, dryRun bool) (kept string, err error) {
	link := false
	if real, err := filepath.EvalSymlinks(f.Path); err == nil {
		info, err := os.Lstat(f.Path)
		link = err == nil && info.Mode()&fs.ModeSymlink != 0
		f.Path = real
	}
	is, err := fsx.Digest(f.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil
	case err != nil:
		return "", err
	case is != f.After:
		if f.Before != "" {
			if was, err := fsx.Digest(filepath.Join(u.Dir, f.Before)); err == nil && was == is {
				return "", nil
			}
		}
		return "changed since", nil
	case link && f.Before == "":
		return "changed since", nil // a file was written there
	case dryRun:
		return "", nil
	case f.Before == "":
		err = os.Remove(f.Path)
		_ = os.Remove(filepath.Dir(f.Path)) // unless something else is there
		return "", err
	}
	return "", copyOver(filepath.Join(u.Dir, f.Before), f.Path)
}

// removeEmpty removes a store that Add created, if nothing is left in it.
func (u *undoing) removeEmpty(ctx context.Context, index string) error {
	if _, err := os.Lstat(index); err == nil {
		e, err := sqlitefile.Edit(ctx, index, "")
		if err != nil {
			return err
		}
		row, err := e.One(ctx, "SELECT 1 FROM agents UNION ALL SELECT 1 FROM runs UNION ALL SELECT 1 FROM run_events LIMIT 1")
		if err = errors.Join(err, e.Close()); err != nil || row != nil || sqlitefile.HasOpen(index) {
			return err // a client that has it open would go on writing to a file without a name
		}
		for _, suffix := range append([]string{""}, sqlitefile.SideFiles()...) {
			if err := os.Remove(index + suffix); missingIsFine(err) != nil {
				return err
			}
		}
	}
	for _, dir := range []string{filepath.Join(u.Store, "agents"), transcriptsOf(u.Store), u.Store, filepath.Dir(u.Store), filepath.Dir(filepath.Dir(u.Store))} {
		_ = os.Remove(dir) // unless something else is there
	}
	return nil
}

package read

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"rehome/formats"
	"rehome/formats/cursorsdk/internal/layout"
	"rehome/formats/internal/sdkdoc"
	"rehome/formats/internal/sdkstore"
	"rehome/formats/internal/sqlitefile"
	"rehome/formats/session"
	"rehome/formats/store"
)

// Heads lists the agents of a catalog in its order, or of all the catalogs of a
// project. How much was said is in other files, and not looked at: an agent's
// turns are its runs that ever began, for the SDK makes the first one before
// there is a prompt. Of a run that did not finish nothing may have been kept, so
// that where there is one the number is not known.
func Heads(ctx context.Context, l *formats.Location, v formats.View) iter.Seq2[*session.Head, error] {
	return func(yield func(*session.Head, error) bool) {
		roots, err := catalogs(l)
		if err != nil {
			yield(nil, err)
			return
		}
		for _, root := range roots {
			list, err := catalog(ctx, root, v)
			if err != nil && !yield(nil, err) {
				return
			}
			for i := range list {
				if !yield(&list[i], nil) {
					return
				}
			}
		}
	}
}

// catalogs are the state roots that a location stands for.
func catalogs(l *formats.Location) ([]string, error) {
	switch {
	case !l.IsDir():
		return []string{filepath.Dir(l.Path)}, nil
	case !layout.Project(l):
		return []string{l.Path}, nil
	}
	below := filepath.Join(l.Path, layout.RootsName)
	list, err := os.ReadDir(below)
	if err != nil {
		return nil, &formats.Error{Format: sdkstore.FormatName, At: below, Err: err}
	}
	var out []string
	for _, e := range list {
		root := filepath.Join(below, e.Name())
		if info, err := os.Stat(root); layout.SetAside(e.Name()) || err == nil && !info.IsDir() {
			continue
		}
		if _, err := os.Stat(filepath.Join(root, sdkstore.IndexName)); !errors.Is(err, fs.ErrNotExist) {
			out = append(out, root) // opening it says what is wrong
		}
	}
	return out, nil
}

// headColumns are those of agents that a head is made of. The one that holds a
// secret is not read.
var headColumns = [...]string{"agent_id", "workspace_ref", "name", "created_at", "updated_at", "latest_checkpoint_ref_json"}

// catalog reads the agents of one state root. The catalog has a row an agent
// and a row a turn: what is kept of them here is small.
func catalog(ctx context.Context, root string, v formats.View) (list []session.Head, err error) {
	db, err := sqlitefile.Open(ctx, filepath.Join(root, sdkstore.IndexName), layout.Options(v))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	turns, unsure := map[string]int64{}, map[string]bool{}
	queued, finished := strings.ToUpper(sdkdoc.Queued), strings.ToUpper(sdkdoc.Finished)
	began := func(of []string, n int64) {
		if of[1] != queued {
			turns[of[0]] += n
			unsure[of[0]] = unsure[of[0]] || of[1] != finished
		}
	}
	// Other versions may lack a table or column, which is then not known.
	runs := present(db, "runs", "agent_id", "status")
	if len(runs.Columns) == 2 {
		if err := db.Count(ctx, runs, began); err != nil {
			return nil, err
		}
	}
	agents := present(db, "agents", headColumns[:]...)
	if !slices.Contains(agents.Columns, headColumns[0]) {
		return nil, nil
	}
	at := func(column string) int { return slices.Index(agents.Columns, column) }
	err = store.EachRow(db.Scan(ctx, 0, agents), func(b *store.Batch, i int) error {
		h := session.Head{
			ID: textOf(b, i, at("agent_id")), Agent: session.CursorSDK, Workspace: textOf(b, i, at("workspace_ref")), Title: textOf(b, i, at("name")),
			Created: headMoment(textOf(b, i, at("created_at"))), Updated: headMoment(textOf(b, i, at("updated_at"))), Bytes: -1,
		}
		h.Turns = turns[h.ID]
		lost := h.Turns == 0 && textOf(b, i, at("latest_checkpoint_ref_json")) != "" // the runs of its state are gone
		if lost || unsure[h.ID] || len(runs.Columns) < 2 {
			h.Turns = -1
		}
		list = append(list, h)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}

// present is a table with those of the columns that it has; with none if there
// is no such table.
func present(db *sqlitefile.DB, name string, columns ...string) sqlitefile.Table {
	out := sqlitefile.Table{Name: name}
	for _, t := range db.Tables() {
		for _, c := range columns {
			if t.Name == name && slices.Contains(t.Columns, c) {
				out.Columns = append(out.Columns, c)
			}
		}
	}
	return out
}

// textOf is a cell of text, as its client takes it; "" for a column that is not
// there.
func textOf(b *store.Batch, row, col int) string {
	if col < 0 {
		return ""
	}
	c := b.Cell(row, col)
	if c.Class != store.Text {
		return ""
	}
	bytes := c.Bytes()
	if end := slices.Index(bytes, 0); end >= 0 {
		bytes = bytes[:end]
	}
	return string(bytes)
}

func headMoment(text string) session.Stamp {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return session.Stamp{}
	}
	return session.Stored(t.UnixMilli())
}

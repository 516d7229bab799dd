package lists

import (
	"cmp"
	"context"

	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/formats/store"
	"rehome/internal/rawjson"
)

// readTable reads composerHeaders.
func (x *Index) readTable(ctx context.Context, s *Database) error {
	return s.HeadRows(ctx, func(r HeadRow) {
		x.Account.Read++
		x.Account.Converted++
		key := r.Text("composerId")
		if key == "" {
			return
		}
		e := x.Entry(key)
		if value := r.Cell("value"); value.Class != store.Null {
			if body, _, err := rawjson.Line(value.Bytes()); err == nil {
				x.f.SplitBy(body, "", HeadNames())
				e.take(&x.f, headAt{})
			}
		}
		e.Table = true
		x.columns(r)
		e.Parent.Kind = cmp.Or(e.Parent.Kind, r.Text("subagentTypeName"))
		e.Archived = e.Archived || r.whole("isArchived") != 0
		if n := r.whole("createdAt"); epoch(float64(n)) && !e.Created.Known() {
			e.Created = session.Stored(n)
		}
		if n := r.whole("lastUpdatedAt"); epoch(float64(n)) && !e.Updated.Known() {
			e.Updated = session.Stored(n)
		}
		e.Workspace = cmp.Or(r.Text("workspaceId"), e.Workspace)
		e.sure = e.Workspace != "" || e.Folder != (Folder{})
		e.Subagent = e.Subagent || r.whole("isSubagent") != 0
	})
}

// columns notes what a head says in a column that is not known.
func (x *Index) columns(r HeadRow) {
	for n, name := range r.columns {
		switch name {
		case "composerId", "workspaceId", "createdAt", "lastUpdatedAt", "isArchived", "isSubagent", "recency", "checkpointAt", "value", "subagentTypeName":
			continue
		}
		if r.batch.Cell(r.row, n).Class != store.Null {
			x.Note.Add(loss.Loss{Code: loss.ColumnUnknown, At: r.Addr})
		}
	}
}

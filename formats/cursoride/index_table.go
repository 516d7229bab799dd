package cursoride

import (
	"cmp"
	"context"
	"slices"

	"rehome/formats/internal/rawjson"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/formats/store"
)

// readTable reads composerHeaders.
func (x *index) readTable(ctx context.Context, s *shelf) error {
	for _, t := range s.db.Tables() {
		if t.Name != headTable {
			continue
		}
		at := func(name string) int { return slices.Index(t.Columns, name) }
		id, value, space, sub, kind := at("composerId"), at("value"), at("workspaceId"), at("isSubagent"), at("subagentTypeName")
		if id < 0 {
			return nil
		}
		for b, err := range s.db.Scan(ctx, 0, t) {
			if err != nil {
				return err
			}
			for i := range b.Rows() {
				x.tally.Read++
				x.tally.Converted++
				key := string(b.Cell(i, id).Bytes())
				if key == "" {
					continue
				}
				e := x.entry(key)
				if value >= 0 && b.Cell(i, value).Class != store.Null {
					if body, _, err := rawjson.Line(b.Cell(i, value).Bytes()); err == nil {
						x.f.split(body, "", headNames())
						e.take(&x.f, headAt{})
					}
				}
				e.table = true
				x.columns(s, t.Columns, b, i)
				if kind >= 0 {
					e.parent.Kind = cmp.Or(e.parent.Kind, string(b.Cell(i, kind).Bytes()))
				}
				if n := cellOf(b, i, at("isArchived")); n != 0 {
					e.archived = true
				}
				if n := cellOf(b, i, at("createdAt")); epoch(float64(n)) && !e.created.Known() {
					e.created = session.Stored(n)
				}
				if n := cellOf(b, i, at("lastUpdatedAt")); epoch(float64(n)) && !e.updated.Known() {
					e.updated = session.Stored(n)
				}
				if space >= 0 {
					e.space = cmp.Or(string(b.Cell(i, space).Bytes()), e.space)
				}
				e.sure = e.space != "" || e.folder != (folder{})
				e.subagent = e.subagent || cellOf(b, i, sub) != 0
			}
			b.Release()
		}
	}
	return nil
}

// cellOf is an integer of a row, 0 if there is none.
func cellOf(b *store.Batch, i, column int) int64 {
	if column < 0 || b.Cell(i, column).Class != store.Int {
		return 0
	}
	return b.Cell(i, column).Int()
}

// columns notes what a head says in a column that is not known.
func (x *index) columns(s *shelf, names []string, b *store.Batch, i int) {
	for n, name := range names {
		switch name {
		case "composerId", "workspaceId", "createdAt", "lastUpdatedAt", "isArchived", "isSubagent", "recency", "checkpointAt", "value", "subagentTypeName":
			continue
		}
		if b.Cell(i, n).Class != store.Null {
			x.note(loss.Loss{Code: loss.ColumnUnknown, At: store.Addr{File: s.file, Set: headTable, RowID: b.RowID(i), HasID: true}})
		}
	}
}

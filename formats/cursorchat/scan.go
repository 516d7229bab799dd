package cursorchat

import (
	"context"
	"path/filepath"
	"strings"

	"rehome/formats"
	"rehome/formats/internal/agentstate"
	"rehome/formats/internal/sqlitefile"
	"rehome/formats/internal/sqlitepages"
	"rehome/formats/internal/storedb"
)

// scan searches the blobs of a chat, which has no other session.
func (c codec) scan(ctx context.Context, l *formats.Location, v formats.View, s *formats.Scan) error {
	file := l.Path
	if l.IsDir() {
		file = filepath.Join(l.Path, storeName)
	}
	s.Take("", agentstate.Words())
	return sqlitefile.EachRow(ctx, file, sqlitefile.Options{Live: v.Live, OnNotice: v.OnNotice, Verbose: v.Verbose, Known: c.shape.Known}, func(t *sqlitefile.PlanTable) func(*sqlitepages.Row) error {
		if strings.EqualFold(t.Name, storedb.MetaTable) {
			return nil
		}
		return func(r *sqlitepages.Row) error {
			s.Take("", r.Record())
			return nil
		}
	})
}

package read

import (
	"path"
	"slices"

	"rehome/formats/cursorsdk/internal/layout"
	"rehome/formats/internal/sdkstore"
	"rehome/formats/internal/sqlitefile"
	"rehome/formats/internal/sqlitestore"
	"rehome/formats/internal/storedb"
	"rehome/formats/loss"
	"rehome/formats/store"
)

// owners finds out whose each store.db is.
func (d *decoder) owners(databases []sqlitestore.File) error {
	var paths []string
	files := map[string]sqlitestore.File{}
	for _, p := range databases {
		if path.Base(p.Path) == sdkstore.StoreName {
			paths = append(paths, p.Path)
			files[p.Path] = p
		}
	}
	owners, err := sdkstore.OwnersOf(d.Index.Agents(), paths, func(p string) (string, error) {
		value, err := sqlitefile.Value(d.ctx, files[p].Name, sdkstore.MetaTable, storedb.MetaKey, layout.Options(d.view))
		if err != nil {
			return "", d.ctx.Err() // reading the checkpoints says what is wrong
		}
		return sdkstore.MetaAgent(value), nil
	})
	if err != nil {
		return err
	}
	for _, o := range owners {
		if o.Named {
			d.Note(loss.Loss{Code: loss.AgentAdded, At: store.Addr{File: o.Path}})
		}
		d.stores[o.Agent] = files[o.Path]
		d.CheckpointAgents = append(d.CheckpointAgents, o.Agent)
	}
	slices.Sort(d.CheckpointAgents)
	return nil
}

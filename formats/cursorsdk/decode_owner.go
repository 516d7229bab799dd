package cursorsdk

import (
	"path"
	"slices"

	"rehome/formats/internal/sqlitefile"
	"rehome/formats/internal/sqlitestore"
	"rehome/formats/internal/storedb"
	"rehome/formats/loss"
	"rehome/formats/store"
)

// owners finds out whose each store.db is: it lies in a folder named by the
// agent's id, or else its meta row says so; failing both it is named like its
// folder.
func (d *decoder) owners(databases []sqlitestore.File) error {
	byFolder := map[string][]sqlitestore.File{} // in the order of their paths
	for _, p := range databases {
		if path.Base(p.Path) == storeName {
			folder := path.Base(path.Dir(p.Path))
			byFolder[folder] = append(byFolder[folder], p)
		}
	}
	owned := map[string]bool{}
	for _, id := range d.Index.Agents() {
		for _, folder := range []string{"agent-" + idHash(id), idHash(id)} {
			for _, p := range byFolder[folder] {
				if _, twice := d.stores[id]; !twice {
					d.stores[id], owned[p.Path] = p, true
				}
			}
		}
	}
	for _, p := range databases {
		if path.Base(p.Path) == storeName && !owned[p.Path] {
			if err := d.stranger(p); err != nil {
				return err
			}
		}
	}
	for id := range d.stores {
		d.CheckpointAgents = append(d.CheckpointAgents, id)
	}
	slices.Sort(d.CheckpointAgents)
	return nil
}

// stranger names the owner of a database that lies in no known agent's folder.
func (d *decoder) stranger(p sqlitestore.File) error {
	at := store.Addr{File: p.Path}
	value, err := sqlitefile.Value(d.ctx, p.Name, metaTable, storedb.MetaKey, sqlitefile.Options{Live: d.view.Live, OnNotice: d.view.OnNotice, Verbose: d.view.Verbose})
	if d.ctx.Err() != nil {
		return d.ctx.Err()
	}
	id := ""
	if err == nil {
		id = metaAgent(value)
	}
	if _, taken := d.stores[id]; id == "" || taken {
		id = path.Base(path.Dir(p.Path))
		if _, taken = d.stores[id]; taken { // in another state root
			id = path.Dir(p.Path)
		}
		for _, taken = d.stores[id]; taken; _, taken = d.stores[id] {
			id += "'"
		}
		d.Note(loss.Loss{Code: loss.AgentAdded, At: at})
	}
	d.stores[id] = p
	return nil
}

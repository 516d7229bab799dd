package cursorsdk

import (
	"encoding/hex"
	"path"
	"slices"
	"strings"

	"rehome/formats/internal/agentstate"
	"rehome/formats/internal/members"
	"rehome/formats/internal/rawjson"
	"rehome/formats/internal/secret"
	"rehome/formats/internal/sqlitefile"
	"rehome/formats/internal/sqlitestore"
	"rehome/formats/loss"
	"rehome/formats/session"
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
	for _, id := range d.index.Agents() {
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
		d.shelves = append(d.shelves, id)
	}
	slices.Sort(d.shelves)
	return nil
}

// stranger names the owner of a database that lies in no known agent's folder.
func (d *decoder) stranger(p sqlitestore.File) error {
	at := store.Addr{File: p.Path}
	value, err := sqlitefile.Value(d.ctx, p.Name, metaTable, "0", sqlitefile.Options{Live: d.view.Live, OnNotice: d.view.OnNotice, Verbose: d.view.Verbose})
	if d.ctx.Err() != nil {
		return d.ctx.Err()
	}
	id := ""
	if err == nil {
		id = metaID([]store.Cell{store.TextCell([]byte("0")), store.TextCell(value)})
	}
	if _, taken := d.stores[id]; id == "" || taken {
		id = path.Base(path.Dir(p.Path))
		if _, taken = d.stores[id]; taken { // in another state root
			id = path.Dir(p.Path)
		}
		for _, taken = d.stores[id]; taken; _, taken = d.stores[id] {
			id += "'"
		}
		d.note(loss.Loss{Code: loss.AgentAdded, At: at})
	}
	d.stores[id] = p
	return nil
}

// meta takes in a row of the meta table. Row "0" is JSON in hexadecimal, of
// older clients plain.
func (s *blobShelf) meta(d *decoder, b *store.Batch, i int, t sqlitefile.Table) {
	at := store.Addr{File: s.file, Set: t.Name, RowID: b.RowID(i), HasID: t.RowIDs}
	var key, value store.Cell
	if b.Width() == 2 {
		key, value = b.Cell(i, 0), b.Cell(i, 1)
	}
	if string(key.Bytes()) != "0" {
		s.out.Account.Add(session.Account{Read: 1, CarriedRaw: 1})
		text, _, torn := secret.StripHex(value.Bytes())
		if raw := bare(store.TextCell(text)); raw != nil && !torn && len(raw) < 64<<10 && key.Class == store.Text {
			s.out.Extra = append(s.out.Extra, session.Extra{Name: "meta." + strings.ToValidUTF8(string(key.Bytes()), "\ufffd"), Raw: raw})
			return
		}
		d.note(loss.Loss{Code: loss.MetaRowUnknown, At: at})
		return
	}
	text := value.Bytes()
	if plain, err := hex.DecodeString(string(text)); err == nil {
		text = plain
	}
	var o members.Object
	line, _, err := rawjson.Line(text)
	if err != nil || !o.Split(line, "meta.", []string{"agentId", "latestRootBlobId", "name", "mode", "isRunEverything", "createdAt"}) {
		s.out.Account.Add(session.Account{Read: 1, Unreadable: 1})
		d.note(loss.Loss{Code: loss.MetaNotJSON, At: at})
		return
	}
	o.Text(0)
	s.out.Root, s.out.Named = agentstate.ParseID(o.Text(1))
	s.out.Head.Title, s.out.Head.Created = o.Text(2), o.Stamp(5)
	if o.Text(3) != "default" { // what the SDK writes of itself says nothing
		o.Keep(3)
	}
	if o.Flag(4) {
		o.Keep(4)
	}
	s.out.Extra = append(s.out.Extra, o.Extras...)
	s.out.Account.Add(session.Account{Read: 1, Converted: 1, Members: o.Count, MembersConverted: o.Count - int64(len(o.Extras)), MembersRaw: int64(len(o.Extras))})
}

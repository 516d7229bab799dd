package read

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"rehome/formats/internal/agentstate"
	"rehome/formats/internal/sdksession"
	"rehome/formats/internal/sdkstore"
	"rehome/formats/internal/secret"
	"rehome/formats/internal/sqlitefile"
	"rehome/formats/internal/sqlitestore"
	"rehome/formats/internal/storedb"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/formats/store"
)

// agentDB is the database of one agent.
type agentDB struct {
	db    *sqlitefile.DB
	file  string
	blobs *storedb.Blobs
	out   sdksession.Checkpoints
}

// checkpoints opens an agent's database and reads it once.
func (d *decoder) checkpoints(ctx context.Context, agent string) (_ *sdksession.Checkpoints, err error) {
	p, ok := d.stores[agent]
	if !ok {
		return nil, nil
	}
	db, err := d.openDB(p)
	if err != nil {
		return nil, err
	}
	s := &agentDB{db: db, file: p.Path}
	if err := s.read(ctx, d, p); err != nil {
		return nil, errors.Join(err, s.close())
	}
	s.out.Blobs, s.out.All, s.out.At, s.out.Close = s.blobs, s.blobs.All(ctx), s.blobs.At, s.close
	return &s.out, nil
}

func (s *agentDB) close() (err error) {
	if s.blobs != nil {
		err = s.blobs.Close()
	}
	return errors.Join(err, s.db.Close())
}

func (s *agentDB) read(ctx context.Context, d *decoder, p sqlitestore.File) (err error) {
	design, taken := sdkstore.DesignOf(s.db), map[string]bool{}
	table, _ := design.Table(storedb.BlobsTable)
	if key, data := store.FindColumn(table.Columns, "id"), store.FindColumn(table.Columns, "data"); key >= 0 && data >= 0 {
		taken[table.Name] = true
		for i, c := range table.Columns {
			if i != key && i != data {
				d.Note(loss.Loss{Code: loss.ColumnForeign, At: store.Addr{File: s.file, Set: table.Name}, Args: []string{strconv.QuoteToASCII(c)}})
			}
		}
	}
	misnamed := func(at store.Addr) { d.Note(loss.Loss{Code: loss.BlobMisnamed, At: at}) }
	if s.blobs, err = storedb.OpenBlobs(ctx, s.db, table, storedb.Options{File: s.file, Digits: 16, Misnamed: misnamed}); err != nil {
		return err
	}
	s.out.Count = s.blobs.Len()
	named, deleted := 2*s.out.Count, s.blobs.Deleted
	s.out.Account.Add(session.Account{Members: named + deleted, MembersConverted: named + deleted})
	s.out.Account.Add(session.Account{Read: deleted + s.blobs.Misnamed, Converted: deleted, CarriedRaw: s.blobs.Misnamed})
	if t, ok := design.Table(sdkstore.MetaTable); ok {
		taken[t.Name] = true
		if err := store.EachRow(s.db.Scan(ctx, 0, t), func(b *store.Batch, i int) error {
			s.meta(d, b, i, t)
			return nil
		}); err != nil {
			return err
		}
	}
	sum, err := d.strangers(s.db, p, taken)
	s.out.Account.Add(sum)
	return err
}

// meta takes in a row of the meta table.
func (s *agentDB) meta(d *decoder, b *store.Batch, i int, t sqlitefile.Table) {
	at := store.Addr{File: s.file, Set: t.Name, RowID: b.RowID(i), HasID: t.RowIDs}
	var key, value store.Cell
	if b.Width() == 2 {
		key, value = b.Cell(i, 0), b.Cell(i, 1)
	}
	if string(key.Bytes()) != storedb.MetaKey {
		s.out.Account.Add(session.Account{Read: 1, CarriedRaw: 1})
		text, _, torn := secret.StripHex(value.Bytes())
		if raw := bare(store.TextCell(text)); raw != nil && !torn && len(raw) < 64<<10 && key.Class == store.Text {
			s.out.Extra = append(s.out.Extra, session.Extra{Name: "meta." + strings.ToValidUTF8(string(key.Bytes()), "\ufffd"), Raw: raw})
			return
		}
		d.Note(loss.Loss{Code: loss.MetaRowUnknown, At: at})
		return
	}
	row := storedb.ParseMeta(storedb.MetaText(value.Bytes()))
	if row == nil {
		s.out.Account.Add(session.Account{Read: 1, Unreadable: 1})
		d.Note(loss.Loss{Code: loss.MetaNotJSON, At: at})
		return
	}
	row.Text(storedb.MetaAgent)
	s.out.Root, s.out.Named = agentstate.ParseID(row.Text(storedb.MetaRoot))
	s.out.Head.Title, s.out.Head.Created = row.Text(storedb.MetaName), row.Created()
	if row.Text(storedb.MetaMode) != storedb.DefaultMode {
		row.Keep(storedb.MetaMode)
	}
	if row.Flag(storedb.MetaRun) {
		row.Keep(storedb.MetaRun)
	}
	row.Keep(storedb.MetaModel)
	row.Keep(storedb.MetaParent)
	s.out.Extra = append(s.out.Extra, row.Extras...)
	s.out.Account.Add(session.Account{Read: 1, Converted: 1})
	s.out.Account.Add(row.Account())
}

package read

import (
	"bytes"
	"encoding/base64"
	"errors"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"rehome/formats/internal/members"
	"rehome/formats/internal/sdkdoc"
	"rehome/formats/internal/sdksession"
	"rehome/formats/internal/sdkstore"
	"rehome/formats/internal/secret"
	"rehome/formats/internal/sqlitefile"
	"rehome/formats/internal/sqlitestore"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/formats/store"
	"rehome/internal/rawjson"
)

// catalog makes documents of the rows of an index.db. The events of runs that are of
// none of some agents are left out.
func (d *decoder) catalog(p sqlitestore.File, ids []string) (err error) {
	db, err := d.openDB(p)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	design := sdkstore.DesignOf(db)
	taken := map[string]bool{}
	for k := range sdkdoc.Checkpoint {
		t, ok := design.Table(k.Table())
		if !ok {
			continue
		}
		taken[t.Name] = true
		r := rowDocs{decoder: d, kind: k, Columns: sdkstore.Pair(k, t), table: t, addr: store.Addr{File: p.Path, Set: t.Name, HasID: t.RowIDs}}
		if k == sdkdoc.Event {
			r.unwanted = d.Index.Unwanted(ids)
		}
		d.parts = append(d.parts, part{d.rows.Size, r.addr})
		if err := store.EachRow(db.Scan(d.ctx, 0, t), r.record); err != nil {
			return err
		}
	}
	t, err := d.strangers(db, p, taken)
	d.Account.Add(t)
	return err
}

// strangers counts the rows of tables that the SDK does not make.
func (d *decoder) strangers(db *sqlitefile.DB, p sqlitestore.File, taken map[string]bool) (sum session.Account, err error) {
	for _, t := range db.Tables() {
		if taken[t.Name] {
			continue
		}
		n := int64(0)
		if err := store.EachRow(db.Scan(d.ctx, 0, t), func(*store.Batch, int) error { n++; return nil }); err != nil {
			return sum, err
		}
		sum.Read += n
		if strings.HasPrefix(t.Name, "sqlite_") { // SQLite's own books say nothing
			sum.Converted += n
			continue
		}
		sum.CarriedRaw += n
		if n > 0 {
			d.Note(loss.Loss{Code: loss.TableForeign, At: store.Addr{File: p.Path, Set: t.Name}})
		}
	}
	return sum, nil
}

// rowDocs makes documents of the rows of one table.
type rowDocs struct {
	*decoder
	kind sdkdoc.Kind
	sdkstore.Columns
	table sqlitefile.Table
	addr  store.Addr
	row   []store.Cell
	line  []byte

	unwanted func(run []byte) bool // of events; nil: none are
}

func (r *rowDocs) record(b *store.Batch, i int) error {
	r.row = r.Columns.Row(r.row[:0], b, i)
	if r.unwanted != nil && r.unwanted(r.row[sdkdoc.EventRun].Bytes()) {
		return nil
	}
	at := r.addr
	at.RowID = b.RowID(i)
	if !r.kind.Named(r.row) {
		r.unreadable(at, loss.KeyMissing)
		return nil
	}
	if r.kind == sdkdoc.Agent && r.around.Workspaces != nil {
		r.around.Workspaces[string(r.row[sdkdoc.AgentID].Bytes())] = string(r.row[sdkdoc.AgentWorkspace].Bytes())
	}
	line, lost := r.kind.Append(r.line[:0], r.row)
	r.line = line
	if !r.mend(b, i, lost, at) {
		return nil
	}
	if len(r.line) > math.MaxUint32 {
		r.unreadable(at, loss.RowTooLarge, "4 GB")
		return nil
	}
	doc, _, err := rawjson.Line(r.line)
	if err != nil {
		r.unreadable(at, loss.RowInvalid)
		return nil
	}
	from, err := r.rows.Add(doc)
	if err != nil {
		return err
	}
	place := sdksession.Place{Offset: from, Row: b.RowID(i), Len: uint32(len(doc))}
	if r.kind == sdkdoc.Event {
		r.Index.AddEvent(strings.ToValidUTF8(string(r.row[sdkdoc.EventRun].Bytes()), "\ufffd"), r.row[sdkdoc.EventSeq].Int(), place)
	} else if !r.Index.Add(r.kind, doc, place) {
		r.unreadable(at, loss.RowInvalid)
	}
	return nil
}

func (r *rowDocs) unreadable(at store.Addr, code loss.Code, args ...string) {
	r.Account.Read++
	r.Account.Unreadable++
	r.Note(loss.Loss{Code: code, At: at, Args: args})
}

// mend adds to the line what it does not say of the row, as members that no
// document has: columns of strangers, and cells of a class or spelling that
// the SDK does not write. false: the row cannot be read.
func (r *rowDocs) mend(b *store.Batch, i int, lost sdkdoc.Lost, at store.Addr) bool {
	for col, of := range r.OfRow {
		c := b.Cell(i, col)
		switch {
		case of < 0 && c.Class == store.Null, of >= 0 && (!lost.Has(of) || r.kind.Mild(of) && c.Class == store.Text && !r.kind.HoldsJSON(of)):
			continue
		case of >= 0 && r.kind.HoldsJSON(of) && c.Class == store.Text:
			if rawjson.Valid(bytes.Trim(c.Bytes(), " \t\r\n")) && (r.kind != sdkdoc.Agent || of != sdkdoc.AgentMetadata || bytes.HasPrefix(bytes.TrimLeft(c.Bytes(), " \t\r\n"), []byte("{"))) {
				r.mendRef(of, c.Bytes())
				continue // spelled in another way
			}
			if r.kind == sdkdoc.Event {
				r.unreadable(at, loss.EventPayload)
				return false
			}
			r.Note(loss.Loss{Code: loss.ColumnNotJSON, At: at, Args: []string{r.table.Columns[col]}})
		default:
			if value := bare(c); value != nil {
				r.line = append(r.line[:len(r.line)-1], ',')
				r.line = append(session.AppendString(r.line, "column."+r.table.Columns[col]), ':')
				r.line = append(append(r.line, value...), '}')
			}
		}
	}
	return true
}

// mendRef adds to the line what a reference to a checkpoint states besides the blob.
func (r *rowDocs) mendRef(of int, cell []byte) {
	name := r.kind.RefMember(of)
	var o members.Object
	if name == "" || !o.Split(bytes.TrimSpace(cell), name+".", []string{"blobId", "storeKind"}) {
		return
	}
	if kind := o.Text(1); kind != "local-agent-store" {
		o.Keep(1)
	}
	for _, e := range o.Extras {
		r.line = append(r.line[:len(r.line)-1], ',')
		r.line = append(session.AppendString(r.line, e.Name), ':')
		r.line = append(append(r.line, e.Raw...), '}')
	}
}

// bare is a cell as JSON, without secrets.
func bare(c store.Cell) []byte {
	switch c.Class {
	case store.Int:
		return strconv.AppendInt(nil, c.Int(), 10)
	case store.Real:
		if f := c.Real(); !math.IsInf(f, 0) {
			return strconv.AppendFloat(nil, f, 'g', -1, 64)
		}
		return session.AppendString(nil, strconv.FormatFloat(c.Real(), 'g', -1, 64))
	case store.Text, store.Blob:
		text := c.Bytes()
		if secret.Suspect(text) {
			var torn bool
			if text, _, torn = secret.Strip(text); torn || secret.Suspect(text) {
				return nil
			}
		}
		if c.Class == store.Text && utf8.Valid(text) {
			return session.AppendString(nil, string(text))
		}
		out := append([]byte(`{"base64":"`), base64.StdEncoding.EncodeToString(text)...)
		return append(out, `"}`...)
	}
	return nil
}

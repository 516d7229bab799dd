package cursorchat

import (
	"cmp"
	"context"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"rehome/formats/internal/secret"
	"rehome/formats/internal/sqlitefile"
	"rehome/formats/internal/storedb"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/formats/store"
	"rehome/internal/rawjson"
)

// meta is what the meta row states that has no place in a session as it is.
type meta struct {
	root string
	mode string
}

// meta reads the table meta: one row, a JSON object in hexadecimal.
func (d *decoder) meta(ctx context.Context, s *session.Session) (*meta, error) {
	m := &meta{}
	for _, t := range d.db.Tables() {
		if !strings.EqualFold(t.Name, storedb.MetaTable) {
			continue
		}
		key, value := store.FindColumn(t.Columns, "key"), store.FindColumn(t.Columns, "value")
		for b, err := range d.db.Scan(ctx, 0, t) {
			if err != nil {
				return nil, err
			}
			for i := range b.Rows() {
				r := b.Record(i)
				if key >= 0 && value >= 0 && string(r.Cell(key).Bytes()) == storedb.MetaKey {
					d.metaRow(m, s, t, r, value)
				} else {
					d.strangeRow(s, t, r)
				}
			}
			b.Release()
		}
		if err := d.oddColumns(ctx, s, t, key, value); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func (d *decoder) metaRow(m *meta, s *session.Session, t sqlitefile.Table, r store.Record, value int) {
	at := store.Addr{File: d.file, Set: t.Name, RowID: r.RowID(), HasID: t.RowIDs}
	row := storedb.ParseMeta(d.json(storedb.MetaText(r.Cell(value).Bytes()), at))
	if row == nil {
		d.tally.Add(session.Account{Read: 1, Unreadable: 1})
		return
	}
	m.root, m.mode = row.Text(storedb.MetaRoot), row.Text(storedb.MetaMode)
	s.ID, s.Title = cmp.Or(s.ID, row.Text(storedb.MetaAgent)), row.Text(storedb.MetaName)
	s.Model = cmp.Or(row.Text(storedb.MetaModel), rawjson.TextAt(row.Raw(storedb.MetaCopy), "model"))
	s.Created, s.Parent = row.Created(), row.Parent()
	if m.mode != storedb.DefaultMode { // otherwise the state has it
		s.Mode = m.mode
	}
	if row.Flag(storedb.MetaRun) || row.Raw(storedb.MetaCopy) == nil {
		row.Keep(storedb.MetaRun)
	}
	s.Extras = append(s.Extras, row.Extras...)
	d.tally.Add(session.Account{Read: 1, Converted: 1})
	d.tally.Add(row.Account())
}

// json returns text as JSON without secrets; nil if it is not an object, which is
// reported.
func (d *decoder) json(text []byte, at store.Addr) []byte {
	doc, cut, torn := secret.Strip(text)
	if torn {
		d.note(loss.DamagedWithSecret, at)
		return nil
	}
	d.taken(int64(len(cut)))
	line, repaired, err := rawjson.Line(doc)
	if err != nil || len(line) == 0 || line[0] != '{' {
		d.note(loss.RecordNotObject, at)
		return nil
	}
	if repaired {
		d.note(loss.TextRepaired, at)
	}
	return line
}

func (d *decoder) taken(n int64) {
	d.tally.Members += n
	d.tally.MembersConverted += n
}

// extra keeps a member that has no place in a session.
func (d *decoder) extra(s *session.Session, name string, v []byte) {
	d.tally.Members++
	d.tally.MembersRaw++
	s.Extras = append(s.Extras, session.Extra{Name: name, Raw: append([]byte(nil), v...)})
}

// strange keeps the rows of a table that chats are not known to have.
func (d *decoder) strange(ctx context.Context, s *session.Session, t sqlitefile.Table) error {
	for b, err := range d.db.Scan(ctx, 0, t) {
		if err != nil {
			return err
		}
		for i := range b.Rows() {
			d.strangeRow(s, t, b.Record(i))
		}
		b.Release()
	}
	return nil
}

const maxStrange = 1 << 20 // bytes of unknown rows and columns

func (d *decoder) strangeRow(s *session.Session, t sqlitefile.Table, r store.Record) {
	at := store.Addr{File: d.file, Set: t.Name, RowID: r.RowID(), HasID: r.RowID() != 0}
	raw, secretive := []byte{'{'}, false
	for i, c := range t.Columns {
		if i > 0 {
			raw = append(raw, ',')
		}
		raw = append(session.AppendString(raw, c), ':')
		var hid bool
		raw, hid = appendCell(raw, r.Cell(i))
		secretive = secretive || hid
	}
	raw = append(raw, '}')
	d.tally.Read++
	if d.strangeBytes += len(raw); d.strangeBytes > maxStrange || secretive {
		d.tally.Unreadable++
		code := loss.UnknownRowExcess
		if secretive {
			code = loss.RowWithSecret
		}
		d.note(code, at)
		return
	}
	d.tally.CarriedRaw++
	s.Extras = append(s.Extras, session.Extra{Name: "row." + at.String(), Raw: raw})
}

// appendCell appends a cell of such a row, and reports whether it is a secret.
func appendCell(dst []byte, c store.Cell) (out []byte, secretive bool) {
	switch c.Class {
	case store.Int:
		return strconv.AppendInt(dst, c.Int(), 10), false
	case store.Real:
		return strconv.AppendQuote(dst, strconv.FormatFloat(c.Real(), 'g', -1, 64)), false
	case store.Text, store.Blob:
		_, cut, torn := secret.Strip(c.Bytes())
		_, hexCut, hexTorn := secret.StripHex(c.Bytes())
		if cut != nil || torn || hexCut || hexTorn {
			return dst, true
		}
		if c.Class == store.Text {
			return session.AppendString(dst, strings.ToValidUTF8(string(c.Bytes()), "\uFFFD")), false
		}
		return append(hex.AppendEncode(append(dst, `{"hex":"`...), c.Bytes()), `"}`...), false
	}
	return append(dst, "null"...), false
}

// oddColumns keeps the values of columns that chats are not known to have.
func (d *decoder) oddColumns(ctx context.Context, s *session.Session, t sqlitefile.Table, known ...int) error {
	var odd []string
	for i, c := range t.Columns {
		if !slices.Contains(known, i) {
			odd = append(odd, c)
		}
	}
	if len(odd) == 0 {
		return nil
	}
	for b, err := range d.db.Scan(ctx, 0, sqlitefile.Table{Name: t.Name, Columns: odd, RowIDs: t.RowIDs}) {
		if err != nil {
			return err
		}
		for i := range b.Rows() {
			d.oddCells(s, t.Name, odd, b.Record(i))
		}
		b.Release()
	}
	return nil
}

func (d *decoder) oddCells(s *session.Session, table string, columns []string, r store.Record) {
	at := store.Addr{File: d.file, Set: table, RowID: r.RowID(), HasID: r.RowID() != 0}
	for i, c := range columns {
		if r.Cell(i).Class == store.Null {
			continue
		}
		raw, secretive := appendCell(nil, r.Cell(i))
		if d.strangeBytes += len(raw); d.strangeBytes > maxStrange || secretive {
			d.taken(1)
			code := loss.UnknownValueExcess
			if secretive {
				code = loss.ValueWithSecret
			}
			d.note(code, at)
			continue
		}
		d.extra(s, "column."+at.String()+"."+c, raw)
	}
}

package cursorchat

import (
	"context"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"rehome/formats/internal/rawjson"
	"rehome/formats/internal/secret"
	"rehome/formats/internal/sqlitefile"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/formats/store"
)

// meta is what the meta row says that the session has no place for as it is.
type meta struct {
	root string
	mode string
}

// meta reads the table of that name: one row, hex of a JSON object.
func (d *decoder) meta(ctx context.Context, s *session.Session) (*meta, error) {
	m := &meta{}
	for _, t := range d.db.Tables() {
		if t.Name != "meta" {
			continue
		}
		key, value := column(t, "key"), column(t, "value")
		for b, err := range d.db.Scan(ctx, 0, t) {
			if err != nil {
				return nil, err
			}
			for i := range b.Rows() {
				d.tally.Read++
				r := b.Record(i)
				if key >= 0 && value >= 0 && string(r.Cell(key).Bytes()) == "0" {
					d.metaRow(m, s, r, value)
				} else {
					d.strangeRow(s, t, r)
				}
			}
			b.Release()
		}
		if err := d.oddColumns(ctx, s, t, "key", "value"); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func (d *decoder) metaRow(m *meta, s *session.Session, r store.Record, value int) {
	at := store.Addr{File: d.file, Set: "meta", RowID: r.RowID(), HasID: true}
	text := append([]byte(nil), r.Cell(value).Bytes()...)
	if plain := make([]byte, hex.DecodedLen(len(text))); len(text) > 0 {
		if _, err := hex.Decode(plain, text); err == nil {
			text = plain
		}
	}
	doc := d.json(text, at)
	if doc == nil {
		d.tally.Unreadable++
		return
	}
	d.tally.Converted++
	for n, v := range rawjson.Members(doc) {
		d.metaMember(m, s, string(n), v)
	}
}

// json makes text fit to be walked, without the secrets in it; nil if it is no
// JSON object, which is noted.
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

// usualMode is what a client writes of itself whatever the agent does.
const usualMode = "default"

func (d *decoder) metaMember(m *meta, s *session.Session, name string, v []byte) {
	text := rawjson.Text(v)
	switch name {
	case "agentId":
		if s.ID == "" {
			s.ID = text
		}
	case "latestRootBlobId":
		m.root = text
	case "name":
		s.Title = text
	case "createdAt":
		if s.Created = headStamp(v); !s.Created.Known() {
			d.extra(s, "meta.createdAt", v)
			return
		}
	case "mode":
		if m.mode = text; text != usualMode { // else the state knows more
			s.Mode = text
		}
	case "lastUsedModel":
		s.Model = text
	case "subagentInfo":
		if s.Parent = headParent(v); s.Parent == nil {
			d.extra(s, "meta.subagentInfo", v)
			return
		}
		for n, inner := range rawjson.Members(v) {
			switch string(n) {
			case "parentAgentId", "toolCallId", "typeName":
			default:
				d.extra(s, "meta.subagentInfo."+string(n), inner)
			}
		}
	default:
		if !secret.Credential(name, v) {
			d.extra(s, "meta."+name, v)
			return
		}
	}
	d.taken(1)
}

// strange takes the rows of a table along that no chat is known to have.
func (d *decoder) strange(ctx context.Context, s *session.Session, t sqlitefile.Table) error {
	for b, err := range d.db.Scan(ctx, 0, t) {
		if err != nil {
			return err
		}
		for i := range b.Rows() {
			d.tally.Read++
			d.strangeRow(s, t, b.Record(i))
		}
		b.Release()
	}
	return nil
}

const mostStrange = 1 << 20 // bytes of rows that nobody knows

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
	if d.strangeBytes += len(raw); d.strangeBytes > mostStrange || secretive {
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

// appendCell spells a cell of a row that nobody knows, and tells a secret.
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

// oddColumns takes along what stands in columns that no chat is known to have.
func (d *decoder) oddColumns(ctx context.Context, s *session.Session, t sqlitefile.Table, known ...string) error {
	var odd []string
	for _, c := range t.Columns {
		if !slices.Contains(known, c) {
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
		if d.strangeBytes += len(raw); d.strangeBytes > mostStrange || secretive {
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

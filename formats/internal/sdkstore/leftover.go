package sdkstore

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"rehome/formats"
	"rehome/formats/internal/sdkdoc"
	"rehome/formats/loss"
	"rehome/formats/store"
)

// What a reader of databases holds that no line says, it tells as leftover:
//
//	sqlite_schema of a database: its design, or nothing where it is the SDK's
//	own and only its place or its being there is out of the ordinary; the key
//	is the agent it belongs to
//	a cell of a row, by the line that was made of the row (Line, Column),
//	guarded by a digest of that line; a Withheld cell says that only the row
//	id is told
//	a row that no line was made of: all of its cells
//	a file that is no database and no transcript: its bytes
const SchemaSet = "sqlite_schema"

// smallFile is the most of a stray file that a sidecar keeps.
const smallFile = 1 << 20

// leftDesign tells of a database that a writer would not make like this.
// ordinary says that its place is where a writer would put it anyway.
func (s *docScan) leftDesign(file string, ordinary bool, is, usual *Design, agent store.Cell) {
	if s.view.OnLeftover == nil || ordinary && is.equal(usual) {
		return
	}
	it := store.SidecarItem{At: store.Addr{File: file, Set: SchemaSet, Key: agent}, Row: []store.Cell{store.NullCell()}}
	if !is.equal(usual) {
		b, err := json.Marshal(is)
		if err != nil || !is.utf8() {
			s.note(loss.Loss{Code: loss.SchemaNotUTF8, At: it.At})
			return
		}
		it.Row[0] = store.TextCell(b)
	}
	s.view.OnLeftover(it)
}

// utf8 reports whether JSON can hold all names and statements.
func (d *Design) utf8() bool {
	for _, o := range d.Objects {
		if !utf8.ValidString(o.Name + o.Table + o.SQL) {
			return false
		}
	}
	return true
}

// strangers tells the rows of tables that no documents are made of.
func (s *docScan) strangers(db Database, file string, is, usual *Design) error {
	for _, t := range is.Tables {
		if _, ours := usual.Table(t.Name); ours {
			continue
		}
		if err := s.leftTable(db, file, t); err != nil {
			return err
		}
	}
	return nil
}

func (s *docScan) leftTable(db Database, file string, t store.TableSchema) error {
	if s.view.OnLeftover == nil {
		return nil
	}
	return store.EachRow(db.Scan(s.ctx, 0, t), func(b *store.Batch, i int) error {
		s.leftWhole(file, t, b, i)
		return nil
	})
}

// leftRow tells of a row that no line can be made of.
func (m *maker) leftRow(b *store.Batch, i int) {
	at := store.Addr{File: m.file, Set: m.table.Name, RowID: b.RowID(i), HasID: m.table.RowIDs}
	m.note(loss.Loss{Code: loss.RowNoKey, At: at})
	if m.view.OnLeftover != nil {
		m.leftWhole(m.file, m.table, b, i)
	}
}

func (s *docScan) leftWhole(file string, t store.TableSchema, b *store.Batch, i int) {
	it := store.SidecarItem{At: store.Addr{File: file, Set: t.Name, RowID: b.RowID(i), HasID: t.RowIDs}}
	for col := range b.Width() {
		it.Row = append(it.Row, b.Cell(i, col))
	}
	it.Row = owned(it.Row...)
	s.strip(&it, t)
	s.view.OnLeftover(it)
}

// strip leaves the secrets of a row out, wherever one might be.
func (s *docScan) strip(it *store.SidecarItem, t store.TableSchema) {
	if s.view.Secrets != formats.WithholdSecrets {
		return
	}
	for col, c := range it.Row {
		if c.Class != store.Text && c.Class != store.Blob {
			continue
		}
		bare, cut, torn := sdkdoc.Bare(c.Bytes(), strings.EqualFold(t.Name, MetaTable))
		switch {
		case torn:
			it.Row[col] = store.WithheldCell()
		case cut:
			it.Row[col] = c.WithBytes(bare)
		default:
			continue
		}
		s.note(loss.Loss{Code: loss.SecretWithheld, At: it.At, Args: []string{t.Name, "blobEncryptionKey"}})
		at := it.At
		at.Set = MetaTable
		s.leftover(sdkdoc.Omission(at, col))
	}
}

// leftFile keeps a small file that lies about in the state root.
func (s *docScan) leftFile(p string) error {
	at := store.Addr{File: p}
	f, err := s.File(p)
	if err != nil {
		return s.fail(p, err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, smallFile+1))
	if err != nil {
		return s.fail(p, err)
	}
	if len(b) > smallFile {
		s.note(loss.Loss{Code: loss.FileForeignLarge, At: at, Args: []string{fmt.Sprintf("%d MB", smallFile>>20)}})
		return nil
	}
	s.note(loss.Loss{Code: loss.FileForeign, At: at})
	if s.view.OnLeftover != nil {
		s.view.OnLeftover(store.SidecarItem{At: at, Row: []store.Cell{store.BlobCell(b)}})
	}
	return nil
}

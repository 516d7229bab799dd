package sdkstore

import (
	"bytes"

	"rehome/formats"
	"rehome/formats/internal/digest"
	"rehome/formats/internal/sdkdoc"
	"rehome/formats/loss"
	"rehome/formats/store"
)

// sink takes the lines that a maker makes.
type sink interface {
	due() error    // moves on to the next line
	number() int   // its number
	begin() []byte // opens it, to be appended to
	end([]byte) error
	tail([]byte) error       // takes it instead as one without a line end
	leave(store.SidecarItem) // takes a leftover of the row that it was made of
}

// maker makes lines of the rows of one table.
type maker struct {
	*docScan
	file  string // slash path of the database
	table store.TableSchema
	Columns
	odd  bool   // the table need not keep the SDK's rules
	id   string // of the agent whose database it is
	sink sink

	row  []store.Cell
	made int   // lines so far
	last int64 // row id of the last row that became a line
	work []byte
}

// record makes the line of one row.
func (m *maker) record(b *store.Batch, i int) error {
	m.row = m.Columns.Row(m.row[:0], b, i)
	if m.kind == sdkdoc.Checkpoint {
		m.row[sdkdoc.BlobAgent] = store.TextCell([]byte(m.id))
	}
	if !m.kind.Named(m.row) {
		m.leftRow(b, i)
		return nil
	}
	m.made++
	raw := m.back.frame(m.kind, m.row)
	admitted := m.admit()
	if err := m.sink.due(); err != nil {
		return err
	}
	bare := m.treat(b.RowID(i))
	if raw != nil {
		return m.restored(b, i, raw)
	}
	arena := m.sink.begin()
	from := len(arena)
	arena, lost := m.kind.Append(arena, m.row)
	if m.view.OnLeftover != nil {
		m.left(b, i, store.TextCell(arena[from:]), lost, admitted, bare)
	}
	m.enter(b.RowID(i), lost)
	return m.sink.end(arena)
}

// admit keeps the books that a writer of databases will keep. Only what is out
// of the ordinary needs them: the SDK's own tables see to the rest.
func (m *maker) admit() bool {
	if m.kind == sdkdoc.Agent {
		m.agents = append(m.agents, agent{string(m.row[sdkdoc.AgentID].Bytes()), sdkdoc.Created(m.row)})
	}
	if m.kind <= sdkdoc.Run || m.odd {
		return m.rows.admit(m.kind, m.row)
	}
	return true
}

// treat gives an agent another workspace and leaves its secrets out, where the
// view says so. bare are the columns that are no longer what the table holds.
func (m *maker) treat(rowid int64) (bare sdkdoc.Lost) {
	at := store.Addr{File: m.file, Set: m.table.Name, RowID: rowid, HasID: m.table.RowIDs}
	if m.kind != sdkdoc.Agent {
		return m.withhold(at)
	}
	if cwd := &m.row[sdkdoc.AgentWorkspace]; m.view.Cwd != "" && string(cwd.Bytes()) != m.view.Cwd {
		*cwd = store.TextCell([]byte(m.view.Cwd))
		m.note(loss.Loss{Code: loss.WorkspaceChanged, At: at})
	}
	return m.withhold(at)
}

// withhold leaves the secrets out of the columns that hold JSON.
func (m *maker) withhold(at store.Addr) (torn sdkdoc.Lost) {
	if m.view.Secrets != formats.WithholdSecrets {
		return 0
	}
	for col, name := range m.kind.Columns() {
		cell := &m.row[col]
		if !m.kind.HoldsJSON(col) || cell.Class != store.Text && cell.Class != store.Blob {
			continue
		}
		text, cuts, broken := m.kind.Strip(cell.Bytes())
		switch {
		case broken:
			*cell = cell.WithBytes([]byte("{}"))
			torn |= 1 << col
		case cuts != nil:
			*cell = cell.WithBytes(text)
		default:
			continue
		}
		m.note(loss.Loss{Code: loss.SecretWithheld, At: at, Args: []string{m.kind.Table(), name}})
		m.leftover(sdkdoc.Omission(store.Addr{File: m.kind.File(), Line: m.sink.number()}, 0))
	}
	return torn
}

// restored adds a line as it was before it became this row.
func (m *maker) restored(b *store.Batch, i int, raw *store.SidecarItem) error {
	class := raw.Row[0].Class
	if len(raw.Row) == 2 {
		m.work = m.kind.Unframe(m.work[:0], raw.Row[0].Bytes(), raw.Row[1].Bytes(), m.row)
	} else {
		m.work = append(m.work[:0], raw.Row[0].Bytes()...)
	}
	if m.view.Cwd != "" && m.kind == sdkdoc.Agent {
		m.work, _ = sdkdoc.SetCwd(nil, m.work, m.view.Cwd)
	}
	line := store.TextCell(m.work)
	if class == store.Blob {
		line = store.BlobCell(m.work)
	}
	if bare, _ := m.bareLine(int(m.kind), m.sink.number(), line); !bare.Equal(line) {
		line = bare
		m.work = append(m.work[:0], bare.Bytes()...)
	}
	if m.view.OnLeftover != nil {
		back, fit := m.parser.Parse(m.kind, m.work)
		var lost sdkdoc.Lost
		for col := range back {
			if !back[col].Equal(m.row[col]) {
				lost |= 1 << col
			}
		}
		if fit != sdkdoc.None {
			m.left(b, i, line, lost, true, 0)
		}
	}
	if class == store.Blob {
		return m.sink.tail(m.work)
	}
	return m.sink.end(append(m.sink.begin(), m.work...))
}

// left tells what the line does not say of its row: each cell that would come
// back another, and a row id that does not follow from the one before.
func (m *maker) left(b *store.Batch, i int, line store.Cell, lost sdkdoc.Lost, admitted bool, bare sdkdoc.Lost) {
	at := store.Addr{File: m.file, Set: m.table.Name, RowID: b.RowID(i), HasID: m.table.RowIDs, Line: m.sink.number()}
	told := false
	for col, from := range m.OfRow {
		c := b.Cell(i, col)
		if from < 0 && c.Class == store.Null || from >= 0 && (!lost.Has(from) || bare.Has(from)) {
			continue
		}
		told = true
		if from >= 0 {
			c = m.row[from] // as it is without secrets
		}
		m.sink.leave(store.SidecarItem{At: at, Column: col, Row: owned(c), Digest: digest.Cell(line)})
	}
	if !told && (m.table.RowIDs && at.RowID != m.last+1 || !admitted) {
		m.sink.leave(store.SidecarItem{At: at, Row: owned(store.WithheldCell()), Digest: digest.Cell(line)})
	}
	m.last = at.RowID
}

// enter enters what the documents do not say into the books. What they only
// say in another way is the milder kind.
func (m *maker) enter(rowid int64, lost sdkdoc.Lost) {
	if lost == 0 {
		return
	}
	at := store.Addr{File: m.file, Set: m.table.Name, RowID: rowid, HasID: m.table.RowIDs}
	for col, name := range m.kind.Columns() {
		if !lost.Has(col) || m.of[col] < 0 {
			continue
		}
		code := loss.CellExceedsLine
		if m.kind.Mild(col) {
			code = loss.CellSpelling
		}
		m.note(loss.Loss{Code: code, At: at, Args: []string{m.kind.Table(), name}})
	}
}

func owned(cells ...store.Cell) []store.Cell {
	for i, c := range cells {
		switch c.Class {
		case store.Text:
			cells[i] = store.TextCell(bytes.Clone(c.Bytes()))
		case store.Blob:
			cells[i] = store.BlobCell(bytes.Clone(c.Bytes()))
		}
	}
	return cells
}

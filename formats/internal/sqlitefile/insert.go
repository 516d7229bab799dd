package sqlitefile

import (
	"context"
	"database/sql/driver"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"unsafe"

	"rehome/formats"
	"rehome/formats/internal/sqliteddl"
	"rehome/formats/internal/sqlitepages"
	"rehome/formats/store"
)

const (
	manyRows  = 16      // of one INSERT, where rows are small:
	smallRow  = 1 << 10 // below this many bytes
	mostArgs  = 32766   // parameters of a statement
	mostTerms = 2000    // columns of a table, and values of a row
	mostBooks = 64 << 20
)

// target is a table being filled.
type target struct {
	*shape
	computes bool             // has expressions that are run for each row
	utf16    binary.ByteOrder // nil for UTF-8
	rows     int64            // so far
}

// inserter holds the statements for the table being filled, and the space for
// their arguments.
type inserter struct {
	into      *target
	one, many driver.Stmt
	manyOf    int
	number    driver.Stmt // gives a row its row id, where one is all that does not fit
	args      []driver.NamedValue
	wide      []byte
}

// Put inserts the rows of a batch and releases it.
func (w *Writer) Put(ctx context.Context, b *store.Batch) error {
	t := w.tables[b.Set]
	var err error
	switch {
	case w.conn == nil || w.done:
		err = errors.New("the database is already finished")
	case t == nil:
		err = fmt.Errorf("no table for set %d", b.Set)
	case b.Width() != len(t.Columns):
		err = fmt.Errorf("table %s: rows of %d cells for %d columns", t.Name, b.Width(), len(t.Columns))
	case t.Name == "sqlite_sequence":
		// Every insert into an AUTOINCREMENT table moves these on; they are
		// set to what they were at the end.
		if w.heldBy += b.Size() + 64*b.Rows(); w.heldBy <= mostBooks {
			w.held = append(w.held, b)
			return nil
		}
		err = fmt.Errorf("table sqlite_sequence is larger than %s", size(mostBooks))
	}
	defer b.Release()
	if err != nil {
		return &formats.Error{At: w.path, Err: err}
	}
	return w.fill(ctx, t, b)
}

func (w *Writer) fill(ctx context.Context, t *target, b *store.Batch) error {
	longest := 0
	for i := range b.Rows() {
		longest = max(longest, len(b.Span(i)))
	}
	if err := w.allow(longest); err != nil {
		return err
	}
	// The driver starts a goroutine for each statement that can be stopped.
	// One that only puts a row takes no time worth stopping it.
	within := context.Background()
	if t.computes {
		within = ctx
	}
	at, bad := 0, error(nil) // Raw must not take an error of ours for the driver's
	err := w.conn.Raw(func(c any) error {
		if w.insert.into != t {
			bad = w.insert.turn(c.(driver.Conn), t)
		}
		for bad == nil && at < b.Rows() {
			if bad = ctx.Err(); bad != nil {
				break
			}
			n := 1
			if w.insert.many != nil && at+w.insert.manyOf <= b.Rows() && small(b, at, w.insert.manyOf) {
				n = w.insert.manyOf
			}
			if bad = w.insert.put(within, b, at, n); bad == nil {
				at += n
				t.rows += int64(n)
			}
		}
		return nil
	})
	if err == nil && bad != nil {
		err = w.blame(t, b, at, bad)
	}
	if err != nil {
		return explain(ctx, w.path, t.Name, err)
	}
	return nil
}

// Cut removes the rows of a set whose row ids are above last.
func (w *Writer) Cut(ctx context.Context, set int, last int64) error {
	t := w.tables[set]
	r, err := w.conn.ExecContext(ctx, "DELETE FROM main."+quote(t.Name)+" WHERE "+t.rowid+">?1", last)
	if err != nil {
		return explain(ctx, w.path, t.Name, err)
	}
	n, err := r.RowsAffected()
	t.rows -= n
	return err
}

func small(b *store.Batch, from, n int) bool {
	bytes := 0
	for i := range n {
		bytes += len(b.Span(from + i))
	}
	return bytes < n*smallRow
}

// turn prepares the statements for another table.
func (in *inserter) turn(c driver.Conn, t *target) (err error) {
	if err := in.close(); err != nil {
		return err
	}
	in.into = t
	if in.one, err = c.Prepare(t.insertSQL(1)); err != nil {
		return err
	}
	if t.full() {
		in.number, err = c.Prepare("UPDATE OR FAIL main." + quote(t.Name) + " SET " + t.rowid + "=?1 WHERE " + t.rowid + "=last_insert_rowid()")
		return err
	}
	in.manyOf = min(manyRows, mostArgs/max(1, t.width()))
	if t.utf16 == nil && in.manyOf > 1 {
		in.many, err = c.Prepare(t.insertSQL(in.manyOf))
	}
	return err
}

func (in *inserter) close() error {
	var errs []error
	for _, s := range []driver.Stmt{in.one, in.many, in.number} {
		if s != nil {
			errs = append(errs, s.Close())
		}
	}
	in.one, in.many, in.number, in.into = nil, nil, nil, nil
	return errors.Join(errs...)
}

// full reports whether a row has no room left for its row id. It gets one of
// SQLite's choosing, and then its own.
func (t *target) full() bool { return t.RowIDs && len(t.Columns) >= mostTerms }

// width is the number of parameters of one row.
func (t *target) width() int {
	n := len(t.Columns)
	if t.utf16 != nil {
		n *= 2
	}
	if t.RowIDs && !t.full() {
		n++
	}
	return n
}

// insertSQL overrides every ON CONFLICT clause of the schema, which would drop
// or replace rows without a word. FAIL rather than ABORT: it keeps what it has
// done, so that changes() tells which row it was.
func (t *target) insertSQL(rows int) string {
	names := make([]string, 0, len(t.Columns)+1)
	if t.RowIDs && !t.full() {
		names = append(names, t.rowid)
	}
	for _, c := range t.Columns {
		names = append(names, quote(c))
	}
	row := "(?" + strings.Repeat(",?", len(names)-1) + ")"
	if t.utf16 != nil {
		row = t.wideRow()
	}
	return "INSERT OR FAIL INTO main." + quote(t.Name) + "(" + strings.Join(names, ",") + ") VALUES" + row + strings.Repeat(","+row, rows-1)
}

// wideRow is the row of parameters of a UTF-16 database: each value, and
// whether it is text in the shape of a blob. SQLite's own way from UTF-8 does
// not keep lone surrogates.
func (t *target) wideRow() string {
	var row []string
	n := 1
	if t.RowIDs && !t.full() {
		row, n = append(row, "?1"), 2
	}
	for range t.Columns {
		row = append(row, fmt.Sprintf("CASE WHEN ?%d THEN CAST(?%d AS TEXT) ELSE ?%d END", n+1, n, n))
		n += 2
	}
	return "(" + strings.Join(row, ",") + ")"
}

// put inserts n rows of the batch with one statement.
func (in *inserter) put(ctx context.Context, b *store.Batch, from, n int) error {
	t := in.into
	in.args, in.wide = in.args[:0], in.wide[:0]
	for i := from; i < from+n; i++ {
		if t.RowIDs && !t.full() {
			in.bind(b.RowID(i))
		}
		for col := range t.Columns {
			c := b.Cell(i, col)
			v, err := t.value(c, col)
			if err == nil && t.utf16 != nil && c.Class == store.Text {
				at := len(in.wide)
				in.wide, err = sqlitepages.AppendUTF16(in.wide, c.Bytes(), t.utf16)
				v = in.wide[at:len(in.wide):len(in.wide)]
			}
			if err != nil {
				return &rowError{i, fmt.Errorf("column %q: %w", t.Columns[col], err)}
			}
			in.bind(v)
			if t.utf16 != nil {
				in.bind(int64(bit(c.Class == store.Text)))
			}
		}
	}
	s := in.one
	if n > 1 {
		s = in.many
	}
	_, err := s.(driver.StmtExecContext).ExecContext(ctx, in.args)
	if err == nil && in.number != nil {
		in.args = in.args[:0]
		in.bind(b.RowID(from))
		_, err = in.number.(driver.StmtExecContext).ExecContext(ctx, in.args)
	}
	return err
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (in *inserter) bind(v driver.Value) {
	in.args = append(in.args, driver.NamedValue{Ordinal: len(in.args) + 1, Value: v})
}

// value is a cell as the driver takes it. The bytes are borrowed from the
// batch; the driver copies them before it returns.
func (t *target) value(c store.Cell, col int) (driver.Value, error) {
	if what := t.columns[col].affinity.Changed(c); what != "" {
		return nil, sqliteddl.Mismatch(what, t.columns[col].declared)
	}
	if col == t.key && c.Class != store.Int {
		return nil, fmt.Errorf("%s in an INTEGER PRIMARY KEY", c.Class)
	}
	switch c.Class {
	case store.Null:
		return nil, nil
	case store.Int:
		return c.Int(), nil
	case store.Real:
		return c.Real(), nil
	case store.Text:
		return unsafe.String(unsafe.SliceData(c.Bytes()), len(c.Bytes())), nil
	case store.Blob:
		if len(c.Bytes()) == 0 {
			return []byte{}, nil // nil would be NULL
		}
		return c.Bytes(), nil
	}
	return nil, fmt.Errorf("a database cannot store a %s cell", c.Class)
}

package catalog

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"time"

	"rehome/cmd/rehome-fleet/internal/tables"
	"rehome/formats/loss"
)

// A file of rows is a header, and a line for each row: {"session": {...}}, {"loss": {...}} or
// {"finding": {...}}, with the columns that are not NULL. Who loads it knows the machine, the
// unit and the store, and trusts none that a file states.
type header struct {
	Catalog int    `json:"catalog"` // version of the file
	Format  string `json:"format,omitempty"`
}

const rowsVersion = 1

// maxRow is the max length of a line.
const maxRow = 16 << 20

// ErrRows means that rows cannot be loaded, wherever that is tried.
var ErrRows = errors.New("invalid rows")

// Finding is a row of the table findings.
type Finding struct {
	Machine  string `parquet:"machine,optional"`
	UnitID   string `parquet:"unit_id,optional"`
	Store    string `parquet:"store,optional"`
	Rule     string `parquet:"rule,optional"`
	Severity string `parquet:"severity,optional"`
	Title    string `parquet:"title,optional"`
	Count    int64  `parquet:"count"`
}

// shape is what rows of a table look like. Its first columns are machine, unit_id and store.
type shape struct {
	table, kind string
	columns     []tables.Column
}

const placeColumns = 3

func shapes() []shape {
	return []shape{
		{"sessions", "session", tables.Columns[tables.Session]()},
		{"losses", "loss", tables.Columns[tables.Loss]()},
		{"findings", "finding", tables.Columns[Finding]()},
	}
}

// content is what is kept of one store.
type content struct {
	report   *StoreReport
	Sessions []*tables.Session
	Losses   []*tables.Loss
	Findings []Finding
}

// write writes the rows, as PostgreSQL can hold them, and counts them in the report.
func (c *content) write(out io.Writer) error {
	r, of := c.report, shapes()
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	put := func(s shape, values []any, count *int) error {
		row := map[string]any{}
		for i, column := range s.columns {
			if column.Name != "machine" && column.Name != "unit_id" && values[i] != nil {
				row[column.Name] = values[i]
			}
		}
		*count++
		return e.Encode(map[string]any{s.kind: row})
	}
	r.Sessions, r.Losses, r.Findings = 0, 0, 0
	for _, s := range c.Sessions {
		row, n := clean(tables.Values(s))
		if n > 0 {
			s.LossesReported += n
			row, _ = clean(tables.Values(s))
			g := loss.Loss{Code: loss.TextRepaired}.Group()
			c.Losses = append(c.Losses, &tables.Loss{Origin: s.Origin, Code: string(g.Code), Kind: g.Kind.String(), Consequence: string(g.Consequence), What: g.What, Count: n})
		}
		if err := put(of[0], row, &r.Sessions); err != nil {
			return err
		}
	}
	for _, l := range c.Losses {
		row, _ := clean(tables.Values(l))
		if err := put(of[1], row, &r.Losses); err != nil {
			return err
		}
	}
	for _, f := range c.Findings {
		row, _ := clean(tables.Values(&f))
		if err := put(of[2], row, &r.Findings); err != nil {
			return err
		}
	}
	return nil
}

// clean replaces U+0000 in the values of a row, and counts the values that have any.
func clean(row []any) (_ []any, repaired int64) {
	for i, v := range row {
		switch v := v.(type) {
		case string:
			if s, some := noNUL(v); some {
				row[i] = s
				repaired++
			}
		case []string:
			for k, s := range v {
				if s, some := noNUL(s); some {
					v[k] = s
					repaired++
				}
			}
		}
	}
	return row, repaired
}

func noNUL(s string) (string, bool) {
	return strings.ReplaceAll(s, "\x00", "\uFFFD"), strings.Contains(s, "\x00")
}

// rows reads the rows of one kind from a file; of all kinds, if that is nil. It is a
// pgx.CopyFromSource.
type rows struct {
	of    []shape
	kind  *shape
	place [placeColumns]any
	in    *bufio.Scanner
	line  int
	count map[string]int64 // by table
	row   []any
	err   error
}

// readRows starts to read a file, and returns its format.
func readRows(f io.ReadSeeker, kind *shape, place [placeColumns]any) (*rows, string, error) {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, "", err
	}
	r := &rows{of: shapes(), kind: kind, place: place, in: bufio.NewScanner(f), count: map[string]int64{}}
	r.in.Buffer(nil, maxRow)
	r.in.Scan()
	r.line++
	var h header
	d := json.NewDecoder(bytes.NewReader(r.in.Bytes()))
	d.DisallowUnknownFields()
	if err := r.in.Err(); err != nil {
		return nil, "", r.fail(err)
	}
	if err := d.Decode(&h); err != nil || h.Catalog != rowsVersion || hasNUL(h.Format) {
		return nil, "", r.fail(fmt.Errorf("not the header of version %d", rowsVersion))
	}
	return r, h.Format, nil
}

func (r *rows) fail(err error) error {
	if errors.Is(err, bufio.ErrTooLong) {
		err = fmt.Errorf("a row is larger than %d MB", maxRow>>20)
	}
	r.err = fmt.Errorf("%w: line %d: %w", ErrRows, r.line, err)
	return r.err
}

// Next reads the next row.
func (r *rows) Next() bool {
	for r.err == nil && r.in.Scan() {
		r.line++
		var line map[string]json.RawMessage
		if err := json.Unmarshal(r.in.Bytes(), &line); err != nil || len(line) != 1 {
			r.fail(errors.New("not a row"))
			break
		}
		for _, s := range r.of {
			value, found := line[s.kind]
			if !found {
				continue
			}
			delete(line, s.kind)
			if r.kind != nil && r.kind.kind != s.kind {
				continue
			}
			var err error
			if r.row, err = s.decode(value, r.place); err != nil {
				r.fail(err)
				return false
			}
			r.count[s.table]++
			return true
		}
		if len(line) > 0 {
			r.fail(errors.New("unknown kind of row"))
		}
	}
	if err := r.in.Err(); r.err == nil && err != nil {
		r.line++
		r.fail(err)
	}
	return false
}

// Values returns the row.
func (r *rows) Values() ([]any, error) { return r.row, r.err }

// Err returns why there are no more rows.
func (r *rows) Err() error { return r.err }

// decode returns the values of a row. Its machine, unit and store are those of place.
func (s *shape) decode(text []byte, place [placeColumns]any) ([]any, error) {
	var given map[string]json.RawMessage
	if err := json.Unmarshal(text, &given); err != nil {
		return nil, errors.New("not a row")
	}
	row := make([]any, len(s.columns))
	copy(row, place[:])
	delete(given, "store")
	for i, c := range s.columns[placeColumns:] {
		raw, found := given[c.Name]
		if !found && c.Null {
			continue
		}
		v, err := value(raw, c.Type)
		if err != nil {
			return nil, fmt.Errorf("%s.%s: %w", s.kind, c.Name, err)
		}
		row[placeColumns+i] = v
		delete(given, c.Name)
	}
	if len(given) > 0 {
		return nil, fmt.Errorf("%s: unknown column", s.kind)
	}
	return row, nil
}

// value returns a value of a column.
func value(raw json.RawMessage, of reflect.Type) (any, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, errors.New("missing")
	}
	v := reflect.New(of)
	if json.Unmarshal(raw, v.Interface()) != nil {
		return nil, errors.New("another type")
	}
	switch v := v.Elem().Interface().(type) {
	case string:
		if hasNUL(v) {
			return nil, errors.New("U+0000")
		}
	case []string:
		if hasNUL(v...) {
			return nil, errors.New("U+0000")
		}
	case time.Time:
		if v.Year() < 1 || v.Year() > 9999 {
			return nil, errors.New("outside of the years 1 to 9999")
		}
	}
	return v.Elem().Interface(), nil
}

func hasNUL(list ...string) bool { return strings.Contains(strings.Join(list, ""), "\x00") }

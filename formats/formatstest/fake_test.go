package formatstest_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"strings"
	"time"

	"rehome/formats"
	"rehome/formats/store"
)

// fake is a format of one file: a first line with its name, its schema, one
// line a record, and a last line with their number. One fault can be built in.
type fake struct{ name, fault string }

type fakeRow struct {
	Set   int
	ID    int64
	Cells []fakeCell
}

type fakeCell struct {
	Class store.Class
	Bits  uint64 `json:",omitempty"`
	Bytes []byte `json:",omitempty"`
}

func (f fake) format() *formats.Format {
	return &formats.Format{
		Name:  f.name,
		Title: "a format made up for tests",
		Records: &formats.Records{
			Kinds:  []formats.Kind{{Name: "made-up"}},
			Open:   f.open,
			Create: f.create,
		},
		Text:    f.name == "fake-text",
		Schemas: []string{"error-1"},
		Probe:   f.probe,
	}
}

func (f fake) has(fault string) bool { return f.fault == fault }

func (f fake) probe(_ context.Context, l *formats.Location) (formats.Match, error) {
	m := formats.Match{Score: 90, Evidence: []string{"its first line"}}
	if f.has("no evidence") {
		m.Evidence = nil
	}
	if f.has("claims everything") || bytes.HasPrefix(l.Head(), []byte(f.name+"\n")) && !f.has("claims nothing") {
		return m, nil
	}
	return formats.Match{}, nil
}

func (f fake) open(_ context.Context, l *formats.Location, v formats.View) (store.Reader, error) {
	r := &fakeReader{fake: f, view: v}
	if err := r.load(l.Path); err != nil {
		if f.has("errors without a place") {
			return nil, err
		}
		if f.has("panics") {
			panic(err)
		}
		return nil, &formats.Error{Format: f.name, At: l.Name(), Err: err}
	}
	switch f.fault {
	case "side file":
		return r, os.WriteFile(l.Path+"-shm", nil, 0o600)
	case "touches":
		return r, os.Chtimes(l.Path, time.Unix(1, 0), time.Unix(1, 0))
	case "leaves a goroutine":
		go func() { select {} }()
	}
	return r, nil
}

type fakeReader struct {
	fake
	view    formats.View
	schema  store.Schema
	rows    []fakeRow
	summary store.Summary
	scans   int
	closed  bool
}

func (r *fakeReader) load(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return errors.New("not a file")
	}
	in := bufio.NewReader(bytes.NewReader(text))
	if first, _ := in.ReadString('\n'); first != r.name+"\n" {
		return errors.New("another first line")
	}
	d := json.NewDecoder(in)
	if err := d.Decode(&r.schema); err != nil {
		return err
	}
	for {
		var row fakeRow
		err := d.Decode(&row)
		if err != nil && r.has("reads on") {
			return nil
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if row.Set < 0 && r.has("reads on") {
			return nil
		}
		r.rows = append(r.rows, row)
	}
	last := len(r.rows) - 1
	if last < 0 || r.rows[last].Set != -1 || r.rows[last].ID != int64(last) || text[len(text)-1] != '\n' {
		return errors.New("breaks off")
	}
	r.rows = r.rows[:last]
	return nil
}

func (r *fakeReader) Schema() *store.Schema  { return &r.schema }
func (r *fakeReader) Summary() store.Summary { return r.summary }

func (r *fakeReader) Close() error {
	if r.closed && r.has("closes once") {
		return errors.New("closed already")
	}
	r.closed = true
	return nil
}

// Batches yields one record a batch.
func (r *fakeReader) Batches(ctx context.Context) iter.Seq2[*store.Batch, error] {
	return func(yield func(*store.Batch, error) bool) {
		r.summary = make(store.Summary, len(r.schema.Sets))
		r.scans++
		for _, row := range r.seen() {
			if err := ctx.Err(); err != nil && !r.has("ignores canceling") {
				yield(nil, err)
				return
			}
			b := r.batch(row)
			c := &r.summary[row.Set]
			c.Rows++
			c.Bytes += int64(b.Size())
			c.Digest.Add(store.Digest{Lo: uint64(row.ID + 1)})
			if r.has("miscounts") {
				c.Rows++
			}
			if !yield(b, nil) {
				return
			}
		}
	}
}

func (r *fakeReader) batch(row fakeRow) *store.Batch {
	width := len(row.Cells)
	if r.has("wrong width") {
		width++
	}
	b := store.NewBatch(row.Set, width)
	if r.has("wrong row ids") {
		row.ID = -row.ID
	}
	b.Row(row.ID)
	for _, c := range row.Cells {
		b.Add(cellOf(c))
	}
	if r.has("wrong width") {
		b.AddNull()
	}
	return b
}

// seen is what the view lets through.
func (r *fakeReader) seen() (out []fakeRow) {
	rows := r.rows
	for _, item := range r.view.Sidecar {
		row := fakeRow{ID: item.At.RowID}
		for _, c := range item.Row {
			row.Cells = append(row.Cells, fakeOf(c))
		}
		if !r.has("forgets sidecar") {
			rows = append([]fakeRow{row}, rows...) // the secret is the first record
		}
	}
	for i, row := range rows {
		row.Cells = append([]fakeCell(nil), row.Cells...)
		for j, c := range row.Cells {
			hides := r.view.Secrets == formats.WithholdSecrets && !r.has("tells secrets")
			if hides && strings.HasPrefix(string(c.Bytes), "secret:") {
				row.Cells[j] = fakeCell{Class: store.Withheld}
			}
		}
		if r.omit(row) || r.has("loses a record with workers") && r.view.Jobs == 8 && i == 0 || r.has("loses a record later") && r.scans > 1 && i == 0 {
			continue
		}
		out = append(out, row)
	}
	return out
}

func (r *fakeReader) omit(row fakeRow) bool {
	if r.view.Secrets != formats.OmitWithheld || r.has("restores markers") {
		return false
	}
	for _, c := range row.Cells {
		if c.Class == store.Withheld {
			item := store.SidecarItem{At: store.Addr{Set: r.schema.Sets[row.Set].Name, RowID: row.ID, HasID: true}}
			for _, c := range row.Cells {
				item.Row = append(item.Row, cellOf(c))
			}
			if r.view.OnOmit != nil {
				r.view.OnOmit(item)
			}
			return true
		}
	}
	return false
}

func cellOf(c fakeCell) store.Cell {
	switch c.Class {
	case store.Text:
		return store.TextCell(c.Bytes)
	case store.Blob:
		return store.BlobCell(c.Bytes)
	case store.Int:
		return store.IntCell(int64(c.Bits))
	case store.Withheld:
		return store.WithheldCell()
	}
	return store.NullCell()
}

func fakeOf(c store.Cell) fakeCell {
	f := fakeCell{Class: c.Class, Bytes: bytes.Clone(c.Bytes())}
	if c.Class == store.Int {
		f.Bits = c.Bits()
	}
	return f
}

func (f fake) create(_ context.Context, b formats.Build) (store.Writer, error) {
	if b.Compress != "" {
		err := &formats.Error{Format: f.name, At: b.Path, Err: errors.New("cannot compress"), Hint: "leave out --compress"}
		if f.has("refuses rudely") {
			err.Hint = ""
		}
		if f.has("refuses and litters") {
			return nil, errors.Join(err, os.WriteFile(b.Path, nil, 0o600))
		}
		return nil, err
	}
	schema := *b.Schema
	if f.has("changes a pragma") {
		schema.Databases = append([]store.Database(nil), schema.Databases...)
		schema.Databases[0].Pragmas.UserVersion++
	}
	w := &fakeWriter{fake: f, build: b}
	fmt.Fprintln(&w.text, f.name)
	return w, json.NewEncoder(&w.text).Encode(schema)
}

type fakeWriter struct {
	fake
	build formats.Build
	text  bytes.Buffer
	rows  int
}

func (w *fakeWriter) Put(ctx context.Context, b *store.Batch) error {
	defer b.Release()
	if err := ctx.Err(); err != nil && !w.has("writes on") {
		return err
	}
	for i := range b.Rows() {
		row := fakeRow{Set: b.Set, ID: b.RowID(i)}
		for col := range b.Width() {
			row.Cells = append(row.Cells, fakeOf(b.Cell(i, col)))
		}
		if w.has("changes a class") && row.Cells[0].Class == store.Blob {
			row.Cells[0].Class = store.Text
		}
		if w.has("drops a record") && w.rows == 1 {
			row.Cells = nil
			w.fault = ""
			continue
		}
		w.rows++
		if err := json.NewEncoder(&w.text).Encode(row); err != nil {
			return err
		}
	}
	return nil
}

func (w *fakeWriter) Finish(ctx context.Context) error {
	if err := ctx.Err(); err != nil && !w.has("writes on") {
		return err
	}
	if w.has("counts workers") {
		fmt.Fprint(&w.text, strings.Repeat(" ", w.build.Jobs))
	}
	if err := json.NewEncoder(&w.text).Encode(fakeRow{Set: -1, ID: int64(w.rows)}); err != nil {
		return err
	}
	return os.WriteFile(w.build.Path, w.text.Bytes(), 0o644)
}

func (w *fakeWriter) Close() error { return nil }

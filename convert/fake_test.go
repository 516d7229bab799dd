package convert

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"rehome/formats"
	"rehome/formats/loss"
	"rehome/formats/store"
)

// The fakes are a table format of one file ("left", as a database would be)
// and one of a folder ("right", text bound for git), both of the same lines:
//
//	left
//	origin left
//	table things
//	1	first value
//
// A value that begins with "secret:" is a secret, "!withheld" stands where
// one stood, and "!loss" is noted as dropped by the reader.

type faults struct {
	failAfter int                          // rows until the reader breaks; 0 = never
	onRow     func(i int)                  // called before each row that is read
	busy      bool                         // closing the reader reports a change
	write     func(i int, v string) string // what the writer makes of a value; "\x00" loses the row
	schema    func(s *store.Schema)        // what the writer makes of the schema
	lies      func(s store.Summary)        // what the reader makes of its summary
	finish    error
}

func fake(name string, text bool, h *faults) *formats.Format {
	if h == nil {
		h = &faults{}
	}
	data := func(path string) string {
		if text {
			return filepath.Join(path, "rows.txt")
		}
		return path
	}
	return &formats.Format{
		Name:  name,
		Title: name,
		Records: &formats.Records{
			Kinds: []formats.Kind{{Name: formats.Tables, Schema: formats.AnySchema}},
			Open: func(_ context.Context, l *formats.Location, v formats.View) (store.Reader, error) {
				return openFake(data(l.Path), name, v, h)
			},
			Create: func(_ context.Context, b formats.Build) (store.Writer, error) {
				if text {
					if err := os.Mkdir(b.Path, 0o777); err != nil {
						return nil, err
					}
				}
				f, err := os.OpenFile(data(b.Path), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
				if err != nil {
					return nil, err
				}
				s := *b.Schema
				s.Sets = slices.Clone(s.Sets)
				if h.schema != nil {
					h.schema(&s)
				}
				_, err = fmt.Fprintf(f, "%s\norigin %s\ntable %s\n", name, s.Origin, s.Sets[0].Name)
				return &fakeWriter{f: f, h: h}, err
			},
		},
		Text: text,
		Probe: func(_ context.Context, l *formats.Location) (formats.Match, error) {
			if text && l.IsDir() && l.Has("rows.txt") || !text && bytes.HasPrefix(l.Head(), []byte(name+"\n")) {
				return formats.Match{Score: 90, Evidence: []string{"looks like " + name}}, nil
			}
			return formats.Match{}, nil
		},
	}
}

type fakeWriter struct {
	f *os.File
	h *faults
	n int
}

func (w *fakeWriter) Put(_ context.Context, b *store.Batch) error {
	defer b.Release()
	for i := range b.Rows() {
		w.n++
		v := string(b.Cell(i, 0).Bytes())
		if b.Cell(i, 0).Class == store.Withheld {
			v = "!withheld"
		}
		if w.h.write != nil {
			if v = w.h.write(w.n, v); v == "\x00" {
				continue
			}
		}
		if _, err := fmt.Fprintf(w.f, "%d\t%s\n", b.RowID(i), v); err != nil {
			return err
		}
	}
	return nil
}

func (w *fakeWriter) Finish(context.Context) error { return w.h.finish }

func (w *fakeWriter) Close() error { w.f.Close(); return nil }

type fakeRow struct {
	id    int64
	value string
}

type fakeReader struct {
	schema *store.Schema
	rows   []fakeRow
	sum    store.Summary
	v      formats.View
	h      *faults
	path   string
}

func openFake(path, name string, v formats.View, h *faults) (*fakeReader, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	lines := strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
	if len(lines) < 3 || lines[0] != name {
		return nil, &formats.Error{Format: name, At: path, Err: errors.New("not a fake")}
	}
	r := &fakeReader{v: v, h: h, path: path, schema: &store.Schema{
		Origin: strings.TrimPrefix(lines[1], "origin "),
		Sets:   []store.Set{{Name: strings.TrimPrefix(lines[2], "table "), Columns: []string{"value"}, RowIDs: true}},
	}}
	for _, l := range lines[3:] {
		id, value, ok := strings.Cut(l, "\t")
		n, err := strconv.ParseInt(id, 10, 64)
		if !ok || err != nil {
			return nil, &formats.Error{Format: name, At: path, Err: errors.New("torn line")}
		}
		r.rows = append(r.rows, fakeRow{n, value})
	}
	for _, it := range v.Sidecar {
		at := slices.IndexFunc(r.rows, func(row fakeRow) bool { return row.id > it.At.RowID })
		if at < 0 {
			at = len(r.rows)
		}
		r.rows = slices.Insert(r.rows, at, fakeRow{it.At.RowID, "!withheld"})
	}
	return r, nil
}

func (r *fakeReader) Schema() *store.Schema { return r.schema }

func (r *fakeReader) Batches(ctx context.Context) iter.Seq2[*store.Batch, error] {
	return func(yield func(*store.Batch, error) bool) {
		r.sum = store.Summary{{}}
		for i, row := range r.rows {
			if err := ctx.Err(); err != nil {
				yield(nil, err)
				return
			}
			if r.h.onRow != nil {
				r.h.onRow(i)
			}
			if r.h.failAfter > 0 && i == r.h.failAfter {
				yield(nil, &formats.Error{At: r.schema.Sets[0].Name, Err: errors.New("malformed page")})
				return
			}
			b := store.NewBatch(0, 1)
			if !r.add(b, row) {
				b.Release()
				continue
			}
			c := countFake(b)
			r.sum[0].Rows += c.Rows
			r.sum[0].Bytes += c.Bytes
			r.sum[0].Digest.Add(c.Digest)
			if !yield(b, nil) {
				return
			}
		}
		if r.h.lies != nil {
			r.h.lies(r.sum)
		}
	}
}

// add applies the view to a row; false leaves it out.
func (r *fakeReader) add(b *store.Batch, row fakeRow) bool {
	at := store.Addr{Set: r.schema.Sets[0].Name, RowID: row.id, HasID: true}
	withheld := row.value == "!withheld"
	if row.value == "!loss" {
		r.v.OnLoss(loss.Loss{Code: loss.FileNotPart, At: at})
	}
	if withheld && r.v.Secrets == formats.OmitWithheld {
		r.v.OnOmit(store.SidecarItem{At: at, Row: []store.Cell{store.WithheldCell()}})
		return false
	}
	b.Row(row.id)
	switch {
	case withheld, strings.HasPrefix(row.value, "secret:") && r.v.Secrets == formats.WithholdSecrets:
		b.AddWithheld()
	default:
		b.AddText(row.value)
	}
	return true
}

func countFake(b *store.Batch) store.Count {
	c := store.Count{Rows: int64(b.Rows()), Bytes: int64(b.Size())}
	for i := range b.Rows() {
		h := sha256.Sum256(fmt.Appendf(nil, "%d %d %s", b.RowID(i), b.Cell(i, 0).Class, b.Cell(i, 0).Bytes()))
		c.Digest.Add(store.Digest{Hi: binary.BigEndian.Uint64(h[:8]), Lo: binary.BigEndian.Uint64(h[8:])})
	}
	return c
}

func (r *fakeReader) Summary() store.Summary { return r.sum }

func (r *fakeReader) Close() error {
	if r.h.busy {
		return &formats.Error{At: r.path, Err: fmt.Errorf("%w: it changed", formats.ErrBusy), Hint: "stop the client"}
	}
	return nil
}

// fakes is a registry of left and right, with faults in reading left and
// writing right where given.
func fakes(left, right *faults) *formats.Registry {
	return formats.NewRegistry(fake("right", true, right), fake("left", false, left))
}

package sdkstore

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"unicode/utf8"

	"rehome/formats"
	"rehome/formats/internal/sdkdoc"
	"rehome/formats/internal/storedb"
	"rehome/formats/loss"
	"rehome/formats/store"
)

// builder makes the SDK's databases of documents. Lines, or what of a line no
// row can say, it tells as sidecar items: see putBack.
type builder struct {
	formats.Build
	Target
	ctx    context.Context
	plan   *plan
	parser sdkdoc.Parser
	own    []byte // a row's own line
	rows   *admission
	agents []agent
	runs   heldRuns
	index  store.Writer
	async  *storedb.AsyncPut // of index, nil where there is but one worker
	fill   [sdkdoc.Checkpoint]*filler
	stores agentStoreBuilder
	ends   [sdkdoc.Kinds]ends
	set    int // being written, -1 before the first
	file   io.WriteCloser
	done   bool
}

// Target is where rows go to: databases and files, by their slash paths inside
// the store.
type Target struct {
	Create func(ctx context.Context, path string, d *Design) (store.Writer, error)
	File   func(path string) (io.WriteCloser, error)
}

// NewWriter makes the rows of documents.
func NewWriter(ctx context.Context, to Target, b formats.Build) (store.Writer, error) {
	if !sdkdoc.Documents(b.Schema) {
		return nil, &formats.Error{Format: FormatName, Err: errors.New("only Cursor SDK stores can be converted to this format"), Hint: "use --to archive, which accepts any store"}
	}
	b.Leftover = Rooted(b.Leftover)
	if b.Moved {
		b.Leftover = uprooted(b.Leftover)
	}
	p, err := newPlan(b.Leftover)
	if err != nil {
		return nil, err
	}
	w := &builder{Build: b, Target: to, ctx: ctx, plan: p, rows: newAdmission(), set: -1}
	w.stores.builder = w
	if w.index, err = w.database(p.index()); err != nil {
		return nil, err
	}
	put := func(b *store.Batch) error { return w.index.Put(ctx, b) }
	if b.Jobs != 1 {
		w.async = storedb.NewAsyncPut(put)
		put = w.async.Put
	}
	for k := range w.fill {
		w.fill[k] = newFiller(sdkdoc.Kind(k), p.index(), setOf(p.index().design, sdkdoc.Kind(k).Table()), put)
	}
	return w, nil
}

// database begins a database of the plan.
func (w *builder) database(b *base) (store.Writer, error) {
	b.made = true
	return w.Create(w.ctx, b.path, b.design)
}

func setOf(d *Design, table string) int {
	for i, t := range d.Tables {
		if t.Name == table {
			return i
		}
	}
	return -1
}

// Put makes rows of lines, or writes a piece of a transcript.
func (w *builder) Put(ctx context.Context, b *store.Batch) error {
	defer b.Release()
	w.ctx = ctx
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := w.reach(b.Set); err != nil {
		return err
	}
	if w.file != nil {
		for i := range b.Rows() {
			if _, err := w.file.Write(b.Cell(i, 0).Bytes()); err != nil {
				return err
			}
		}
		return nil
	}
	for i := range b.Rows() {
		put := w.line
		if sdkdoc.Kind(b.Set) == sdkdoc.Run {
			put = w.runs.hold
		}
		if err := put(sdkdoc.Kind(b.Set), int(b.RowID(i)), b.Cell(i, 0)); err != nil {
			return err
		}
	}
	return nil
}

// reach moves on to a set.
func (w *builder) reach(set int) error {
	for w.set < set {
		if w.set == int(sdkdoc.Run) {
			if err := w.runs.release(w.line); err != nil {
				return err
			}
		}
		w.set++
		if w.set == int(sdkdoc.Checkpoint) {
			if err := w.endIndex(); err != nil {
				return err
			}
		}
		if w.set < sdkdoc.Kinds {
			continue
		}
		if err := w.shut(); err != nil {
			return err
		}
		var err error
		if w.file, err = w.File(w.Schema.Sets[w.set].File); err != nil {
			return err
		}
	}
	return nil
}

func (w *builder) shut() error {
	if w.file == nil {
		return nil
	}
	err := w.file.Close()
	w.file = nil
	return err
}

// line makes the row of a line, or keeps it for the sidecar.
func (w *builder) line(k sdkdoc.Kind, n int, c store.Cell) error {
	c = w.bareEnd(k, c)
	row, fit := w.parser.Parse(k, c.Bytes())
	if fit == sdkdoc.None {
		w.keepWhole(k, n, c, loss.LineNotRow)
		return nil
	}
	if id := row[sdkdoc.BlobAgent].Bytes(); k == sdkdoc.Checkpoint && (len(id) == 0 || !utf8.Valid(id)) {
		w.keepWhole(k, n, c, loss.CheckpointNoAgent)
		return nil
	}
	renumbered := k == sdkdoc.Run && w.runs.renumber(n, &row[sdkdoc.RunTurn])
	if renumbered {
		w.note(loss.RunRenumbered, store.Addr{File: k.File(), Line: n})
	}
	f, err := w.filler(k, row)
	if err != nil {
		return err
	}
	t := f.ask(n, c)
	if t.stale != nil {
		w.note(loss.StaleEdited, t.stale.At)
	}
	final := f.merge(row, &t)
	if len(t.cells) > 0 && !f.unsaid(c.Bytes(), row, final) {
		w.note(loss.StaleEdited, store.Addr{File: k.File(), Line: n})
		t.cells = nil
		final = f.merge(row, &t)
	}
	if !w.rows.admit(k, final) && (!t.any || t.loose && w.rows.twice) {
		w.keepWhole(k, n, c, loss.LineRefused)
		return nil
	}
	if k == sdkdoc.Agent {
		w.agents = append(w.agents, agent{string(row[sdkdoc.AgentID].Bytes()), sdkdoc.Created(final)})
	}
	if t.any || !f.whole {
		w.own, _ = k.Append(w.own[:0], final)
		if exact := bytes.Equal(w.own, c.Bytes()); !exact && fit == sdkdoc.Exact {
			fit = sdkdoc.Dropped
		} else if exact {
			fit = sdkdoc.Exact
		}
	}
	if fit != sdkdoc.Exact || c.Class == store.Blob || renumbered {
		w.keepFrame(k, n, c, fit, final)
	}
	switch k.Odd(final, t.any) {
	case sdkdoc.OddStatus:
		w.note(loss.StatusUnknown, store.Addr{File: k.File(), Line: n})
	case sdkdoc.OddJSON:
		w.note(loss.CellNotJSON, store.Addr{File: k.File(), Line: n}, k.Table())
	}
	switch {
	case k == sdkdoc.Checkpoint:
		w.stores.counted()
	case k <= sdkdoc.Run && slices.ContainsFunc(final, func(c store.Cell) bool { return bytes.IndexByte(c.Bytes(), 0) >= 0 }):
		w.note(loss.TextWithNUL, store.Addr{File: k.File(), Line: n})
	}
	moved, err := f.add(final, &t)
	if moved {
		w.note(loss.RowIDTaken, store.Addr{File: k.File(), Line: n})
	}
	return err
}

// filler is the table that takes the row.
func (w *builder) filler(k sdkdoc.Kind, row []store.Cell) (*filler, error) {
	var f *filler
	var err error
	if k == sdkdoc.Checkpoint {
		f, err = w.stores.of(string(row[sdkdoc.BlobAgent].Bytes()))
	} else {
		f = w.fill[k]
	}
	if err != nil {
		return nil, err
	}
	if f.table.Name == "" {
		return nil, &formats.Error{Format: FormatName, Op: "sidecar", At: k.File(), Err: errors.New("the schema in the sidecar has no table for it"), Hint: "use --sidecar none to leave it out"}
	}
	return f, nil
}

package sdkstore

import (
	"context"
	"errors"

	"rehome/formats/internal/sdkdoc"
	"rehome/formats/loss"
	"rehome/formats/store"
)

// endIndex completes the catalog.
func (w *builder) endIndex() error {
	for _, f := range w.fill {
		if err := f.flush(); err != nil {
			return err
		}
	}
	if w.async != nil {
		if err := w.async.End(); err != nil {
			return err
		}
	}
	put := func(b *store.Batch) error { return w.index.Put(w.ctx, b) }
	if err := w.rest(w.plan.index(), put); err != nil {
		return err
	}
	err := errors.Join(w.index.Finish(w.ctx), w.index.Close())
	w.index = nil
	return err
}

// rest puts in the rows that no line was made of.
func (w *builder) rest(b *base, put func(*store.Batch) error) error {
	for set, t := range b.design.Tables {
		f := &filler{table: t, set: set, put: put}
		rows := b.rows[t.Name]
		delete(b.rows, t.Name)
		for _, it := range rows {
			if ok, err := f.addWhole(it); err != nil {
				return err
			} else if !ok {
				w.note(loss.StaleColumns, it.At)
			}
		}
		if err := f.flush(); err != nil {
			return err
		}
	}
	return nil
}

// Finish completes the databases and files.
func (w *builder) Finish(ctx context.Context) error {
	w.ctx = ctx
	if err := w.reach(max(len(w.Schema.Sets)-1, int(sdkdoc.Checkpoint))); err != nil {
		return err
	}
	if err := errors.Join(w.shut(), w.stores.finish()); err != nil {
		return err
	}
	w.tellEnds()
	w.plan.stale(w.OnLoss.Add)
	for _, it := range w.plan.files {
		f, err := w.File(it.At.File)
		if err != nil {
			return err
		}
		_, err = f.Write(it.Row[0].Bytes())
		if err = errors.Join(err, f.Close()); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// Close lets go of everything, finished or not.
func (w *builder) Close() error {
	if w.done {
		return nil
	}
	w.done = true
	err := errors.Join(w.shut(), w.stores.close(), w.runs.rows.Close())
	for _, f := range w.fill {
		f.drop()
	}
	if w.async != nil {
		w.async.End() // its error was told when it happened
	}
	if w.index != nil {
		err = errors.Join(err, w.index.Close())
	}
	return err
}

func (w *builder) note(code loss.Code, at store.Addr, args ...string) {
	w.OnLoss.Add(loss.Loss{Code: code, At: at, Args: args})
}

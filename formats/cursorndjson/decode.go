package cursorndjson

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"rehome/formats"
	"rehome/formats/internal/lines"
	"rehome/formats/internal/sdkdoc"
	"rehome/formats/internal/sdksession"
	"rehome/formats/internal/sdkstore"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/formats/store"
	"rehome/internal/rawjson"
)

// decode makes sessions of the four files. One pass notes where each document
// lies; after that they are read where they are needed.
func decode(ctx context.Context, l *formats.Location, v formats.View, sel session.Selection) iter.Seq2[*session.Session, error] {
	return func(yield func(*session.Session, error) bool) {
		d := newDecoder(v)
		d.Decode(ctx, sel, func() error { return d.open(ctx, l, sel.IDs) }, d.close)(yield)
	}
}

// decoder holds the files of one store.
type decoder struct {
	reader
	*sdksession.Store
	files   [sdkdoc.Kinds]*concat
	agents  map[string]*checkpoints
	last    *checkpoints
	windows [sdkdoc.Kinds]sdkstore.Window

	unwanted func(run []byte) bool // of events; nil: none are
}

func newDecoder(v formats.View) *decoder {
	d := &decoder{Store: sdksession.NewStore(v), agents: map[string]*checkpoints{}}
	d.Lines, d.Checkpoints, d.Fail = d, d.checkpoints, d.fail
	d.Names = sdksession.Names{Catalog: sdkdoc.Agent.File(), Runs: sdkdoc.Run.File(), Events: sdkdoc.Event.File(), State: sdkdoc.Checkpoint.File()}
	return d
}

// open reads every line once. The events of runs that are of none of some agents are left
// out.
func (d *decoder) open(ctx context.Context, l *formats.Location, ids []string) error {
	r, err := newReader(ctx, l, formats.View{})
	if err != nil {
		return err
	}
	d.reader, d.Root = *r, r.root
	for k := range sdkdoc.Kind(sdkdoc.Kinds) {
		d.files[k] = &concat{reader: &d.reader, kind: k}
		if k == sdkdoc.Event {
			d.unwanted = d.Index.Unwanted(ids)
		}
		for _, p := range d.parts {
			if err := d.survey(ctx, k); err != nil {
				return d.fail(p.file(k), err)
			}
		}
	}
	var folders []string
	for _, p := range d.parts {
		folders = append(folders, p.name)
	}
	return d.FindTranscripts(ctx, folders...)
}

// survey notes where the documents of the next part's file lie.
func (d *decoder) survey(ctx context.Context, k sdkdoc.Kind) error {
	f, start, err := d.files[k].enter()
	if err != nil || f == nil {
		return err
	}
	some := false
	for l, err := range lines.Each(ctx, f, sdkdoc.MaxLine) {
		if err != nil {
			return err
		}
		some = true
		if l.Blank() {
			d.Account.Add(session.Account{Read: 1, Converted: 1})
			continue
		}
		if lines.Conflict(l.Bytes) {
			return errConflict(l.Number)
		}
		if k == sdkdoc.Event && d.unwanted != nil {
			if id, _, ok := sdkdoc.ReadSeq(l.Bytes); ok && d.unwanted([]byte(id)) {
				continue
			}
		}
		p := sdksession.Place{Offset: start + l.Offset, Row: int64(l.Number), Len: uint32(len(l.Bytes))}
		if !l.Long && d.add(k, l.Bytes, p) {
			continue
		}
		d.Account.Add(session.Account{Read: 1, Unreadable: 1})
		d.Note(unreadable(&l, d.At(k, p)))
	}
	if !some { // a file of no bytes is the one record that a reader of lines sees there
		d.Account.Add(session.Account{Read: 1, Converted: 1})
	}
	return nil
}

func unreadable(l *lines.Line, at store.Addr) loss.Loss {
	switch {
	case l.Long:
		return loss.Loss{Code: loss.LineTooLong, At: at, Args: []string{fmt.Sprintf("%d MB", sdkdoc.MaxLine>>20)}}
	case !l.Ended:
		return loss.Loss{Code: loss.LineTorn, At: at}
	}
	return loss.Loss{Code: loss.LineInvalidRecord, At: at}
}

func (d *decoder) add(k sdkdoc.Kind, line []byte, p sdksession.Place) bool {
	b, _, err := rawjson.Line(line)
	switch {
	case err != nil:
		return false
	case k == sdkdoc.Agent:
		b = sdkdoc.CutSummary(b)
	case k == sdkdoc.Checkpoint:
		return d.checkpoint(b, p)
	}
	return d.Index.Add(k, b, p)
}

// Line reads a document where it lies.
func (d *decoder) Line(ctx context.Context, k sdkdoc.Kind, p sdksession.Place) (line []byte, err error) {
	if line, err = d.line(ctx, k, &d.windows[k], p); err == nil {
		line, _, _ = rawjson.Line(line)
	}
	if k == sdkdoc.Agent {
		line = sdkdoc.CutSummary(line)
	}
	return line, err
}

// line reads a line again. A window has only one line at a time.
func (d *decoder) line(ctx context.Context, k sdkdoc.Kind, w *sdkstore.Window, p sdksession.Place) (line []byte, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	w.In = d.files[k]
	if line, err = w.Read(p.Offset, int(p.Len)); err != nil {
		err = d.fail(k.File(), err)
	}
	return line, err
}

// At is the address of a document.
func (d *decoder) At(k sdkdoc.Kind, p sdksession.Place) store.Addr {
	return d.files[k].at(p.Offset, int(p.Row))
}

// close lets go of the files, and tells of those that changed meanwhile.
func (d *decoder) close() error {
	var errs []error
	for _, f := range d.files {
		if f != nil {
			errs = append(errs, f.Close())
		}
	}
	return errors.Join(append(errs, d.Close())...)
}

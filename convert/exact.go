package convert

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"rehome/convert/internal/pipe"
	"rehome/convert/internal/sidecar"
	"rehome/formats"
	"rehome/formats/loss"
	"rehome/formats/store"
)

// exactConversion is the exact conversion of one store.
type exactConversion struct {
	*job
	source      Found
	out         *StoreReport
	staged      string // where the target is written
	jobs        int
	only        bool // the only store, which is synced while it is read again
	losses      loss.Log
	omitted     *sidecar.Omitted
	kind        string              // of the records
	unheld      []store.SidecarItem // records that the target cannot hold, needed to read it again
	unheldSize  int                 // size of unheld, which no sidecar bounds if there is none
	changes     *formats.Changes    // how an update reads the source; nil if as a whole
	partial     bool                // changes are not everything
	whole       bool                // not to be read by changes
	regenerated string              // remark after a successful conversion
	records     *recordRedaction    // nil: nothing is redacted
}

// errLosses is the error of a conversion with losses beyond Options.Allow.
var errLosses = errors.New("losses beyond --allow")

// run reads the store, writes it, and reads it again to verify it.
func (c *exactConversion) run(ctx context.Context) error {
	from := c.source.Detected[0].Format
	if c.opts.Redact != nil {
		from = redactable(from, c.source.Loc)
	}
	if from.Records == nil {
		return c.noTargetError(ctx, from, c.source.Loc, errors.New("no exact conversion from this format"))
	}
	to, err := c.chooseTarget(ctx, from, c.source.Loc)
	if err != nil {
		return err
	}
	c.out.To = to.Name
	if c.kind, err = c.sharedKind(from, to); err != nil {
		return err
	}
	schema, sum, err := c.copyRecords(ctx, from, to)
	if err != nil && c.changes != nil && ctx.Err() == nil {
		if err := c.readAsWhole(); err != nil {
			return err
		}
		schema, sum, err = c.copyRecords(ctx, from, to)
	}
	if err == nil {
		err = c.keepChanges(to)
	}
	c.out.Losses = append(c.out.Losses, c.losses.Groups()...)
	c.out.Omitted = c.omitted.N
	if c.records != nil {
		c.out.Redacted = c.records.report()
	}
	if err != nil {
		return err
	}
	c.out.setCounts(schema, sum)
	c.out.Partial = c.partial
	if c.losses.Worst() > c.opts.Allow {
		return errLosses
	}
	if err := errors.Join(c.verify(ctx, to, schema, sum), c.searchFiles(ctx, from, to)); err != nil {
		return err
	}
	if err := c.refuseHidden(ctx, from, to, schema); err != nil {
		return err
	}
	if err := c.refusePlanted(ctx, from, to); err != nil {
		return err
	}
	if c.regenerated != "" {
		c.say(c.regenerated)
	}
	return c.outside.checkFree(c.staged)
}

// copyRecords copies the records of the source to the staged store, and closes
// both.
func (c *exactConversion) copyRecords(ctx context.Context, from, to *formats.Format) (*store.Schema, store.Summary, error) {
	v := formats.View{
		Kind:     c.kind,
		Secrets:  c.secrets(from, to),
		Sidecar:  c.sidecarItems(to),
		OnOmit:   c.omitted.Add,
		Cwd:      c.opts.Cwd,
		OnLoss:   withFileName(c.source.Loc, c.losses.Add),
		OnNotice: c.say,
		Verbose:  c.opts.Verbose,
		Live:     c.opts.Live,
		Jobs:     c.jobs,

		RequireRestorable: to.Text && c.kind == formats.Tables,
	}
	if to.Text {
		v.OnLeftover = c.omitted.Keep
		v.HideRowIDs = from.Records.IsKeyed
	} else if from.Text && to.Records.Regenerated != "" && c.kind != formats.Tables && !c.sidecar.Exists {
		c.regenerated = "no sidecar found, so these are generated again: " + to.Records.Regenerated
	}
	if c.opts.Redact != nil {
		v.OnLeftover = nil
		once := v.OnLoss
		v.OnLoss = func(n loss.Loss) { // the source is read several times
			if c.records == nil || !c.records.learned {
				once(n)
			}
		}
	}
	if err := c.selectSessions(ctx, from, &v); err != nil {
		return nil, nil, err
	}
	r, err := c.openRecords(ctx, from, to, v)
	if err != nil {
		return nil, nil, err
	}
	if err := c.copyFrom(ctx, r, to); err != nil {
		return nil, nil, err
	}
	return r.Schema(), r.Summary(), nil
}

// copyFrom copies the records of a reader, and closes it.
func (c *exactConversion) copyFrom(ctx context.Context, r store.Reader, to *formats.Format) error {
	if err := os.MkdirAll(filepath.Dir(c.staged), 0o777); err != nil {
		return errors.Join(err, r.Close())
	}
	err := c.write(ctx, r, to)
	// A source that changed while it was read reports that when it is closed,
	// so this must come before the records are used.
	if e := r.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = c.omitted.Failure()
	}
	return err
}

func (c *exactConversion) openRecords(ctx context.Context, from, to *formats.Format, v formats.View) (store.Reader, error) {
	if c.changes = c.openChanges(ctx, from, to, v); c.changes != nil {
		return c.changes, nil
	}
	r, err := from.Records.Open(ctx, c.source.Loc, v)
	if err != nil || c.opts.Redact == nil {
		return r, err
	}
	return c.redactFrom(ctx, r, to)
}

// sidecarItems returns the sidecar items that the reader restores in the
// records. Only text may contain placeholders of secrets. Items for a database
// are not restored but handed on: the new one lacks the same things.
func (c *exactConversion) sidecarItems(to *formats.Format) []store.SidecarItem {
	items := c.sidecar.ItemsOf(c.source.Rel)
	switch {
	case to.Text || c.kind != formats.Tables:
		return items
	case !c.sidecar.Named:
		for _, it := range items {
			c.omitted.Keep(it)
		}
	}
	return nil
}

func (c *exactConversion) write(ctx context.Context, r store.Reader, to *formats.Format) error {
	b := formats.Build{
		Path: c.staged, Schema: r.Schema(), Compress: c.opts.Compress, Flat: c.opts.Flat || c.flat(), Jobs: c.jobs,
		OnSidecar: c.keepItem, Leftover: c.sidecar.ItemsOf(c.source.Rel), Moved: c.opts.Cwd != "", WithSecrets: c.opts.WithSecrets, OnLoss: c.losses.Add,
	}
	if f := c.reg.Lookup(b.Schema.Origin); f != nil && f.Records != nil {
		b.Shard, b.Lists = f.Records.Shard, f.Records.Lists
	}
	w, err := to.Records.Create(ctx, b)
	if err != nil {
		return err
	}
	defer w.Close()
	seen, err := c.copyBatches(ctx, r, w.Put)
	if err != nil {
		return err
	}
	if err := sameCounts(r, seen); err != nil {
		return err
	}
	if err := errors.Join(w.Finish(ctx), w.Close()); err != nil {
		return err
	}
	if p, ok := w.(formats.Parted); ok {
		dir := c.staged
		if c.sidecar.Named {
			dir = ""
		}
		return c.omitted.Divide(dir, p.Part)
	}
	return nil
}

// flat reports whether the target is to be of one part because the source is.
func (c *exactConversion) flat() bool {
	if !c.opts.Same {
		return false
	}
	from := c.source.Detected[0].Format
	return c.out.To == from.Name && from.Records != nil && from.Records.Parts != nil && len(from.Records.Parts(c.source.Loc)) < 2
}

// keepItem keeps what the target cannot hold, for the target's sidecar and for
// reading it again.
func (c *exactConversion) keepItem(it store.SidecarItem) {
	if c.unheldSize += itemSize(it); c.omitted.Off && c.unheldSize > maxUnheld {
		c.omitted.Fail(it, fmt.Errorf("more than %d MB that the target cannot hold: too much to keep in memory for verification", maxUnheld>>20))
	}
	if c.omitted.Failure() == nil {
		c.unheld = append(c.unheld, it)
	}
	c.omitted.Keep(it)
}

// maxUnheld bounds the items in memory if there is no sidecar. It bounds
// memory, not a file.
const maxUnheld = 8 * sidecar.MaxSize

func itemSize(it store.SidecarItem) int {
	n := 128
	for _, c := range it.Row {
		n += 64 + len(c.Bytes())
	}
	for _, in := range it.Inserts {
		n += 32 + len(in.Text)
	}
	return n
}

// copyBatches copies every batch, and counts the rows independently of reader
// and writer.
func (c *exactConversion) copyBatches(ctx context.Context, r store.Reader, put func(context.Context, *store.Batch) error) ([]int64, error) {
	seen := make([]int64, len(r.Schema().Sets))
	for b, err := range r.Batches(ctx) {
		if err != nil {
			return nil, err
		}
		if err := countRows(seen, b); err != nil {
			return nil, err
		}
		n := b.Size()
		if err := put(ctx, b); err != nil {
			return nil, err
		}
		c.notify.Add(c.source.Rel, n)
	}
	return seen, ctx.Err()
}

func countRows(seen []int64, b *store.Batch) error {
	if b.Set < 0 || b.Set >= len(seen) {
		return &formats.Error{Err: fmt.Errorf("the reader returned set %d of %d", b.Set, len(seen)), Hint: bugHint}
	}
	seen[b.Set] += int64(b.Rows())
	return nil
}

// sameCounts compares a reader's summary with the rows that it returned: a
// summary that is wrong on both sides must not pass for equality.
func sameCounts(r store.Reader, seen []int64) error {
	sum := r.Summary()
	if len(sum) != len(seen) {
		return &formats.Error{Err: fmt.Errorf("the reader counted %d of %d sets", len(sum), len(seen)), Hint: bugHint}
	}
	for i, n := range seen {
		if sum[i].Rows != n {
			return &formats.Error{At: setName(r.Schema().Sets[i]), Err: fmt.Errorf("read %d rows, but the reader counted %d", n, sum[i].Rows), Hint: bugHint}
		}
	}
	return nil
}

// bugHint is the hint of errors that no input should be able to cause.
const bugHint = pipe.BugHint

func (c *exactConversion) say(s string) { c.sayOf(c.source, s) }

// sayOf says something of a store, with its name unless it is the only one.
func (in *input) sayOf(f Found, s string) {
	if f.Rel != "." && !strings.Contains(s, f.Rel) {
		s = f.Rel + ": " + s
	}
	in.notify.Say(s)
}

func setName(s store.Set) string {
	switch {
	case s.Name == "":
		return s.File
	case s.File == "":
		return s.Name
	}
	return s.File + "/" + s.Name
}

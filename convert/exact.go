package convert

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"rehome/formats"
	"rehome/formats/loss"
	"rehome/formats/store"
)

// carriage is the way of one store along the exact lane.
type carriage struct {
	*job
	found  Found
	rep    *StoreReport
	staged string // where it is written
	jobs   int
	alone  bool // the only store: it can be synced while it is read again
	books  loss.Log
	left   *omissions
	family string              // what the records are
	made   []store.SidecarItem // what the writer told: how the target is to be read again
	weight int                 // of what was made, where a sidecar has no bound of its own
	anew   string              // said of a store that came through
}

// errWithheld ends a carriage whose losses are beyond the allowed line.
var errWithheld = errors.New("losses beyond --allow")

// run reads the store, writes it, and reads it again.
func (c *carriage) run(ctx context.Context) error {
	from := c.found.Detected[0].Format
	if from.Open == nil {
		return c.openEnded(ctx, from, c.found.Loc, errors.New("no exact conversion from this format"))
	}
	to, err := c.chooseTarget(ctx, from, c.found.Loc)
	if err != nil {
		return err
	}
	c.rep.To = to.Name
	if c.family, err = c.shared(from, to); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(c.staged), 0o777); err != nil {
		return err
	}
	schema, sum, err := c.carry(ctx, from, to)
	c.rep.Losses = append(c.rep.Losses, c.books.Groups()...)
	c.rep.Omitted = c.left.n
	if err != nil {
		return err
	}
	c.rep.scanned(schema, sum)
	if c.books.Worst() > c.o.Allow {
		return errWithheld
	}
	if err := c.verify(ctx, to, schema, sum); err != nil {
		return err
	}
	if err := c.planted(ctx, from, to); err != nil {
		return err
	}
	if c.anew != "" {
		c.say(c.anew)
	}
	return c.out.free(c.staged)
}

// carry pumps the source into the staged store and lets go of both.
func (c *carriage) carry(ctx context.Context, from, to *formats.Format) (*store.Schema, store.Summary, error) {
	v := formats.View{
		Family:   c.family,
		Secrets:  c.secrets(from, to),
		Sidecar:  c.putBack(from, to),
		OnOmit:   c.left.add,
		Cwd:      c.o.Cwd,
		OnLoss:   inFile(c.found.Loc, c.books.Add),
		OnNotice: c.say,
		Verbose:  c.o.Verbose,
		Live:     c.o.Live,
		Jobs:     c.jobs,

		RequireRestorable: to.Text && c.family == formats.Tables,
	}
	if to.Text {
		v.OnLeftover = c.left.keep
	} else if from.Text && to.Regenerated != "" && c.family != formats.Tables && !c.sidecar.there {
		c.anew = "no sidecar found, so these are generated again: " + to.Regenerated
	}
	if err := c.choose(ctx, from, &v); err != nil {
		return nil, nil, err
	}
	r, err := from.Open(ctx, c.found.Loc, v)
	if err != nil {
		return nil, nil, err
	}
	err = c.write(ctx, r, to)
	// A source that changed while it was read says so when it is let go of:
	// this must come before anything is made of what was read.
	if e := r.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = c.left.failure()
	}
	if err != nil {
		return nil, nil, err
	}
	return r.Schema(), r.Summary(), nil
}

// putBack is what of the sidecar the reader puts back into the records. Only
// text may hold what stands where a secret stood. What goes into a database is
// not put back but handed on: the new one lacks the same things.
func (c *carriage) putBack(from, to *formats.Format) []store.SidecarItem {
	items := c.sidecar.byStore[storeKey(c.found.Rel)]
	switch {
	case to.Text || c.family != formats.Tables:
		return items
	case !c.sidecar.named:
		for _, it := range items {
			c.left.keep(it)
		}
	}
	return nil
}

func (c *carriage) write(ctx context.Context, r store.Reader, to *formats.Format) error {
	b := formats.Build{
		Path: c.staged, Schema: r.Schema(), Compress: c.o.Compress, Jobs: c.jobs,
		OnSidecar: c.keepLine, Leftover: c.sidecar.byStore[storeKey(c.found.Rel)], Moved: c.o.Cwd != "", WithSecrets: c.o.WithSecrets, OnLoss: c.books.Add,
	}
	if f := c.reg.Lookup(b.Schema.Origin); f != nil {
		b.Shard = f.Shard
	}
	w, err := to.Create(ctx, b)
	if err != nil {
		return err
	}
	defer w.Close()
	seen, err := c.pump(ctx, r, w.Put)
	if err != nil {
		return err
	}
	if err := sameCounts(r, seen); err != nil {
		return err
	}
	return errors.Join(w.Finish(ctx), w.Close())
}

// keepLine takes what the target cannot hold, for its sidecar and for reading
// it again.
func (c *carriage) keepLine(it store.SidecarItem) {
	if c.weight += weight(it); c.left.off && c.weight > maxMade {
		c.left.fail(it, fmt.Errorf("more than %d MB that the target cannot hold: too much to keep in memory for verification", maxMade>>20))
	}
	if c.left.failure() == nil {
		c.made = append(c.made, it)
	}
	c.left.keep(it)
}

// maxMade bounds what is held of a store that no sidecar is kept of. It is not
// what a file may have, only what memory may.
const maxMade = 8 * maxSidecar

func weight(it store.SidecarItem) int {
	n := 128
	for _, c := range it.Row {
		n += 64 + len(c.Bytes())
	}
	for _, in := range it.Inserts {
		n += 32 + len(in.Text)
	}
	return n
}

// pump moves every batch and counts rows on its own.
func (c *carriage) pump(ctx context.Context, r store.Reader, put func(context.Context, *store.Batch) error) ([]int64, error) {
	seen := make([]int64, len(r.Schema().Sets))
	for b, err := range r.Batches(ctx) {
		if err != nil {
			return nil, err
		}
		if err := tally(seen, b); err != nil {
			return nil, err
		}
		n := b.Size()
		if err := put(ctx, b); err != nil {
			return nil, err
		}
		c.talk.add(c.found.Rel, n)
	}
	return seen, ctx.Err()
}

func tally(seen []int64, b *store.Batch) error {
	if b.Set < 0 || b.Set >= len(seen) {
		return &formats.Error{Err: fmt.Errorf("the reader returned set %d of %d", b.Set, len(seen)), Hint: ourFault}
	}
	seen[b.Set] += int64(b.Rows())
	return nil
}

// sameCounts holds a reader's summary against what really came by: a summary
// that is wrong on both sides alike must not pass for agreement.
func sameCounts(r store.Reader, seen []int64) error {
	sum := r.Summary()
	if len(sum) != len(seen) {
		return &formats.Error{Err: fmt.Errorf("the reader counted %d sets of %d", len(sum), len(seen)), Hint: ourFault}
	}
	for i, n := range seen {
		if sum[i].Rows != n {
			return &formats.Error{At: setName(r.Schema().Sets[i]), Err: fmt.Errorf("%d rows were read, the reader counted %d", n, sum[i].Rows), Hint: ourFault}
		}
	}
	return nil
}

// ourFault is the hint of errors that no input should be able to cause.
const ourFault = "nothing was placed: this is a bug in rehome, please report it"

func (c *carriage) say(s string) {
	if c.found.Rel != "." && !strings.Contains(s, c.found.Rel) {
		s = c.found.Rel + ": " + s
	}
	c.talk.Say(s)
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

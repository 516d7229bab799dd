package sqlitestore

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"rehome/formats"
	"rehome/formats/internal/secret"
	"rehome/formats/internal/sqlitedelta"
	"rehome/formats/internal/sqlitefile"
	"rehome/formats/internal/sqlitepages"
	"rehome/formats/internal/tally"
	"rehome/formats/store"
)

// Changes returns Records.Changes for stores of one database, whose records are in
// the shards that shard returns; lists are the format's.
func (s Shape) Changes(shard func(*store.Set, store.Record) formats.Shard, lists ...formats.List) func(context.Context, *formats.Location, formats.View, []byte) (*formats.Changes, error) {
	return func(ctx context.Context, at *formats.Location, v formats.View, mark []byte) (*formats.Changes, error) {
		c := &changes{shape: s, at: at, view: v, shard: shard, lists: lists}
		out, err := c.open(ctx, mark)
		if err == nil {
			return out, nil
		}
		if errors.Is(err, sqlitedelta.ErrFullPass) || errors.Is(err, sqlitefile.ErrNoSnapshot) {
			err = fmt.Errorf("%w: %w", formats.ErrNoChanges, err)
		}
		return nil, errors.Join(err, c.Close())
	}
}

// changes reads the changed shards of a database.
type changes struct {
	shape   Shape
	at      *formats.Location
	view    formats.View
	shard   func(*store.Set, store.Record) formats.Shard
	lists   []formats.List
	snap    *sqlitefile.Snapshot
	db      *sqlitefile.DB
	schema  *store.Schema
	delta   *sqlitedelta.Delta
	groups  map[string][]string // of each table
	summary store.Summary
}

func (c *changes) open(ctx context.Context, mark []byte) (*formats.Changes, error) {
	l, err := c.shape.layout(c.at)
	if err != nil {
		return nil, err
	}
	if len(l.databases) != 1 || len(l.plain)+len(l.aside)+len(c.view.Sidecar)+len(c.view.Sessions) > 0 {
		return nil, fmt.Errorf("%w: more than a single database", formats.ErrNoChanges)
	}
	before := &sqlitedelta.Mark{}
	if mark != nil {
		if err := before.UnmarshalBinary(mark); err != nil {
			return nil, fmt.Errorf("%w: %w", formats.ErrNoChanges, err)
		}
	}
	if c.snap, err = sqlitefile.OpenSnapshot(ctx, l.databases[0].file, before.Log()); err != nil {
		return nil, err
	}
	if err := c.describe(ctx, l.databases[0].path); err != nil {
		return nil, err
	}
	if c.delta, err = before.Since(ctx, c.snap, c.group); err != nil {
		return nil, err
	}
	sets := len(c.schema.Sets)
	out := &formats.Changes{Reader: c, Same: c.delta.Same, Shards: make([][]formats.Shard, sets), Lists: make([]bool, sets)}
	out.Mark = func() ([]byte, error) { return c.delta.Mark.AppendBinary(nil) }
	out.Read = func() int64 { return c.snap.Read }
	c.groups = map[string][]string{}
	for i := range c.schema.Sets {
		groups, lists := c.changed(i)
		for _, g := range groups {
			out.Shards[i] = append(out.Shards[i], shardOf(g))
		}
		if c.delta.Empty(c.schema.Sets[i].Name) {
			out.Shards[i] = append(out.Shards[i], formats.Shard{})
		}
		c.groups[c.schema.Sets[i].Name], out.Lists[i] = groups, lists
	}
	return out, nil
}

// changed returns the groups of a set that changed. If one of them has a row with
// lists, all that have one count: entries of lists are archived side by side.
func (c *changes) changed(set int) (groups []string, lists bool) {
	name := c.schema.Sets[set].Name
	for _, t := range c.delta.Tables {
		if t.Name == name {
			groups = t.Groups
		}
	}
	var listed []string
	for _, l := range c.lists {
		if l.Set == name {
			b := store.NewBatch(set, len(c.schema.Sets[set].Columns))
			b.Row(0)
			b.AddText(l.Key)
			for range b.Width() - 1 {
				b.AddNull()
			}
			listed = append(listed, c.groupOf(b))
			b.Release()
		}
	}
	for _, g := range listed {
		_, found := slices.BinarySearch(groups, g)
		lists = lists || found
	}
	if lists {
		groups = slices.Concat(groups, listed)
		slices.Sort(groups)
		groups = slices.Compact(groups)
	}
	return groups, lists
}

// describe finds out what the tables are.
func (c *changes) describe(ctx context.Context, path string) (err error) {
	v := c.view
	if c.db, err = c.snap.Describe(ctx, sqlitefile.Options{Known: c.shape.Known, RequireRestorable: v.RequireRestorable}); err != nil {
		return err
	}
	base := store.Database{Path: path, Pragmas: c.db.Pragmas(), Objects: c.db.Objects()}
	r := &reader{layout: layout{origin: c.shape.Origin}, view: v}
	if err := r.vet(c.at.Path, base); err != nil {
		return err
	}
	c.schema = &store.Schema{Origin: c.shape.Origin, Databases: []store.Database{base}}
	for _, t := range c.db.Tables() {
		c.schema.Sets = append(c.schema.Sets, setOf(path, t, v))
	}
	return nil
}

// group is the shard of a row.
func (c *changes) group(table string, r *sqlitepages.Row) (string, error) {
	i := slices.IndexFunc(c.schema.Sets, func(set store.Set) bool { return set.Name == table })
	if i < 0 {
		return "", nil
	}
	b := store.NewBatch(i, len(c.schema.Sets[i].Columns))
	defer b.Release()
	b.Row(r.RowID)
	if err := c.db.AddRow(b, table, r); err != nil {
		return "", err
	}
	return c.groupOf(b), nil
}

// groupOf is the group of the only row of a batch.
func (c *changes) groupOf(b *store.Batch) string {
	s := c.shard(&c.schema.Sets[b.Set], b.Record(0))
	if s.Common {
		return commonGroup + s.Name
	}
	return s.Name
}

// commonGroup begins the names of groups that are shards of common records.
const commonGroup = "\x00"

func shardOf(group string) formats.Shard {
	name, common := strings.CutPrefix(group, commonGroup)
	return formats.Shard{Name: name, Common: common}
}

func (c *changes) Schema() *store.Schema  { return c.schema }
func (c *changes) Summary() store.Summary { return c.summary }

// Close reports a database that changed while it was read.
func (c *changes) Close() error {
	var errs []error
	if c.db != nil {
		errs = append(errs, c.db.Close())
	}
	if c.snap != nil {
		errs = append(errs, c.snap.Close())
	}
	c.db, c.snap = nil, nil
	return errors.Join(errs...)
}

// Batches yields all records of the changed shards, in the order of Open.
func (c *changes) Batches(ctx context.Context) iter.Seq2[*store.Batch, error] {
	return func(yield func(*store.Batch, error) bool) {
		c.summary = tally.Scan(len(c.schema.Sets), yield, func(t *tally.Tally) error {
			filter := secret.NewFilter(c.schema, c.view)
			for set, table := range c.db.Tables() {
				rows := func(f func(*sqlitepages.Row) error) error {
					return c.delta.Rows(ctx, table.Name, c.groups[table.Name], f)
				}
				for b, err := range c.db.ScanRows(ctx, set, table, rows) {
					if err != nil {
						return err
					}
					if table.RowIDs && !c.schema.Sets[set].RowIDs {
						b.HideRowIDs()
					}
					if err := t.Give(filter.Apply(b)); err != nil {
						return err
					}
				}
				if err := t.Give(filter.Flush(set)); err != nil {
					return err
				}
			}
			return nil
		})
	}
}

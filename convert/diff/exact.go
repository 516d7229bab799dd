package diff

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"rehome/convert"
	"rehome/formats"
	"rehome/formats/store"
	"rehome/internal/udiff"
)

// Exact is how two sides differ record by record.
type Exact struct {
	Added, Removed, Changed, Same int // stores
	Stores                        []*Store
	More                          int // records that differ, beyond those of Stores
	Failed                        []error
}

// Store is a store that differs. Before or After is nil if the other side alone has it.
type Store struct {
	Before, After *Place // without an id
	Schema        []Field
	Rows          []Row
}

// Row is a record that was added, removed or changed.
type Row struct {
	At     string // its address
	Change string // "added", "removed" or "changed"
	Cells  []Field
}

// Limits of what is held of records.
const (
	maxRecords = 1 << 21 // of a store
	maxRows    = 10_000  // that differ
	maxCell    = 4 << 10 // of a value
)

// CompareRecords compares the stores of two sides record by record. Both stores of a pair
// must have a kind of records in common.
func CompareRecords(ctx context.Context, reg *formats.Registry, before, after Side, o Options) (*Exact, error) {
	out := &Exact{}
	sides := [2]*side{{Side: before, reg: reg, o: o}, {Side: after, reg: reg, o: o}}
	var found [2]map[string]place
	var order []string
	for i, s := range sides {
		if s.Session != "" {
			return nil, &formats.Error{At: s.Session, Err: errors.New("a session cannot be compared exactly"), Hint: "name its store"}
		}
		found[i] = map[string]place{}
		for _, path := range s.Paths {
			for f, err := range convert.Stores(ctx, reg, path, "") {
				if err != nil && f.Rel == "" {
					return nil, s.restate(err)
				}
				at := filepath.Join(path, filepath.FromSlash(f.Rel))
				if err != nil {
					s.fail(at, err)
					continue
				}
				rel := s.rel(at)
				if i == 0 || found[0][rel].of == nil {
					order = append(order, rel)
				}
				found[i][rel] = place{f.Detected[0].Format, f.Loc, at}
			}
		}
	}
	if len(found[0]) == 1 && len(found[1]) == 1 && len(order) == 2 { // whatever they are called
		found[1][order[0]], order = found[1][order[1]], order[:1]
	}
	for _, rel := range order {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		out.pair(ctx, sides, [2]place{found[0][rel], found[1][rel]})
	}
	for _, s := range sides {
		out.Failed = append(out.Failed, s.failed...)
	}
	return out, ctx.Err()
}

// place is where a store is.
type place struct {
	of   *formats.Format
	loc  *formats.Location
	path string
}

// pair compares two stores. One of them can be missing.
func (x *Exact) pair(ctx context.Context, sides [2]*side, at [2]place) {
	s := &Store{}
	for i, place := range []**Place{&s.Before, &s.After} {
		if at[i].of != nil {
			*place = &Place{Format: at[i].of.Name, Store: sides[i].Show(at[i].path), Turns: -1}
		}
	}
	switch {
	case s.Before == nil:
		x.Added++
	case s.After == nil:
		x.Removed++
	default:
		if err := x.records(ctx, sides, at, s); err != nil {
			sides[1].fail(at[1].path, sides[0].restate(err))
			return
		}
		if len(s.Rows)+len(s.Schema) == 0 {
			x.Same++
			return
		}
		x.Changed++
	}
	x.Stores = append(x.Stores, s)
}

// records compares the records of two stores.
func (x *Exact) records(ctx context.Context, sides [2]*side, at [2]place, s *Store) (err error) {
	kind := formats.SharedKind(at[0].of, at[1].of)
	if kind == "" {
		why := fmt.Errorf("%s and %s have no records in common", at[0].of.Name, at[1].of.Name)
		if at[0].of == at[1].of {
			why = fmt.Errorf("%s has no records to compare", at[0].of.Name)
		}
		return &formats.Error{At: at[1].path, Err: why, Hint: "omit --exact to compare sessions"}
	}
	var scans [2]*scan
	for i := range at {
		v := sides[i].view()
		v.Kind = kind
		if at[0].of.Text || at[1].of.Text {
			v.HideRowIDs = at[i].of.Records.IsKeyed
		}
		r, err := at[i].of.Records.Open(ctx, at[i].loc, v)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, r.Close()) }()
		scans[i] = &scan{r: r, sets: map[string]*set{}}
	}
	s.Schema = schemaFields(scans[0].r.Schema(), scans[1].r.Schema())
	for _, one := range scans {
		if err := one.each(ctx, one.note); err != nil {
			return err
		}
	}
	edits := scans[0].compare(scans[1])
	for i, one := range scans {
		side := i
		err := one.each(ctx, func(c *set, rec *record) error {
			if e := edits[c.name].at(side, rec); e != nil {
				e.keep(side, rec)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	for _, name := range scans[0].names(scans[1]) {
		for _, e := range edits[name].list {
			if len(s.Rows) == maxRows {
				x.More++
				continue
			}
			s.Rows = append(s.Rows, e.row())
		}
	}
	return nil
}

// schemaFields compares everything in databases but their rows.
func schemaFields(a, b *store.Schema) (out []Field) {
	describe := func(s *store.Schema) map[string]string {
		all := map[string]string{}
		for _, d := range s.Databases {
			if len(s.Databases) == 1 {
				d.Path = "" // a folder with a database, or the database itself
			}
			p := d.Pragmas
			p.JournalMode = "" // a copy can have another one
			all[strings.TrimSpace(d.Path+" settings")] = fmt.Sprintf("%+v", p)
			for _, o := range d.Objects {
				all[strings.TrimSpace(d.Path+" "+o.Type+" "+o.Name)] = o.SQL
			}
		}
		return all
	}
	x, y := describe(a), describe(b)
	for _, name := range sortedKeys(x, y) {
		if x[name] != y[name] {
			out = append(out, Field{name, x[name], y[name]})
		}
	}
	return out
}

// edit is a record that differs.
type edit struct {
	key   [2]string // "" if the side does not have it
	cells [2][]Field
	where [2]string
}

func (e *edit) keep(side int, r *record) { e.cells[side], e.where[side] = r.fields(), r.at() }

func (e *edit) row() Row {
	switch {
	case e.key[0] == "":
		return Row{e.where[1], "added", sided(e.cells[1], 1)}
	case e.key[1] == "":
		return Row{e.where[0], "removed", sided(e.cells[0], 0)}
	}
	return Row{first(e.where[1], e.where[0]), "changed", differing(e.cells[0], e.cells[1])}
}

// edits are those of a set, in order.
type edits struct {
	list  []*edit
	byKey [2]map[string]*edit
}

// at returns the edit of a record, nil if it does not differ.
func (e *edits) at(side int, r *record) *edit {
	if e == nil {
		return nil
	}
	return e.byKey[side][r.key]
}

func (e *edits) add(a, b string) {
	one := &edit{key: [2]string{a, b}}
	for i, k := range one.key {
		if k != "" && len(e.list) < maxRows {
			e.byKey[i][k] = one
		}
	}
	e.list = append(e.list, one)
}

// compare pairs the records of two scans, set by set.
func (s *scan) compare(o *scan) map[string]*edits {
	out := map[string]*edits{}
	for _, name := range s.names(o) {
		a, b := s.sets[name], o.sets[name]
		e := &edits{byKey: [2]map[string]*edit{{}, {}}}
		out[name] = e
		switch {
		case a == nil:
			for _, k := range b.keys {
				e.add("", k)
			}
		case b == nil:
			for _, k := range a.keys {
				e.add(k, "")
			}
		case a.Kind == store.Table:
			for _, k := range a.keys {
				if d, ok := b.digests[k]; !ok {
					e.add(k, "")
				} else if d != a.digests[k] {
					e.add(k, k)
				}
			}
			for _, k := range b.keys {
				if _, ok := a.digests[k]; !ok {
					e.add("", k)
				}
			}
		default:
			for _, c := range udiff.Changes(a.lines(), b.lines()) {
				for i := range max(c.Removed, c.Added) {
					x, y := "", ""
					if i < c.Removed {
						x = a.keys[c.OldStart+i]
					}
					if i < c.Added {
						y = b.keys[c.NewStart+i]
					}
					e.add(x, y)
				}
			}
		}
	}
	return out
}

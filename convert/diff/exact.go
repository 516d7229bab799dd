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
)

// Exact is how two sides differ record by record.
type Exact struct {
	Added, Removed, Changed, Same int // stores
	Stores                        []*Store
	More                          int // records that differ, beyond those of Stores
	Failed                        []error
	NotCompared                   []string // sidecars that the other side lacks

	left int // bytes that may still be held of long values
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
	Cells  Fields
}

// Limits of what is held of records.
const (
	maxRecords = 1 << 21 // of a store
	maxRows    = 10_000  // that differ
	maxCell    = 4 << 10 // of a value that is shown; maxText and maxTexts of one that is compared
)

// CompareRecords compares the stores of two sides record by record. Both stores of a pair
// must have a kind of records in common.
func CompareRecords(ctx context.Context, reg *formats.Registry, before, after Side, o Options) (*Exact, error) {
	out := &Exact{left: maxTexts}
	sides := [2]*side{{Side: before, reg: reg, o: o}, {Side: after, reg: reg, o: o}}
	var found [2]map[string]place
	var order []string
	for i, s := range sides {
		if s.Session != "" {
			return nil, &formats.Error{At: s.Session, Err: errors.New("a session cannot be compared exactly"), Hint: "name its store"}
		}
		found[i] = map[string]place{}
		for _, path := range s.Paths {
			for f, err := range convert.Stores(ctx, reg, path, "", o.OnNotice) {
				if err != nil && f.Rel == "" {
					return nil, s.restate(err)
				}
				at := filepath.Join(path, filepath.FromSlash(f.Rel))
				if err != nil {
					s.fail(at, err)
					continue
				}
				list, err := textFiles(place{f.Detected[0].Format, f.Loc, at})
				if err != nil {
					s.fail(at, err)
				}
				for _, one := range list {
					rel := s.rel(one.path)
					if i == 0 || found[0][rel].of == nil {
						order = append(order, rel)
					}
					found[i][rel] = one
				}
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

// records compares the records of two stores, and their sidecars.
func (x *Exact) records(ctx context.Context, sides [2]*side, at [2]place, s *Store) error {
	var readers [2]store.Reader
	kind := formats.SharedKind(at[0].of, at[1].of)
	lines := at[0].of == at[1].of && (kind == "" || kind == formats.PlainFiles) && !at[0].loc.IsDir() && !at[1].loc.IsDir()
	if kind == "" && !lines {
		why := fmt.Errorf("%s and %s have no records in common", at[0].of.Name, at[1].of.Name)
		if at[0].of == at[1].of {
			why = fmt.Errorf("%s has no records to compare", at[0].of.Name)
		}
		return &formats.Error{At: at[1].path, Err: why, Hint: "omit --exact to compare sessions"}
	}
	for i := range at {
		r, err := sides[i].records(ctx, at[i], kind, lines, at[0].of.Text || at[1].of.Text)
		if err != nil {
			return errors.Join(err, closeAll(readers))
		}
		readers[i] = r
	}
	if err := x.compare(ctx, readers, s); err != nil || lines {
		return err
	}
	return x.sidecars(ctx, sides, at, s)
}

// records opens a store. Its row ids do not count if the other store is a text.
func (s *side) records(ctx context.Context, at place, kind string, lines, text bool) (store.Reader, error) {
	if lines {
		return openFile(at.loc)
	}
	v := s.view()
	v.Kind = kind
	if text {
		v.HideRowIDs = at.of.Records.IsKeyed
	}
	return at.of.Records.Open(ctx, at.loc, v)
}

// compare compares what two readers read, and closes them.
func (x *Exact) compare(ctx context.Context, readers [2]store.Reader, s *Store) (err error) {
	defer func() { err = errors.Join(err, closeAll(readers)) }()
	var scans [2]*scan
	for i, r := range readers {
		scans[i] = &scan{r: r, sets: map[string]*set{}}
	}
	if a, b := base(readers[0]), base(readers[1]); a != "" && b != "" { // whatever they are called
		scans[0].base, scans[1].base = a, b
	}
	s.Schema = append(s.Schema, schemaFields(scans[0].r.Schema(), scans[1].r.Schema())...)
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
				e.cells[side], e.where[side] = rec.fields(&x.left), rec.at()
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	for _, name := range scans[0].names(scans[1]) {
		for _, e := range edits[name].list {
			rows := e.rows()
			keep := min(len(rows), maxRows-len(s.Rows))
			s.Rows, x.More = append(s.Rows, rows[:keep]...), x.More+len(rows)-keep
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

package sqlitecheck

import (
	"context"
	"errors"
	"slices"
	"strings"

	"rehome/formats"
	"rehome/formats/internal/sqliteddl"
	"rehome/formats/internal/sqlitefile"
	"rehome/formats/internal/sqlitepages"
	"rehome/formats/rule"
	"rehome/formats/store"
)

// Rows is what a codec wants of a table's rows: what it gives is called with
// each one. nil: nothing.
type Rows func(t *sqlitefile.PlanTable) func(r *sqlitepages.Row) error

// File is one database that was examined and found sound.
type File struct {
	*sqlitefile.Image
	*sqlitefile.Seen
}

// Examine looks at one SQLite file; file is its slash path inside the store, ""
// where the store is that file. It reports what is wrong with it, and opens it
// for the codec's own rules, which are given rows as they lie. It is nil where
// that would be no use: the reason is reported. So it is where the file turns
// out to be damaged after rows were given away: what they led to is to be
// forgotten.
func Examine(ctx context.Context, path, file string, v formats.View, q *rule.Pass, known Known, rows Rows) (f *File, err error) {
	c := &check{q: q, known: &known, file: file, whole: q.Enabled(rule.Container)}
	image, err := sqlitefile.OpenImage(ctx, path, sqlitefile.Options{Live: v.Live, OnNotice: v.OnNotice, Verbose: v.Verbose, Known: known.Shared})
	if err != nil {
		return nil, c.damage(err)
	}
	defer func() {
		if f == nil {
			err = errors.Join(err, image.Close())
		}
	}()
	if c.whole {
		if err := c.around(ctx, path, image); err != nil {
			return nil, err
		}
	}
	if rows == nil && !c.whole && !q.Enabled(rule.Schema) {
		return &File{image, &sqlitefile.Seen{Sound: true}}, nil
	}
	look := sqlitefile.Look{Whole: c.whole, Found: c.flaw, Rows: func(t *sqlitefile.PlanTable) (func(*sqlitepages.Row) error, error) {
		if rows == nil {
			return nil, nil
		}
		return rows(t), nil
	}}
	seen, err := image.Look(ctx, look)
	if err != nil {
		return nil, c.damage(err)
	}
	if !seen.Sound {
		return nil, c.unsound(path)
	}
	if c.whole && known.Declared != "" {
		c.code(seen)
	}
	if err := c.foreign(ctx, image, seen); err != nil {
		return nil, err
	}
	if q.Enabled(rule.Schema) {
		c.restorable(image, seen)
		if known.Declared != "" {
			designOf(known.Declared).compare(file, image, seen.Objects, q)
		}
	}
	if len(known.Tables) > 0 && !known.drift(file, seen, q) && q.Enabled(rule.Schema) {
		return nil, nil
	}
	return &File{image, seen}, nil
}

// check is one file being examined.
type check struct {
	q     *rule.Pass
	known *Known
	file  string
	whole bool
	said  []string
}

// damage reports a file that is no database; any other error stays one.
func (c *check) damage(err error) error {
	d := (*sqlitefile.Damage)(nil)
	if !errors.As(err, &d) {
		return err
	}
	if !c.whole {
		return d.Err
	}
	id := map[sqlitefile.DamageKind]string{sqlitefile.NoDatabase: "RH101", sqlitefile.NoBytes: "RH102", sqlitefile.CutShort: "RH103",
		sqlitefile.NoHeader: "RH101", sqlitefile.BadSchema: "RH116"}[d.Kind]
	c.q.Reportf(id, store.Addr{File: c.file}, cause(d.Err))
	return nil
}

// cause is an error without the place, which the finding names.
func cause(err error) string {
	for {
		e := (*formats.Error)(nil)
		if !errors.As(err, &e) {
			return err.Error()
		}
		if e.Pointer != "" && e.At == "" {
			return e.Pointer + ": " + e.Err.Error()
		}
		err = e.Err
	}
}

var rules = map[sqlitepages.FlawKind]string{
	sqlitepages.BadPage: "RH105", sqlitepages.SharedPage: "RH106", sqlitepages.LostPage: "RH107", sqlitepages.BadFree: "RH108",
	sqlitepages.BadIndex: "RH109", sqlitepages.BadOrder: "RH110", sqlitepages.BadValue: "RH111", sqlitepages.BadText: "RH113", sqlitepages.BadMap: "RH118", sqlitepages.OddClass: "RH100",
}

// flaw reports one flaw of the pages.
func (c *check) flaw(f sqlitepages.Flaw) {
	if !c.whole {
		if len(c.said) < 1 {
			c.said = append(c.said, f.String())
		}
		return
	}
	at := store.Addr{File: c.file, Set: f.Table, RowID: f.RowID, HasID: f.HasID}
	if f.Kind != sqlitepages.OddClass || c.known.Declared != "" {
		c.q.Reportf(rules[f.Kind], at, f.Says, f.Args...)
	}
}

// unsound is the error where nobody asks about the container: nothing else can
// be asked then.
func (c *check) unsound(path string) error {
	if c.whole {
		return nil
	}
	return &formats.Error{At: path, Err: errors.New("malformed pages: " + strings.Join(c.said, "; ")), Hint: "run `rehome check --layer container` for details"}
}

// code reports what of a client's schema runs by itself.
func (c *check) code(seen *sqlitefile.Seen) {
	for _, o := range seen.Objects {
		if o.Type == "index" && o.SQL == "" {
			continue // SQLite's own, of a key
		}
		if what := sqliteddl.Code(store.Object{Type: o.Type, SQL: o.SQL}); what != "" {
			c.q.Reportf("RH119", store.Addr{File: c.file, Set: o.Name}, "%s", rule.Words(what))
		}
	}
}

// restorable asks whether a schema could be made again from text.
func (c *check) restorable(image *sqlitefile.Image, seen *sqlitefile.Seen) {
	d := store.Database{Pragmas: image.Pragmas()}
	for _, o := range seen.Objects {
		if o.Type != "index" || o.SQL != "" { // those of keys come by themselves
			d.Objects = append(d.Objects, store.Object{Type: o.Type, Name: o.Name, Table: o.Table, SQL: o.SQL})
		}
	}
	if _, err := sqliteddl.Vet(d, sqliteddl.AnyCode); err != nil {
		c.q.Reportf("RH207", store.Addr{File: c.file}, cause(err))
	}
}

// foreign asks about foreign keys where a table has some.
func (c *check) foreign(ctx context.Context, image *sqlitefile.Image, seen *sqlitefile.Seen) error {
	if !c.whole {
		return nil
	}
	for i := range seen.Plan.Tables {
		t := &seen.Plan.Tables[i]
		if !t.Foreign || slices.Contains(c.known.Own, t.Name) {
			continue
		}
		err := image.ForeignKeys(ctx, t.Name, func(row int64, parent string) {
			c.q.Report(rule.Finding{Rule: "RH112", At: store.Addr{File: c.file, Set: t.Name, RowID: row, HasID: row != 0}, Message: "no matching row in %s", Args: []any{parent}})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

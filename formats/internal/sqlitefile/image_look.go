package sqlitefile

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/maphash"
	"math"
	"strconv"
	"unicode/utf8"

	"rehome/formats"
	"rehome/formats/internal/sqliteddl"
	"rehome/formats/internal/sqlitepages"
	"rehome/formats/store"
)

// Look is what is wanted of a walk over a database.
type Look struct {
	// Rows is asked before a table is walked, for what to do with its rows; nil
	// where they are of no interest. What it was told may be of a file that
	// turns out to be damaged.
	Rows  func(t *PlanTable) (func(r *sqlitepages.Row) error, error)
	Found func(sqlitepages.Flaw)
	// Whole asks for all of the file: other tables, indexes, unused pages,
	// constraints and texts.
	Whole bool
}

// mostPages bounds the memory of a walk, which takes a bit for each page.
const mostPages = 1 << 28

// Seen is what a walk found out.
type Seen struct {
	Objects []Object
	Plan    *Plan
	Flaws   int   // of any kind
	Sound   bool  // no page and no row is lost
	Steps   int64 // pages, cells and entries of indexes that it took
}

// Look walks the database once. An error is one of reading, or of what Rows
// gave; a *Damage is the file's.
func (m *Image) Look(ctx context.Context, l Look) (*Seen, error) {
	if m.Pages > mostPages {
		return nil, &formats.Error{At: m.path, Err: fmt.Errorf("too large to check: %d pages, max %d", m.Pages, mostPages), Hint: "check it with sqlite3; it may be a sparse file"}
	}
	w := sqlitepages.NewWalk(ctx, m.File, l.Found)
	s := &Seen{}
	var err error
	if s.Objects, err = m.schema(w); err != nil {
		return nil, err
	}
	if s.Flaws = w.Flaws; s.Flaws > 0 {
		return s, nil
	}
	if s.Plan, err = m.planFor(ctx, s.Objects); err != nil {
		return nil, err
	}
	k := &lookout{Walk: w, image: m, Look: l, seed: maphash.MakeSeed(), utf8: m.UTF8(), roots: map[string]uint32{}}
	for _, o := range s.Objects {
		if o.Type == "table" || o.Type == "index" {
			k.roots[o.Type+o.Name] = o.Root
		}
	}
	for i := range s.Plan.Tables {
		if err := k.table(&s.Plan.Tables[i]); err != nil {
			return nil, err
		}
	}
	s.Steps, s.Sound = w.Steps, w.Flaws == 0
	if s.Sound && l.Whole {
		err = k.rest(s)
	}
	s.Flaws = w.Flaws
	return s, err
}

// lookout is a walk that looks at everything.
type lookout struct {
	*sqlitepages.Walk
	image *Image
	Look
	seed  maphash.Seed
	utf8  bool
	roots map[string]uint32
	key   []byte
	last  []byte
	doubt []string // tables that SQLite has to judge

	entries int64 // bytes that indexes should have, at least
}

// leastEntry is how many bytes an entry of an index takes at least.
const leastEntry = 4

// tally adds up the entries that an index has.
type tally struct{ sum, count uint64 }

// wanted is what it should have, as far as the rows say it all.
type wanted struct {
	tally
	unsure bool
}

// table walks a table and its indexes.
func (k *lookout) table(t *PlanTable) error {
	var give func(*sqlitepages.Row) error
	var err error
	if k.Rows != nil {
		if give, err = k.Rows(t); err != nil {
			return err
		}
	}
	if give == nil && !k.Whole {
		return nil
	}
	want := make([]wanted, len(t.indexes))
	doubt := t.odd
	l := &sqlitepages.Leaf{Table: t.RowIDs, Take: func(r *sqlitepages.Row) error {
		if k.Whole {
			doubt = k.misplaced(t, r) || doubt
			doubt = k.look(t, r, want) || doubt
		}
		if give == nil {
			return nil
		}
		return give(r)
	}}
	before := k.Flaws
	k.key = k.key[:0]
	if err := k.Tree(t.Name, k.roots["table"+t.Name], l); err != nil || !k.Whole {
		return err
	}
	if k.entries > k.image.Bytes && k.Flaws == before {
		k.Report(sqlitepages.Flaw{Kind: sqlitepages.BadIndex, Table: t.Name, Says: "the file is too small for the entries its indexes should have"})
		before = -1 // and nobody is asked what is missing
	}
	for i := range t.indexes {
		same, err := k.index(&t.indexes[i], want[i].tally, k.Flaws == before)
		if err != nil {
			return err
		}
		if doubt = doubt || !same; !same && t.computed && !want[i].unsure {
			k.computed(t, &t.indexes[i])
		}
	}
	if t.computed {
		k.image.say("the indexes of table " + strconv.QuoteToGraphic(t.Name) + " on computed values and defaults were not checked, because rehome does not run SQL from a store")
	} else if doubt && k.Flaws == before {
		k.doubt = append(k.doubt, t.Name)
	}
	return nil
}

// misplaced reports a row of a table without row ids that does not come after
// the one before it.
func (k *lookout) misplaced(t *PlanTable, r *sqlitepages.Row) bool {
	if t.RowIDs || t.odd || r.Len() < t.ordered {
		return false
	}
	k.last, k.key = k.key, k.last[:0]
	for i := range t.ordered {
		k.key = appendKey(k.key, r.Stored(i))
	}
	return len(k.last) > 0 && bytes.Compare(k.last, k.key) >= 0
}

// look looks at a row: values that may not be NULL, texts, and what its
// indexes should hold. It reports one that SQLite has to judge.
func (k *lookout) look(t *PlanTable, r *sqlitepages.Row, want []wanted) (doubt bool) {
	for _, i := range t.needed {
		doubt = doubt || i >= r.Len() || r.Class(i) == store.Null
	}
	for i := range r.Types {
		if kind, says := k.unlike(t, r, i); says != "" {
			k.Report(sqlitepages.Flaw{Kind: kind, Table: t.Name, RowID: r.RowID, HasID: t.RowIDs, Says: "column %q: %v", Args: []any{nameOf(t, i), errors.New(says)}})
			k.Flaws-- // it is no flaw of the file's own
		}
		if c := r.Stored(i); k.utf8 && c.Class == store.Text && !utf8.Valid(c.Bytes()) {
			k.Report(sqlitepages.Flaw{Kind: sqlitepages.BadText, Table: t.Name, RowID: r.RowID, HasID: t.RowIDs, Says: "column %q", Args: []any{nameOf(t, i)}})
			k.Flaws--
		}
	}
	for _, g := range t.groups {
		if g.where >= 0 && t.Value(r, g.where).Class == store.Null {
			continue
		}
		for _, i := range g.indexes {
			if k.entries > k.image.Bytes {
				return false // more than all indexes of the file can hold, which table reports
			}
			doubt = k.entry(t, r, &t.indexes[i], &want[i]) || doubt
		}
	}
	return doubt
}

// entry adds what an index should have of a row.
func (k *lookout) entry(t *PlanTable, r *sqlitepages.Row, x *planIndex, want *wanted) (doubt bool) {
	k.key = k.key[:0]
	k.Steps++
	k.entries += leastEntry
	for _, col := range x.columns {
		if col >= r.Len() || r.Long && col >= 0 && r.Class(col) != r.Stored(col).Class {
			doubt, want.unsure = true, true // a default, or not held
		}
		c := store.IntCell(r.RowID)
		if col >= 0 && col != t.Key {
			c = r.Stored(col)
		}
		k.entries += int64(len(c.Bytes()))
		k.key = appendKey(k.key, c)
	}
	want.sum += maphash.Bytes(k.seed, k.key)
	want.count++
	return doubt
}

// unlike says what is wrong with a value that SQLite would have stored as another
// one, because its column's type converts it: it would not come back the same.
func (k *lookout) unlike(t *PlanTable, r *sqlitepages.Row, i int) (kind sqlitepages.FlawKind, says string) {
	if i >= len(t.stored) {
		return kind, ""
	}
	a, class := t.stored[i].affinity, r.Class(i)
	switch {
	case class == store.Blob && a == sqliteddl.TextAffinity:
		return sqlitepages.OddClass, "a blob in a text column"
	case class == store.Null || class == store.Blob, a == sqliteddl.AnyAffinity, a == sqliteddl.TextAffinity && class == store.Text, a == sqliteddl.NumericAffinity && class == store.Int,
		a == sqliteddl.RealAffinity && class != store.Text: // whole numbers are stored as integers
		return kind, ""
	}
	if what := a.Changed(r.Cell(i)); what != "" {
		return sqlitepages.BadValue, sqliteddl.Mismatch(what, t.stored[i].declared).Error()
	}
	return kind, ""
}

func nameOf(t *PlanTable, i int) string {
	if i < len(t.Columns) {
		return t.Columns[i]
	}
	return ""
}

// index walks an index. It reports whether it holds what its table says, in
// its order, and nothing twice that has to be unique.
func (k *lookout) index(x *planIndex, want tally, compare bool) (same bool, err error) {
	var has tally
	sorted, unique, before := true, 0, 0
	k.last = k.last[:0]
	l := &sqlitepages.Leaf{Take: func(r *sqlitepages.Row) error {
		k.key = k.key[:0]
		before, unique = unique, -1 // how much of the key must not come twice
		null := false
		for i := range x.columns {
			if i == len(x.columns)-1 && x.unique && !null {
				unique = len(k.key)
			}
			null = null || r.Class(i) == store.Null
			k.key = appendKey(k.key, r.Stored(i))
		}
		if has.count > 0 && unique >= 0 && unique == before && bytes.Equal(k.last[:unique], k.key[:unique]) {
			sorted = false
		}
		has.sum += maphash.Bytes(k.seed, k.key)
		has.count++
		if x.sorted && has.count > 1 && bytes.Compare(k.last, k.key) >= 0 {
			sorted = false
		}
		k.last, k.key = k.key, k.last
		return nil
	}}
	err = k.Tree(x.name, k.roots["index"+x.name], l)
	return !compare || sorted && has == want, err
}

// appendKey spells a value so that spellings compare as SQLite compares
// values, and so that equal numbers are spelled alike.
func appendKey(b []byte, c store.Cell) []byte {
	switch c.Class {
	case store.Int:
		return appendNumber(b, float64(c.Int()), c.Int())
	case store.Real:
		v := c.Real()
		whole := int64(0)
		if math.Abs(v) < 1<<63 {
			whole = int64(v)
		}
		return appendNumber(b, v, whole)
	case store.Text, store.Blob:
		b = append(b, byte(c.Class)) // texts before blobs
		for s := c.Bytes(); ; {
			i := bytes.IndexByte(s, 0)
			if i < 0 {
				return append(append(b, s...), 0, 0)
			}
			b = append(append(b, s[:i]...), 0, 255)
			s = s[i+1:]
		}
	}
	return append(b, byte(store.Null))
}

func appendNumber(b []byte, v float64, whole int64) []byte {
	if v == 0 {
		v = 0 // not -0
	}
	bits := math.Float64bits(v)
	if bits>>63 != 0 {
		bits = ^bits
	} else {
		bits |= 1 << 63
	}
	b = append(b, byte(store.Int))
	b = binary.BigEndian.AppendUint64(b, bits)
	return binary.BigEndian.AppendUint64(b, uint64(whole)^1<<63)
}

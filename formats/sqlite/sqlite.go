// Package sqlite carries any SQLite database whose owner rehome does not know.
//
// It is asked last. Every table travels, with schema, pragmas and row ids; what
// is known to be secret in the stores rehome knows is kept at home here too,
// by the names of tables and members.
//
// # Not verified
//
// Whether a database of an unknown owner holds secrets of its own: it may, and
// rehome cannot know.
package sqlite

import (
	"context"
	"fmt"

	"rehome/formats"
	"rehome/formats/internal/digest"
	"rehome/formats/internal/sqlitefile"
	"rehome/formats/internal/sqlitestore"
	"rehome/formats/store"
)

const name = "sqlite"

// Format is the codec.
func Format() *formats.Format {
	shape := sqlitestore.Shape{Origin: name, Single: true}
	return &formats.Format{
		Name:     name,
		Title:    "any other SQLite database",
		Families: []string{formats.Tables},
		Probe: func(_ context.Context, l *formats.Location) (formats.Match, error) {
			if !sqlitefile.IsDatabase(l.Head()) {
				return formats.Match{}, nil
			}
			return formats.Match{Score: 10, Evidence: []string{"the file begins with SQLite's header"}}, nil
		},
		Open:   shape.Open,
		Create: shape.Create,
		Shard:  shard,
	}
}

// shard splits by ranges of 65,536 row ids or integer keys, the first of which
// is the table's single file, and other keys by sixteen hash buckets.
func shard(set *store.Set, r store.Record) string {
	n := uint64(r.RowID())
	if !set.RowIDs && r.Width() > 0 {
		key := r.Cell(0)
		if key.Class != store.Int {
			return fmt.Sprintf("k-%x", digest.Name(string(key.Bytes()))&15)
		}
		n = uint64(key.Int())
	}
	if n >>= 16; n > 0 {
		return fmt.Sprintf("r-%04x", n)
	}
	return ""
}

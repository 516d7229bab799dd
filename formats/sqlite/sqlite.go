// Package sqlite carries any SQLite database that belongs to no client known to
// rehome.
//
// It is tried last. Every table is carried, with schema, pragmas and row ids.
// Values that are known to be secrets in the stores of known clients are withheld
// here too, by the names of tables and members.
//
// # Not verified
//
// Whether a database of an unknown owner contains secrets of its own: rehome
// cannot know them.
package sqlite

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"rehome/formats"
	"rehome/formats/internal/digest"
	"rehome/formats/internal/sqlitecheck"
	"rehome/formats/internal/sqlitefile"
	"rehome/formats/internal/sqliterepair"
	"rehome/formats/internal/sqlitestore"
	"rehome/formats/rule"
	"rehome/formats/store"
)

const name = sqlitestore.AnyDatabase

// Format is the codec.
func Format() *formats.Format {
	shape := sqlitestore.Shape{Origin: name, Single: true}
	return &formats.Format{
		Name:  name,
		Title: "any other SQLite database",
		Records: &formats.Records{
			Kinds:   []formats.Kind{{Name: formats.Tables, Schema: formats.AnySchema}},
			Open:    shape.Open,
			Create:  shape.Create,
			Changes: shape.Changes(shard),
			Shard:   shard,
		},
		Probe:  probe,
		Check:  check,
		Repair: sqliterepair.Repair(true),
	}
}

// check asks what can be asked of any database.
func check(ctx context.Context, l *formats.Location, v formats.View, q *rule.Pass) error {
	f, err := sqlitecheck.Examine(ctx, l.Path, "", v, q, sqlitecheck.Known{}, nil)
	if f == nil {
		return err
	}
	return f.Close()
}

// probe also claims a file that is only named like a database: opening it says
// what is wrong with it, which is better to know than that nobody claims it. A
// name that only clients' own databases have counts for more than an ending.
func probe(_ context.Context, l *formats.Location) (formats.Match, error) {
	const doubt = ", but without a SQLite header"
	switch {
	case !l.IsRegular():
		return formats.Match{}, nil
	case sqlitefile.IsDatabase(l.Head()):
		return formats.Match{Score: 10, Evidence: []string{"starts with the SQLite header"}}, nil
	case slices.Contains([]string{"store.db", "index.db", "state.vscdb"}, l.Name()):
		return formats.Match{Score: formats.Guess + 1, Evidence: []string{"named like a client's database" + doubt}}, nil
	case slices.Contains([]string{".db", ".db3", ".sqlite", ".sqlite3", ".vscdb"}, strings.ToLower(path.Ext(l.Name()))):
		return formats.Match{Score: formats.Guess, Evidence: []string{"named like a database" + doubt}}, nil
	}
	return formats.Match{}, nil
}

// shard splits by ranges of 65,536 row ids or integer keys, the first of which
// is the table's single file, and other keys by sixteen hash buckets.
func shard(set *store.Set, r store.Record) formats.Shard {
	n := uint64(r.RowID())
	if !set.RowIDs && r.Width() > 0 {
		key := r.Cell(0)
		if key.Class != store.Int {
			return formats.Shard{Name: fmt.Sprintf("k-%x", digest.Name(string(key.Bytes()))&15)}
		}
		n = uint64(key.Int())
	}
	if n >>= 16; n > 0 {
		return formats.Shard{Name: fmt.Sprintf("r-%04x", n)}
	}
	return formats.Shard{}
}

package sqlitefile

import (
	"context"
	"errors"

	"rehome/formats/internal/sqlitepages"
)

var errNotPages = errors.New("only SQLite can read it")

// EachRow calls f with the rows of tables as they lie on the pages of a database, which
// is faster than SQLite is. table is asked for f; nil: not this table. It fails where
// pages alone do not tell everything: then rows that f has seen are not all.
func EachRow(ctx context.Context, path string, o Options, table func(t *PlanTable) (f func(r *sqlitepages.Row) error)) (err error) {
	m, err := OpenImage(ctx, path, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	if !m.UTF8() || o.Live && m.Hot {
		return errNotPages
	}
	seen, err := m.Look(ctx, Look{
		Found: func(sqlitepages.Flaw) {},
		Rows: func(t *PlanTable) (func(*sqlitepages.Row) error, error) {
			f := table(t)
			if f == nil {
				return nil, nil
			}
			return func(r *sqlitepages.Row) error {
				if r.Long {
					return errNotPages
				}
				return f(r)
			}, nil
		},
	})
	if err == nil && !seen.Sound {
		err = errNotPages
	}
	return err
}

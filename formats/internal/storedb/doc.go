// Package storedb reads store.db, the database in which the Cursor CLI and the
// Cursor SDK keep the state of one agent: the table blobs, and the one row of
// the table meta. Tables and columns are found whatever the case of their
// names, as SQLite finds them.
package storedb

import (
	"slices"
	"strings"

	"rehome/formats/internal/sqlitefile"
)

// Column returns the index of a column, -1 if it is missing.
func Column(t sqlitefile.Table, name string) int {
	return slices.IndexFunc(t.Columns, func(c string) bool { return strings.EqualFold(c, name) })
}

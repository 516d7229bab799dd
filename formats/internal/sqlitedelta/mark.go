package sqlitedelta

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"rehome/formats/internal/digest"
	"rehome/formats/internal/sqlitefile"
	"rehome/formats/internal/sqlitepages"
	"rehome/formats/store"
)

// Mark is what has to be known of a database to find what changed since. It takes
// about 1 % of the database, in memory and as bytes. A lost mark costs a full pass;
// since the zero mark, everything changed.
//
// Each row belongs to a group, whose name the caller gives: what changed is a list of
// groups.
type Mark struct {
	id     sqlitefile.FileID
	log    sqlitepages.Log
	page   int
	schema store.Digest // of schema and pragmas

	prints []uint64 // digest of each page, from page 1
	use    []uint32 // what each page is, from page 1
	tables []table
	groups []string
}

// Group returns the name of the group of a row, from this row alone.
type Group func(table string, r *sqlitepages.Row) (string, error)

// What a page is, in Mark.use: a page of the tree of a table, with the table's number
// in the other bits; else the leaf that an overflow page continues; or 0.
const (
	tree     = 1 << 31
	maxPages = tree - 1
)

// table is a table with the leaves of its tree and its rows, both in order. Without
// row ids it has none of them.
type table struct {
	name   string
	root   uint32
	rowids bool
	leaves []leaf
	rows   []row
}

// leaf is a leaf with its number of rows.
type leaf struct{ page, rows uint32 }

// row is a row with the digest of its record.
type row struct {
	id    int64
	sum   uint64
	group uint32
}

// ErrFullPass is why the whole database has to be read.
var ErrFullPass = errors.New("changes cannot be determined from the mark")

func fullPass(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrFullPass, fmt.Errorf(format, args...))
}

// same reports whether two marks are of the same state of a database.
func (m *Mark) same(o *Mark) bool {
	return m.id == o.id && m.log.Head == o.log.Head && m.log.Sum == o.log.Sum && len(m.log.Frames) == len(o.log.Frames)
}

// printsOf are the digests of all pages.
func printsOf(ctx context.Context, s *sqlitefile.Snapshot) ([]uint64, error) {
	prints := make([]uint64, s.Pages)
	return prints, s.EachPage(ctx, min(runtime.GOMAXPROCS(0), 4), func(n uint32, page []byte) { prints[n-1] = printOf(page) })
}

func printOf(page []byte) uint64 { return digest.Bytes(page).Lo }

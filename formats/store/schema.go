package store

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Kind is what a set consists of.
type Kind uint8

const (
	// Table is a table of a database: each row is a record.
	Table Kind = iota
	// Plain is a file carried byte for byte: its records are consecutive pieces of
	// it, one Blob cell each, with row ids 0, 1, 2 …
	Plain
	// Lines is a text file of documents: each line is a record of one Text cell,
	// without its line break, with row ids from 1.
	Lines
)

// Set describes one sequence of records.
type Set struct {
	File    string // slash path inside the store: the database, or the file itself
	Name    string // table name; "" for a file
	Kind    Kind
	Columns []string
	RowIDs  bool // a Table whose row id is not one of its columns
}

// TableSchema is a table of a database.
type TableSchema struct {
	Name    string
	Columns []string
	RowIDs  bool // a rowid table whose rowid is not an INTEGER PRIMARY KEY column
}

// FindColumn returns the index of a column, -1 if it is missing. Names are found whatever
// their case, as SQLite finds them.
func FindColumn(columns []string, name string) int {
	return slices.IndexFunc(columns, func(c string) bool { return strings.EqualFold(c, name) })
}

// Schema is what a reader knows before the first record.
type Schema struct {
	Origin    string // the format whose sharding and secrets apply
	Databases []Database
	Sets      []Set // the tables of each database in order, then the plain files by path
}

// Database is everything in a SQLite file except its rows.
type Database struct {
	Path    string // slash path inside the store
	Pragmas Pragmas
	Objects []Object // sqlite_schema in order, without automatic indexes
}

// Pragmas are the settings a SQLite file carries in its header.
type Pragmas struct {
	PageSize      int    `json:"page_size"`
	Encoding      string `json:"encoding"` // UTF-8, UTF-16le, UTF-16be
	AutoVacuum    int    `json:"auto_vacuum"`
	JournalMode   string `json:"journal_mode"` // wal or delete: a file records no other
	UserVersion   int32  `json:"user_version"`
	ApplicationID int32  `json:"application_id"`
}

// Object is one row of sqlite_schema.
type Object struct {
	Type  string `json:"type"` // table, index, view, trigger
	Name  string `json:"name"`
	Table string `json:"table"`
	SQL   string `json:"sql"`
}

// Digest is a digest of records in any order. It detects accidents, not attacks.
type Digest struct{ Hi, Lo uint64 }

const digestPrefix = "xxh3:"

// String returns the digest in its only spelling: "xxh3:" and 32 hexadecimal
// digits.
func (d Digest) String() string { return fmt.Sprintf("%s%016x%016x", digestPrefix, d.Hi, d.Lo) }

// ParseDigest parses what String returns.
func ParseDigest(s string) (Digest, error) {
	if digits, ok := strings.CutPrefix(s, digestPrefix); ok && len(digits) == 32 {
		hi, e1 := strconv.ParseUint(digits[:16], 16, 64)
		lo, e2 := strconv.ParseUint(digits[16:], 16, 64)
		if e1 == nil && e2 == nil {
			return Digest{Hi: hi, Lo: lo}, nil
		}
	}
	return Digest{}, errors.New(`a digest is "xxh3:" and 32 hexadecimal digits`)
}

// Add adds the digest of more records.
func (d *Digest) Add(o Digest) {
	lo := d.Lo + o.Lo
	if lo < d.Lo {
		d.Hi++
	}
	d.Lo, d.Hi = lo, d.Hi+o.Hi
}

// Count is the result of scanning one set.
type Count struct {
	Rows   int64
	Bytes  int64 // Text and Blob content
	Digest Digest
}

// Summary has a Count for each set, in schema order.
type Summary []Count

// Rows returns the number of records in all sets.
func (s Summary) Rows() (n int64) {
	for _, c := range s {
		n += c.Rows
	}
	return n
}

// Bytes returns the size of all Text and Blob content.
func (s Summary) Bytes() (n int64) {
	for _, c := range s {
		n += c.Bytes
	}
	return n
}

// PieceBytes is the size of the records of a Plain set; the last one can be
// shorter.
const PieceBytes = 1 << 20

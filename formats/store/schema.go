package store

// Kind tells what a set is made of.
type Kind uint8

const (
	// Table is a table of a database: one record a row.
	Table Kind = iota
	// Plain is a file carried as it is: its records are consecutive pieces
	// of its bytes, one Blob cell each, row ids 0, 1, 2 …
	Plain
	// Lines is a text file of documents: one record a line, one Text cell
	// without its line end, row ids from 1.
	Lines
)

// Set is one sequence of records: where it lies and what its columns are.
type Set struct {
	File    string // slash path inside the store: the database, or the file itself
	Name    string // table name; "" for a file
	Kind    Kind
	Columns []string
	RowIDs  bool // a Table whose row ids are not also one of its columns
}

// Schema is what a reader knows before the first record.
type Schema struct {
	Origin    string // name of the format the tables belong to: whose sharding and secrets apply
	Databases []Database
	Sets      []Set // the tables of each database in order, then the plain files by path
}

// Database is everything of a SQLite file but its rows.
type Database struct {
	Path    string // slash path inside the store
	Pragmas Pragmas
	Objects []Object // sqlite_schema in its order, automatic indexes left out
}

// Pragmas are the settings a SQLite file carries in its header.
type Pragmas struct {
	PageSize      int    `json:"page_size"`
	Encoding      string `json:"encoding"` // UTF-8, UTF-16le, UTF-16be
	AutoVacuum    int    `json:"auto_vacuum"`
	JournalMode   string `json:"journal_mode"` // wal or delete: all that a closed file can say
	UserVersion   int32  `json:"user_version"`
	ApplicationID int32  `json:"application_id"`
}

// Object is one entry of sqlite_schema.
type Object struct {
	Type  string `json:"type"` // table, index, view, trigger
	Name  string `json:"name"`
	Table string `json:"table"`
	SQL   string `json:"sql"`
}

// Digest is 128 bits over records, independent of their order. It guards
// against accidents, not against an adversary.
type Digest struct{ Hi, Lo uint64 }

// Add folds the digest of more records in.
func (d *Digest) Add(o Digest) {
	lo := d.Lo + o.Lo
	if lo < d.Lo {
		d.Hi++
	}
	d.Lo, d.Hi = lo, d.Hi+o.Hi
}

// Count is what a scan saw of one set.
type Count struct {
	Rows   int64
	Bytes  int64 // Text and Blob content
	Digest Digest
}

// Summary is what a reader knows after the last record: one Count a set, in
// schema order.
type Summary []Count

// Rows is the number of records of all sets.
func (s Summary) Rows() (n int64) {
	for _, c := range s {
		n += c.Rows
	}
	return n
}

// Bytes is the size of all Text and Blob content.
func (s Summary) Bytes() (n int64) {
	for _, c := range s {
		n += c.Bytes
	}
	return n
}

// PieceBytes is the size of the pieces in which a plain file travels; the last
// one is shorter.
const PieceBytes = 1 << 20

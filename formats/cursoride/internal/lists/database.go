package lists

import (
	"context"
	"errors"

	"rehome/formats"
	"rehome/formats/internal/sqlitefile"
	"rehome/formats/loss"
	"rehome/formats/store"
)

// The tables of a database.
const (
	ItemTable = "ItemTable"
	DiskTable = "cursorDiskKV"
	HeadTable = "composerHeaders"
)

// MaxValue is the size of the largest value that is read. Records of sessions
// are never that large, and canonical lines may not be longer.
const MaxValue = 100 << 20

// Database is an open state.vscdb.
type Database struct {
	File  string // inside the store
	DB    *sqlitefile.DB
	Items *sqlitefile.Keyed // nil where there is no such table
	Disk  *sqlitefile.Keyed
	Heads *sqlitefile.Keyed
}

func openDatabase(ctx context.Context, path, file string, known *sqlitefile.Known, v formats.View) (*Database, error) {
	db, err := sqlitefile.Open(ctx, path, sqlitefile.Options{Live: v.Live, OnNotice: v.OnNotice, Verbose: v.Verbose, Known: known})
	if err != nil {
		return nil, err
	}
	s := &Database{File: file}
	if err := s.Attach(ctx, db); err != nil {
		return nil, errors.Join(err, s.Detach(), db.Close())
	}
	return s, nil
}

// Attach prepares the look-ups in the tables of an open database.
func (s *Database) Attach(ctx context.Context, db *sqlitefile.DB) (err error) {
	s.DB = db
	if s.Items, err = db.Keyed(ctx, ItemTable, "key", "value"); err != nil {
		return err
	}
	if s.Disk, err = db.Keyed(ctx, DiskTable, "key", "value"); err != nil {
		return err
	}
	s.Heads, err = db.Keyed(ctx, HeadTable, "composerId", "value")
	return err
}

// Detach ends the look-ups; the database stays open.
func (s *Database) Detach() error {
	var errs []error
	for _, k := range []*sqlitefile.Keyed{s.Items, s.Disk, s.Heads} {
		if k != nil {
			errs = append(errs, k.Close())
		}
	}
	return errors.Join(errs...)
}

func (s *Database) close() error { return errors.Join(s.Detach(), s.DB.Close()) }

// keyed is a table by its name.
func (s *Database) keyed(table string) *sqlitefile.Keyed {
	switch table {
	case ItemTable:
		return s.Items
	case DiskTable:
		return s.Disk
	}
	return s.Heads
}

// Row is a record: its address, and its value as one line of JSON.
type Row struct {
	Addr store.Addr
	Body []byte // nil: no value, or none that could be read
	Fate Fate
}

// Fate is what became of a record, for the account.
type Fate uint8

const (
	Absent Fate = iota // there is no such record
	Claimed
	Deleted // a tombstone: claimed as that
	Broken
)

// Get reads a record that holds JSON. What is wrong with it goes to note.
func (s *Database) Get(ctx context.Context, table, key string, note loss.Sink) (Row, error) {
	k := s.keyed(table)
	if k == nil {
		return Row{}, nil
	}
	f, ok, err := k.Get(ctx, key, MaxValue)
	if err != nil || !ok {
		return Row{}, err
	}
	r := Row{Addr: s.Addr(table, key, f.RowID), Fate: Claimed}
	switch {
	case f.Class == store.Null || string(f.Bytes) == "null":
		r.Fate = Deleted
	case f.Bytes == nil:
		r.Fate = Broken
		note.Add(TooLong(r.Addr))
	default:
		r.Body, r.Fate = Line(f.Bytes, r.Addr, note)
	}
	return r, nil
}

// TooLong returns the loss of a value that is larger than MaxValue.
func TooLong(at store.Addr) loss.Loss {
	return loss.Loss{Code: loss.ValueTooLarge, At: at, Args: []string{"100 MB"}}
}

// Find reads a row of cursorDiskKV whose key was found before. If it cannot be
// read, it is Broken, and note gets the loss.
func (s *Database) Find(ctx context.Context, key string, note loss.Sink) (f sqlitefile.Found, at store.Addr, what Fate, err error) {
	f, ok, err := s.Disk.Get(ctx, key, MaxValue)
	if err != nil {
		return f, at, Absent, err
	}
	at = s.Addr(DiskTable, key, f.RowID)
	switch {
	case !ok:
		note.Add(loss.Loss{Code: loss.KeyUnusable, At: at})
		return f, at, Broken, nil
	case f.Bytes == nil && f.Size > 0:
		note.Add(TooLong(at))
		return f, at, Broken, nil
	case f.Class == store.Null:
		return f, at, Deleted, nil
	}
	return f, at, Claimed, nil
}

// GetListed is Get for a row of cursorDiskKV whose key was found before.
func (s *Database) GetListed(ctx context.Context, key string, note loss.Sink) (Row, error) {
	r, err := s.Get(ctx, DiskTable, key, note)
	if err == nil && r.Fate == Absent {
		r.Fate = Broken
		note.Add(loss.Loss{Code: loss.KeyUnusable, At: s.Addr(DiskTable, key, 0)})
	}
	return r, err
}

// Addr returns the place of a row.
func (s *Database) Addr(table, key string, id int64) store.Addr {
	return store.Addr{File: s.File, Set: table, RowID: id, HasID: true, Key: store.TextCell([]byte(key))}
}

// Family calls f with the rest of each key of cursorDiskKV that has a prefix.
func (s *Database) Family(ctx context.Context, prefix string, f func(rest string) bool) error {
	if s.Disk == nil {
		return nil
	}
	return s.Disk.Keys(ctx, prefix, PrefixEnd(prefix), func(key string) bool { return f(key[len(prefix):]) })
}

// maxKeys is how many keys are held at once.
const maxKeys = 1024

// Each is Family for an f that looks things up in the same database.
func (s *Database) Each(ctx context.Context, prefix string, f func(rest string) error) error {
	for from := prefix; ; {
		var keys []string
		err := s.Disk.Keys(ctx, from, PrefixEnd(prefix), func(key string) bool {
			keys = append(keys, key)
			return len(keys) < maxKeys
		})
		for _, key := range keys {
			if err == nil {
				err = f(key[len(prefix):])
			}
		}
		if err != nil || len(keys) < maxKeys {
			return err
		}
		from = keys[maxKeys-1] + "\x00"
	}
}

// PrefixEnd returns the end of the range of all keys that have a prefix.
func PrefixEnd(prefix string) string {
	last := len(prefix) - 1
	return prefix[:last] + string(prefix[last]+1)
}

// Number counts the keys of cursorDiskKV that have a prefix.
func (s *Database) Number(ctx context.Context, prefix string) (n int64, err error) {
	err = s.Family(ctx, prefix, func(string) bool {
		n++
		return true
	})
	return n, err
}

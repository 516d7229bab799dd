package cursoride

import (
	"context"
	"errors"

	"rehome/formats"
	"rehome/formats/internal/rawjson"
	"rehome/formats/internal/sqlitefile"
	"rehome/formats/loss"
	"rehome/formats/store"
)

// The tables of a database.
const (
	itemTable = "ItemTable"
	diskTable = "cursorDiskKV"
	headTable = "composerHeaders"
)

// mostValue is the longest value that is read: more is no record of a
// conversation, and canonical lines may not be longer.
const mostValue = 100 << 20

// shelf is one open state.vscdb.
type shelf struct {
	file  string // inside the store
	db    *sqlitefile.DB
	items *sqlitefile.Keyed // nil where there is no such table
	disk  *sqlitefile.Keyed
	heads *sqlitefile.Keyed
}

func openShelf(ctx context.Context, path, file string, known *sqlitefile.Known, v formats.View) (*shelf, error) {
	db, err := sqlitefile.Open(ctx, path, sqlitefile.Options{Live: v.Live, OnNotice: v.OnNotice, Verbose: v.Verbose, Known: known})
	if err != nil {
		return nil, err
	}
	s := &shelf{file: file, db: db}
	for _, t := range []struct {
		to         **sqlitefile.Keyed
		table, key string
	}{{&s.items, itemTable, "key"}, {&s.disk, diskTable, "key"}, {&s.heads, headTable, "composerId"}} {
		if *t.to, err = db.Keyed(ctx, t.table, t.key, "value"); err != nil {
			return nil, errors.Join(err, s.close())
		}
	}
	return s, nil
}

func (s *shelf) close() error {
	var errs []error
	for _, k := range []*sqlitefile.Keyed{s.items, s.disk, s.heads} {
		if k != nil {
			errs = append(errs, k.Close())
		}
	}
	return errors.Join(append(errs, s.db.Close())...)
}

// keyed is a table by its name.
func (s *shelf) keyed(table string) *sqlitefile.Keyed {
	switch table {
	case itemTable:
		return s.items
	case diskTable:
		return s.disk
	}
	return s.heads
}

// row is a record: where it stands, and its value as one line of JSON.
type row struct {
	addr store.Addr
	body []byte // nil: no value, or none that could be read
	fate fate
}

// fate is what became of a record, for the books.
type fate uint8

const (
	absent fate = iota
	claimed
	deleted // a tombstone: claimed as that
	broken
)

// get reads a record that holds JSON. What is wrong with it is noted.
func (s *shelf) get(ctx context.Context, table, key string, note loss.Sink) (row, error) {
	k := s.keyed(table)
	if k == nil {
		return row{}, nil
	}
	f, ok, err := k.Get(ctx, key, mostValue)
	if err != nil || !ok {
		return row{}, err
	}
	r := row{addr: s.addr(table, key, f.RowID), fate: claimed}
	switch {
	case f.Class == store.Null || string(f.Bytes) == "null":
		r.fate = deleted
	case f.Bytes == nil:
		r.fate = broken
		note(tooLong(r.addr))
	default:
		r.body, r.fate = line(f.Bytes, r.addr, note)
	}
	return r, nil
}

// tooLong is the loss of a value that is larger than any is read.
func tooLong(at store.Addr) loss.Loss {
	return loss.Loss{Code: loss.ValueTooLarge, At: at, Args: []string{"100 MB"}}
}

// find reads a row of a session whose key was listed. What cannot be read is
// noted, and broken.
func (s *shelf) find(ctx context.Context, key string, note loss.Sink) (f sqlitefile.Found, at store.Addr, what fate, err error) {
	f, ok, err := s.disk.Get(ctx, key, mostValue)
	if err != nil {
		return f, at, absent, err
	}
	at = s.addr(diskTable, key, f.RowID)
	switch {
	case !ok:
		note(loss.Loss{Code: loss.KeyUnusable, At: at})
		return f, at, broken, nil
	case f.Bytes == nil && f.Size > 0:
		note(tooLong(at))
		return f, at, broken, nil
	case f.Class == store.Null:
		return f, at, deleted, nil
	}
	return f, at, claimed, nil
}

// listed is get for a row of a session whose key was listed.
func (s *shelf) listed(ctx context.Context, key string, note loss.Sink) (row, error) {
	r, err := s.get(ctx, diskTable, key, note)
	if err == nil && r.fate == absent {
		r.fate = broken
		note(loss.Loss{Code: loss.KeyUnusable, At: s.addr(diskTable, key, 0)})
	}
	return r, err
}

// quietLine is the value of a record that was found, as one line of JSON.
func quietLine(f sqlitefile.Found) ([]byte, fate) {
	if f.Class == store.Null || string(f.Bytes) == "null" {
		return nil, deleted
	}
	return line(f.Bytes, store.Addr{}, func(loss.Loss) {})
}

// line makes a value fit to be taken apart.
func line(b []byte, at store.Addr, note loss.Sink) ([]byte, fate) {
	body, repaired, err := rawjson.Line(b)
	if err != nil {
		note(loss.Loss{Code: loss.ValueNotJSON, At: at, Args: []string{err.Error()}})
		return nil, broken
	}
	if repaired {
		note(loss.Loss{Code: loss.TextRepaired, At: at})
	}
	return body, claimed
}

func (s *shelf) addr(table, key string, id int64) store.Addr {
	return store.Addr{File: s.file, Set: table, RowID: id, HasID: true, Key: store.TextCell([]byte(key))}
}

// family calls f with the rest of each key of cursorDiskKV that begins so.
func (s *shelf) family(ctx context.Context, prefix string, f func(rest string) bool) error {
	if s.disk == nil {
		return nil
	}
	return s.disk.Keys(ctx, prefix, behind(prefix), func(key string) bool { return f(key[len(prefix):]) })
}

// fewKeys is how many keys are held at once.
const fewKeys = 1024

// each is family for an f that looks things up.
func (s *shelf) each(ctx context.Context, prefix string, f func(rest string) error) error {
	for from := prefix; ; {
		var keys []string
		err := s.disk.Keys(ctx, from, behind(prefix), func(key string) bool {
			keys = append(keys, key)
			return len(keys) < fewKeys
		})
		for _, key := range keys {
			if err == nil {
				err = f(key[len(prefix):])
			}
		}
		if err != nil || len(keys) < fewKeys {
			return err
		}
		from = keys[fewKeys-1] + "\x00"
	}
}

// behind is the end of the range of all keys that begin so.
func behind(prefix string) string {
	last := len(prefix) - 1
	return prefix[:last] + string(prefix[last]+1)
}

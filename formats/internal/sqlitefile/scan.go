package sqlitefile

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"modernc.org/sqlite"

	"rehome/formats"
	"rehome/formats/internal/sqlitepages"
	"rehome/formats/store"
)

const (
	sinkName = "rehome_sink"
	sinkMost = 90 // columns; a function takes at most 100 arguments
)

// sink is where SQLite delivers rows. Its functions are known to the driver as
// a whole, not to one connection, and must be registered before that is opened:
// the one package-level state there is.
var sink struct {
	once  sync.Once
	err   error
	last  atomic.Int64
	scans sync.Map // handle -> receiver
}

func registerSink() error {
	sink.once.Do(func() {
		sink.err = sqlite.RegisterFunction(sinkName, &sqlite.FunctionImpl{NArgs: -1, VolatileArgs: true, Scalar: deliver})
	})
	return sink.err
}

// receiver takes rows from SQLite: a scan, or a look-up.
type receiver interface {
	row(values []driver.Value) error
}

func deliver(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
	if len(args) > 0 {
		if s, ok := sink.scans.Load(args[0]); ok {
			return nil, s.(receiver).row(args[1:])
		}
	}
	return nil, errors.New("no scan in progress")
}

var (
	errStopped = errors.New("the scan was stopped")
	errOrder   = errors.New("rows came out of row id order")
	errTwo     = errors.New("a scan of this database is already in progress")
)

// scan is one walk over one table, by either route.
type scan struct {
	ctx   context.Context
	set   int
	width int
	shape *shape
	batch *store.Batch
	yield func(*store.Batch, error) bool
	watch []watched // columns whose values might not come back
	given int64     // rows handed on
	spent *budget
	cost  int64 // of what was handed on
	seen  bool
	last  int64
	done  bool  // the receiver wants no more
	err   error // what stopped the scan, where SQLite would only say that something did
}

// Scan yields all rows of a table in batches: in rowid order, in primary key
// order where there are no rowids. A consumer may do anything in the loop but
// start another scan of the same database.
func (db *DB) Scan(ctx context.Context, set int, t Table) iter.Seq2[*store.Batch, error] {
	if sqlitepages.ByteOrder(db.pragmas.Encoding) != nil || len(t.Columns) > sinkMost {
		return db.ScanPlain(ctx, set, t)
	}
	return func(yield func(*store.Batch, error) bool) {
		// The loop's body must not run inside SQLite's frames: a panic or
		// a test's FailNow would leave them without unwinding the library's
		// own stack. A coroutine costs nothing at one switch a megabyte.
		next, stop := iter.Pull2(db.walk(ctx, set, t, (*DB).pour))
		defer stop()
		for {
			b, err, ok := next()
			if !ok || !yield(b, err) || err != nil {
				return
			}
		}
	}
}

// walk runs a route over a table and tells what became of it.
func (db *DB) walk(ctx context.Context, set int, t Table, route func(*DB, *scan, Table) error) iter.Seq2[*store.Batch, error] {
	return func(yield func(*store.Batch, error) bool) {
		if !db.scan.TryLock() {
			yield(nil, errTwo)
			return
		}
		defer db.scan.Unlock()
		s := &scan{ctx: ctx, set: set, width: len(t.Columns), shape: db.shapes[t.Name], spent: &db.spent, yield: yield}
		err := s.check(db, t)
		if err == nil && db.restorable {
			s.watch = s.shape.watch(t)
		}
		if err == nil {
			err = route(db, s, t)
		}
		if s.err != nil {
			err = s.err
		}
		if err == nil && !s.done && s.batch != nil {
			err = s.hand()
		}
		if s.batch != nil {
			s.batch.Release()
		}
		if err != nil && !s.done {
			yield(nil, db.blame(ctx, t.Name, err))
		}
	}
}

// check sees to it that the table is one of this file's: its names go into SQL.
func (s *scan) check(db *DB, t Table) error {
	if db.conn == nil {
		return errors.New("the database is closed")
	}
	if s.shape == nil {
		return fmt.Errorf("no such table")
	}
	for _, c := range t.Columns {
		if !slices.Contains(s.shape.Columns, c) {
			return fmt.Errorf("no such column %q", c)
		}
	}
	return s.ctx.Err()
}

// pour has SQLite call the sink with each row. NOT INDEXED keeps the planner
// from walking an index that covers the columns, in the index's order.
func (db *DB) pour(s *scan, t Table) error {
	handle := sink.last.Add(1)
	sink.scans.Store(handle, s)
	defer sink.scans.Delete(handle)
	var q strings.Builder
	q.WriteString("SELECT count(" + sinkName + "(?1")
	if s.shape.hasRow {
		q.WriteString("," + s.shape.ordinal())
	}
	for _, c := range t.Columns {
		q.WriteString("," + quote(c))
	}
	q.WriteString(")) FROM main." + quote(t.Name) + " NOT INDEXED")
	var n int64
	return db.conn.QueryRowContext(s.ctx, q.String(), handle).Scan(&n)
}

// row takes one row. The values are views of SQLite's memory and are gone when
// it returns.
func (s *scan) row(args []driver.Value) error {
	if s.shape.hasRow {
		id, ok := args[0].(int64)
		if !ok {
			return s.fail(fmt.Errorf("row id is a %T", args[0]))
		}
		if err := s.begin(id); err != nil {
			return err
		}
		args = args[1:]
	} else if err := s.begin(0); err != nil {
		return err
	}
	for _, v := range args {
		s.add(v)
	}
	return s.end(s.watch != nil && s.odd(args))
}

// end closes a record, and looks at its values where they are odd.
func (s *scan) end(odd bool) error {
	if odd {
		if err := s.comesBack(); err != nil {
			return s.fail(err)
		}
	}
	if s.batch.Full() {
		return s.hand()
	}
	return nil
}

func (s *scan) add(v driver.Value) {
	switch v := v.(type) {
	case nil:
		s.batch.AddNull()
	case int64:
		s.batch.AddInt(v)
	case float64:
		s.batch.AddReal(v)
	case string:
		s.batch.AddText(v)
	case []byte:
		s.batch.AddBytes(store.Blob, v)
	}
}

// begin opens a record and watches the order of row ids.
func (s *scan) begin(id int64) error {
	if s.shape.hasRow {
		if s.seen && id <= s.last {
			return s.fail(&formats.Error{Err: fmt.Errorf("%w (%d after %d): malformed pages", errOrder, id, s.last), Hint: "run `sqlite3 FILE .recover` to save what is readable, or restore a backup"})
		}
		s.seen, s.last = true, id
	}
	if s.batch == nil {
		s.batch = store.NewBatch(s.set, s.width)
	}
	if !s.shape.RowIDs {
		id = 0
	}
	s.batch.Row(id)
	return nil
}

// hand gives the batch away.
func (s *scan) hand() error {
	b := s.batch
	s.batch, s.given = nil, s.given+int64(b.Rows())
	s.cost += cost(b.Rows(), b.Size())
	if err := s.spent.grew(s.shape.Name, s.cost); err != nil {
		b.Release()
		return s.fail(err)
	}
	if !s.yield(b, nil) {
		s.done = true
		return s.fail(errStopped)
	}
	if err := s.ctx.Err(); err != nil {
		return s.fail(err)
	}
	return nil
}

func (s *scan) fail(err error) error {
	s.err = err
	return err
}

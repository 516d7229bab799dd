package sqlitefile

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"sync"

	"rehome/formats"
	"rehome/formats/store"
	"rehome/internal/scratch"
)

const defaultMaxCopy = 2 << 30

// Options of Open.
type Options struct {
	Live     bool         // read in place where -wal and -shm already exist
	OnNotice func(string) // one line when the file was not simply opened in place
	Verbose  bool         // also report that it is read from a copy
	Scratch  string       // folder for copies; "" is the system's
	MaxCopy  int64        // 0 is 2 GiB
	Known    *Known       // what earlier databases taught; may be nil
	// RequireRestorable refuses, while scanning, values that a Writer would refuse:
	// they could be turned into text, but not back.
	RequireRestorable bool

	seam func() // of tests: see source
}

func (o *Options) source(path, real string) *source {
	s := &source{path: path, real: real, seam: o.seam}
	if s.seam == nil {
		s.seam = func() {}
	}
	return s
}

// DB is an open database: one connection, one read transaction. It belongs to
// one goroutine, and one scan runs at a time.
type DB struct {
	*source
	connection
	watched *state       // what the source was, where it is read in place
	copy    *scratch.Dir // with the copy
	scan    sync.Mutex
	spent   budget
	pragmas store.Pragmas
	objects []store.Object
	tables  []Table
	shapes  map[string]*shape

	restorable bool
}

// Open opens a database for reading. The file is never changed, and no file
// appears beside it.
func Open(ctx context.Context, path string, o Options) (*DB, error) {
	real, err := resolve(path)
	if err != nil {
		return nil, err
	}
	db := &DB{source: o.source(path, real), restorable: o.RequireRestorable}
	st, _, err := db.steady(ctx)
	if err != nil {
		if d, ok := err.(*Damage); ok {
			err = d.Err
		}
		return nil, err
	}
	if o.OnNotice == nil {
		o.OnNotice = func(string) {}
	}
	if o.Known == nil {
		o.Known = new(Known)
	}
	switch {
	case !st.hot():
		err = db.inPlace(ctx, &st, o.Known)
	case o.Live && st.inPlace():
		err = db.live(ctx, o)
	default:
		err = db.fromCopy(ctx, st, o)
	}
	if err != nil {
		return nil, err
	}
	return db, nil
}

// inPlace opens a file that nobody writes to where it lies.
func (db *DB) inPlace(ctx context.Context, st *state, known *Known) error {
	db.watched = st
	return db.begin(ctx, db.real, "mode=ro&immutable=1", known)
}

// begin opens the file and reads everything but the rows.
func (db *DB) begin(ctx context.Context, file, query string, known *Known) error {
	db.seam()
	err := db.connect(ctx, file, query)
	if err == nil {
		db.seam()
		err = db.load(ctx, known)
	}
	if err == nil {
		return nil
	}
	err = db.blame(ctx, "", err)
	db.watched = nil // the first error is the one to tell
	db.Close()
	return err
}

func orContext(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// live opens a database in use where it lies. SQLite then moves lock bytes in
// the owner's -shm; it would create that file if it were not there.
func (db *DB) live(ctx context.Context, o Options) error {
	o.OnNotice(filepath.Base(db.path) + " is read in place while in use; only lock bytes in its -shm may change")
	db.spent.bytes = mostValue // which may be written to it until it is read
	return db.begin(ctx, db.real, "mode=ro", o.Known)
}

// fromCopy opens a private copy, where SQLite may recover what it has to.
func (db *DB) fromCopy(ctx context.Context, st state, o Options) error {
	to, err := db.copied(ctx, st, o, db.snapshot)
	if err == nil {
		err = db.begin(ctx, to, "mode=rw", o.Known)
	}
	if err != nil {
		db.Close()
	}
	return err
}

// copied makes a folder for a private copy, and the copy in it.
func (db *DB) copied(ctx context.Context, st state, o Options, take func(ctx context.Context, dir string, st state) (string, error)) (string, error) {
	where, most := o.Scratch, o.MaxCopy
	if where == "" {
		where = os.TempDir()
	}
	if most == 0 {
		most = defaultMaxCopy
	}
	if err := room(db.path, where, st, most); err != nil {
		return "", err
	}
	private, err := scratch.New(where, "copy")
	if err != nil {
		return "", &formats.Error{At: where, Err: err, Hint: "make it writable, or set TMPDIR to another folder; databases in use are copied there"}
	}
	db.copy = private
	dir, err := filepath.Abs(private.Path)
	if err != nil {
		return "", err
	}
	to, err := take(ctx, dir, st)
	if err != nil {
		return "", err
	}
	pending := "changes in its write-ahead log (" + size(st.wal.size) + ")"
	if st.wal.size == 0 {
		pending = "an unfinished transaction in its rollback journal (" + size(st.journal.size) + ")"
	}
	if o.Verbose {
		o.OnNotice(db.path + " has " + pending + "; read from a copy")
	}
	return to, nil
}

// connect opens the one connection and begins the one transaction. What may come
// of the file is bounded by its size as it is now: a copy of one that somebody
// writes to can be larger than the file was when it was looked at first.
func (db *DB) connect(ctx context.Context, file, query string) (err error) {
	if err = registerSink(); err != nil {
		return err
	}
	for _, suffix := range []string{"", "-wal", "-journal"} {
		if info, err := os.Stat(file + suffix); err == nil {
			db.spent.bytes += info.Size()
		}
	}
	if err = db.dial(ctx, uri(file, query+"&_dqs=0&_defensive=1"), readLimits(db.spent.bytes)); err != nil {
		return err
	}
	// cell_size_check: pages come from strangers, look before reading a cell.
	return run(ctx, db.conn, "PRAGMA busy_timeout=5000; PRAGMA synchronous=OFF; PRAGMA trusted_schema=OFF; PRAGMA cell_size_check=ON; PRAGMA ignore_check_constraints=ON; BEGIN")
}

func run(ctx context.Context, c *sql.Conn, statements ...string) error {
	for _, s := range statements {
		if _, err := c.ExecContext(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// Close lets go of the database and removes the copy, if there was one. It
// reports a source read in place that is not what it was at Open.
func (db *DB) Close() error {
	if db.copy != nil {
		// Without its name SQLite does not write the log back into a
		// file that is about to go. Where names of open files cannot be
		// taken away it does, and it is removed below.
		os.Remove(filepath.Join(db.copy.Path, "copy.db"))
	}
	errs := []error{db.disconnect()}
	errs = append(errs, db.copy.Remove())
	db.copy = nil
	if db.watched != nil {
		errs = append(errs, db.moved(*db.watched))
		db.watched = nil
	}
	return errors.Join(errs...)
}

// connection is the one connection to a file.
type connection struct {
	pool *sql.DB
	conn *sql.Conn
}

func (c *connection) dial(ctx context.Context, uri string, limits map[int]int) (err error) {
	if c.pool, err = sql.Open("sqlite", uri); err != nil {
		return err
	}
	c.pool.SetMaxOpenConns(1)
	if c.conn, err = c.pool.Conn(ctx); err != nil {
		return err
	}
	return limit(c.conn, limits)
}

func (c *connection) disconnect() error {
	var errs []error
	if c.conn != nil {
		errs = append(errs, c.conn.Close())
	}
	if c.pool != nil {
		errs = append(errs, c.pool.Close())
	}
	*c = connection{}
	return errors.Join(errs...)
}

// blame explains an error of reading. Pages that a writer replaced meanwhile
// look damaged; then the writer is the reason to tell.
func (db *DB) blame(ctx context.Context, table string, err error) error {
	if err != nil && db.watched != nil && ctx.Err() == nil {
		if moved := db.moved(*db.watched); moved != nil {
			return moved
		}
	}
	return explain(ctx, db.path, table, err)
}

// Size returns the bytes of the file and its log, which are no fewer than those
// of its rows.
func (db *DB) Size() (n int64) {
	for _, suffix := range []string{"", "-wal"} {
		if info, err := os.Stat(db.real + suffix); err == nil {
			n += info.Size()
		}
	}
	return n
}

// Pragmas are the settings in the file's header.
func (db *DB) Pragmas() store.Pragmas { return db.pragmas }

// Objects are the entries of sqlite_schema in their order, automatic indexes
// left out.
func (db *DB) Objects() []store.Object { return db.objects }

// Tables are the tables that hold rows of their own: ordinary ones, the
// shadows of virtual ones and SQLite's books; not virtual tables, not views.
func (db *DB) Tables() []Table { return db.tables }

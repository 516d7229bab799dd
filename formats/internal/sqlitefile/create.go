package sqlitefile

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"modernc.org/sqlite"

	"rehome/formats"
	"rehome/formats/internal/sqliteddl"
	"rehome/formats/internal/sqlitepages"
	"rehome/formats/store"
)

// TableSet says which batches (Batch.Set) go to which table.
type TableSet struct {
	Set   int
	Table Table
}

// Writer fills a fresh database. It belongs to one goroutine.
type Writer struct {
	path   string
	schema store.Database
	connection
	tables map[int]*target
	held   []*store.Batch // rows of sqlite_sequence, written last
	heldBy int            // their bytes
	limit  int            // longest value SQLite will make
	done   bool
	insert inserter
}

// Create builds a fresh file from a schema that only holds data; nothing may be
// at path yet. The files of known clients are made so: their schemas come from
// text that others can write to, and must not run SQL of theirs in the client.
func Create(ctx context.Context, path string, d store.Database, sets []TableSet) (*Writer, error) {
	return create(ctx, path, d, sets, sqliteddl.NoCode)
}

// CreateWithCode is Create for any other database, whose schema is its owner's
// business. Tables and indexes are there at once, views, triggers and virtual
// tables stay idle until the file is next opened.
func CreateWithCode(ctx context.Context, path string, d store.Database, sets []TableSet) (*Writer, error) {
	return create(ctx, path, d, sets, sqliteddl.AnyCode)
}

// CreateCascading is Create for a client whose rows go with those that they belong to.
func CreateCascading(ctx context.Context, path string, d store.Database, sets []TableSet) (*Writer, error) {
	return create(ctx, path, d, sets, sqliteddl.Cascades)
}

func create(ctx context.Context, path string, d store.Database, sets []TableSet, code sqliteddl.Allowed) (*Writer, error) {
	entries, err := sqliteddl.Vet(d, code)
	if err != nil {
		e := &formats.Error{At: path, Err: err}
		if errors.Is(err, sqliteddl.ErrCode) {
			e.Hint = "restore the text from a trusted version; use --to sqlite to inspect it, but do not open that file with the client"
		}
		return nil, e
	}
	path, err = filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	// Sessions are nobody else's business: the file starts out private.
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		if errors.Is(err, os.ErrExist) {
			err = formats.ErrExists
		}
		return nil, &formats.Error{At: path, Err: err}
	}
	w := &Writer{path: path, schema: d, tables: map[int]*target{}}
	if err = f.Close(); err == nil {
		err = w.begin(ctx, entries, sets)
	}
	if err != nil {
		w.Close()
		return nil, explain(ctx, path, "", err)
	}
	return w, nil
}

// begin opens the file and lays the schema. The target is new: what fails is
// thrown away, so neither a journal nor a sync earns its keep.
func (w *Writer) begin(ctx context.Context, entries []sqliteddl.Object, sets []TableSet) error {
	if err := w.connect(ctx); err != nil {
		return err
	}
	p := w.schema.Pragmas
	err := run(ctx, w.conn,
		fmt.Sprintf("PRAGMA page_size=%d", p.PageSize),
		fmt.Sprintf("PRAGMA encoding='%s'", p.Encoding),
		fmt.Sprintf("PRAGMA auto_vacuum=%d", p.AutoVacuum),
		"PRAGMA journal_mode=OFF", "PRAGMA synchronous=OFF", "PRAGMA locking_mode=EXCLUSIVE",
		"PRAGMA foreign_keys=OFF", "PRAGMA trusted_schema=OFF",
		// Rows that break a CHECK exist in real files and must survive.
		"PRAGMA ignore_check_constraints=ON",
		"BEGIN EXCLUSIVE",
		fmt.Sprintf("PRAGMA user_version=%d", p.UserVersion),
		fmt.Sprintf("PRAGMA application_id=%d", p.ApplicationID),
	)
	if err != nil {
		return err
	}
	if err := w.lay(ctx, entries); err != nil {
		return err
	}
	tables, computes := map[string]*sqliteddl.Object{}, map[string]bool{}
	for i, e := range entries {
		if e.Type == "table" && !e.Virtual {
			tables[e.Name] = &entries[i]
		}
		computes[sqliteddl.Fold(e.Table)] = computes[sqliteddl.Fold(e.Table)] || e.Effort != sqliteddl.Effort{}
	}
	for _, s := range sets {
		if err := w.aim(ctx, s, tables[s.Table.Name], computes); err != nil {
			return &formats.Error{At: w.path, Pointer: "table " + s.Table.Name, Err: err}
		}
	}
	return nil
}

func (w *Writer) connect(ctx context.Context) error {
	if err := w.dial(ctx, uri(w.path, "mode=rw"), map[int]int{limitLike: mostPattern, limitAttach: 0, limitNested: 1}); err != nil {
		return err
	}
	w.limit = 0
	return w.allow(w.longestSQL())
}

// allow sets the longest value SQLite will handle, with some room: a record
// and its text in UTF-16. An index on an expression of the archive's choosing
// must not make gigabytes out of a short row.
func (w *Writer) allow(longest int) error {
	n := 1 << 20
	for n < 4*longest && n < 1<<30 {
		n *= 2
	}
	if 4*longest > n {
		n = 1<<31 - 1
	}
	if n == w.limit {
		return nil
	}
	w.limit = n
	return limit(w.conn, map[int]int{limitLength: n})
}

func (w *Writer) longestSQL() (n int) {
	for _, o := range w.schema.Objects {
		n = max(n, len(o.SQL)+len(o.Name)+len(o.Table))
	}
	return n
}

// lay makes the objects in their order.
func (w *Writer) lay(ctx context.Context, entries []sqliteddl.Object) error {
	if !slices.ContainsFunc(entries, sqliteddl.Object.Runs) && len(entries) > 0 {
		// Only a table fixes the encoding in the header.
		if err := run(ctx, w.conn, "CREATE TABLE rehome_first(x)", "DROP TABLE rehome_first"); err != nil {
			return err
		}
	}
	for _, e := range entries {
		if err := w.layOne(ctx, e); err != nil {
			return &formats.Error{At: w.path, Pointer: fmt.Sprintf("schema: %s %q", e.Type, e.Name), Err: orContext(ctx, err)}
		}
	}
	return nil
}

func (w *Writer) layOne(ctx context.Context, e sqliteddl.Object) error {
	if !e.Runs() {
		// The row alone: the object is not there for this connection, so no
		// trigger fires and no module's code runs while rows go in.
		return w.unlocked(ctx, func() error {
			_, err := w.conn.ExecContext(ctx, "INSERT INTO sqlite_schema(type,name,tbl_name,rootpage,sql) VALUES(?1,?2,?3,0,?4)", e.Type, e.Name, e.Table, e.SQL)
			return err
		})
	}
	if !e.System() {
		return w.runCreate(ctx, e.SQL)
	}
	var there int
	if err := w.conn.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema WHERE name=?1", e.Name).Scan(&there); err != nil || there > 0 {
		return err // sqlite_sequence comes along with the first AUTOINCREMENT
	}
	return w.unlocked(ctx, func() error { return w.runCreate(ctx, e.SQL) })
}

// unlocked lets one step touch SQLite's own tables.
func (w *Writer) unlocked(ctx context.Context, step func() error) error {
	if err := run(ctx, w.conn, "PRAGMA writable_schema=ON"); err != nil {
		return err
	}
	return errors.Join(step(), run(ctx, w.conn, "PRAGMA writable_schema=OFF"))
}

// runCreate runs a statement of the archive's, under an authorizer as a second
// lock behind the one in vet.
func (w *Writer) runCreate(ctx context.Context, statement string) error {
	if err := w.guard(createsOnly); err != nil {
		return err
	}
	return errors.Join(run(ctx, w.conn, statement), w.guard(nil))
}

func (w *Writer) guard(fn sqlite.AuthorizerFn) error {
	return w.conn.Raw(func(c any) error { return c.(sqlite.AuthorizerRegisterer).RegisterAuthorizer(fn) })
}

func createsOnly(action sqlite.AuthorizerActionCode, name, _, _, _ string) sqlite.AuthorizerReturnCode {
	switch action {
	case sqlite.AuthCreateTable, sqlite.AuthCreateIndex, sqlite.AuthRead, sqlite.AuthFunction, sqlite.AuthReindex, sqlite.AuthSelect:
		return sqlite.AuthorizerOK
	case sqlite.AuthInsert, sqlite.AuthUpdate, sqlite.AuthDelete:
		if sqliteddl.SameName(name, "sqlite_master") {
			return sqlite.AuthorizerOK
		}
	}
	return sqlite.AuthorizerDeny
}

// aim connects a set with its table.
func (w *Writer) aim(ctx context.Context, s TableSet, e *sqliteddl.Object, computes map[string]bool) error {
	if e == nil {
		return errors.New("not in the schema")
	}
	sh, err := describe(ctx, w.conn, s.Table.Name, e.SQL)
	if err != nil {
		return err
	}
	if !slices.Equal(sh.Columns, s.Table.Columns) {
		return fmt.Errorf("its columns are %q, not %q", sh.Columns, s.Table.Columns)
	}
	if s.Table.RowIDs && !sh.RowIDs {
		return errors.New("its schema and its rows disagree about row ids")
	}
	sh.RowIDs = s.Table.RowIDs // without row ids, rows get some in the order they come
	w.tables[s.Set] = &target{shape: sh, utf16: sqlitepages.ByteOrder(w.schema.Pragmas.Encoding), computes: computes[sqliteddl.Fold(sh.Name)]}
	return nil
}

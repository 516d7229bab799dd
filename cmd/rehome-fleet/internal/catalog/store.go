package catalog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"rehome/cmd/rehome-fleet/internal/tables"
)

// Loader loads stores through one connection.
type Loader struct {
	*database
	conn *pgx.Conn
}

// Key is what a store is known by, and the unit of its rows.
type Key struct{ Machine, Store, Unit string }

// version is that of the tables. Tables of another version are refused.
const version = "rehome catalog 1"

func (l *Loader) table(name string) string { return pgx.Identifier{l.Schema(), name}.Sanitize() }

// Open returns a loader of the catalog at an address. It connects, and creates the tables, when
// there is something to load.
func Open(address string) (*Loader, error) {
	d, err := parse(address)
	return &Loader{database: d}, err
}

// connected connects, unless that was done.
func (l *Loader) connected(ctx context.Context) (err error) {
	if l.conn != nil {
		return nil
	}
	if l.conn, err = l.connect(ctx); err == nil {
		err = l.prepare(ctx)
	}
	return l.fail(ctx, err)
}

// Close ends the connection.
func (l *Loader) Close(ctx context.Context) error {
	if l.conn == nil {
		return nil
	}
	return l.conn.Close(context.WithoutCancel(ctx))
}

// begin starts a transaction that does not depend on settings of the role or the database:
// it sees what others committed before it got a lock, calls PostgreSQL's own functions, and
// fails where a policy would hide rows, which would be loaded twice.
func (l *Loader) begin(ctx context.Context) (pgx.Tx, error) {
	tx, err := l.conn.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.ReadCommitted, AccessMode: pgx.ReadWrite})
	if err != nil {
		return nil, err
	}
	if _, err := tx.Exec(ctx, "SET LOCAL search_path = pg_catalog; SET LOCAL row_security = off"); err != nil {
		return nil, errors.Join(err, tx.Rollback(context.WithoutCancel(ctx)))
	}
	return tx, nil
}

// prepare creates the tables, unless they exist.
func (l *Loader) prepare(ctx context.Context) error {
	tx, err := l.begin(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	if err := l.lock(ctx, tx, "schema"); err != nil {
		return err
	}
	var comment *string
	err = tx.QueryRow(ctx, `SELECT obj_description(oid, 'pg_namespace') FROM pg_namespace WHERE nspname = $1`, l.Schema()).Scan(&comment)
	switch {
	case err == nil && comment != nil && *comment == version:
		return tx.Commit(ctx)
	case err == nil:
		return fmt.Errorf("the schema %q is not a catalog of this version", l.Schema())
	case !errors.Is(err, pgx.ErrNoRows):
		return err
	}
	script := fmt.Sprintf("CREATE SCHEMA %s; COMMENT ON SCHEMA %s IS '%s';", pgx.Identifier{l.Schema()}.Sanitize(), pgx.Identifier{l.Schema()}.Sanitize(), version)
	script += fmt.Sprintf("CREATE TABLE %s (machine text NOT NULL, store text NOT NULL, unit_id text, format text, sessions bigint NOT NULL, digest text NOT NULL, loaded_at timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (machine, store));", l.table("stores"))
	for _, t := range shapes() {
		script += l.create(t.table, t.columns)
	}
	if _, err := tx.Exec(ctx, script); err != nil {
		return err
	}
	return tx.Commit(ctx)
}

// create returns the SQL of a table.
func (l *Loader) create(name string, columns []tables.Column) string {
	types := map[reflect.Type]string{
		reflect.TypeFor[string](): "text", reflect.TypeFor[int64](): "bigint", reflect.TypeFor[bool](): "boolean",
		reflect.TypeFor[time.Time](): "timestamptz", reflect.TypeFor[[]string](): "text[]",
	}
	var list []string
	for _, c := range columns {
		kind := types[c.Type]
		if c.Name == "machine" || c.Name == "store" {
			kind += " NOT NULL"
		}
		list = append(list, pgx.Identifier{c.Name}.Sanitize()+" "+kind)
	}
	return fmt.Sprintf("CREATE TABLE %s (%s); CREATE INDEX ON %s (machine, store);", l.table(name), strings.Join(list, ", "), l.table(name))
}

// lock waits for other loaders of the same thing until the end of the transaction.
func (l *Loader) lock(ctx context.Context, tx pgx.Tx, what ...string) error {
	_, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtextextended($1, 0))`, strings.Join(append([]string{version, l.Schema()}, what...), "\x1f"))
	return err
}

// Loaded returns the digests of those of the stores that were last loaded with a unit.
func (l *Loader) Loaded(ctx context.Context, machine, unit string, stores []string) (map[string]string, error) {
	out := map[string]string{}
	if err := l.connected(ctx); err != nil {
		return nil, err
	}
	found, err := l.conn.Query(ctx, "SELECT store, digest FROM "+l.table("stores")+" WHERE machine = $1 AND unit_id = $2 AND store = ANY($3)", machine, unit, stores)
	if err == nil {
		var store, digest string
		_, err = pgx.ForEachRow(found, []any{&store, &digest}, func() error {
			out[store] = digest
			return nil
		})
	}
	return out, l.fail(ctx, err)
}

// Load replaces what was loaded of a store before with the rows of a file, unless they are
// the same. The digest is that of the file. ErrRows means that the file cannot be loaded.
func (l *Loader) Load(ctx context.Context, k Key, f io.ReadSeeker, digest string) (sessions int64, status string, err error) {
	// Before the database is asked: every row, and how many there are.
	all, format, err := readRows(f, nil, [placeColumns]any{})
	if err != nil {
		return 0, "", err
	}
	for all.Next() {
	}
	if all.err != nil {
		return 0, "", all.err
	}
	if err := l.connected(ctx); err != nil {
		return 0, "", err
	}
	k.Machine, _ = noNUL(k.Machine)
	k.Store, _ = noNUL(k.Store)
	tx, err := l.begin(ctx)
	if err != nil {
		return 0, "", l.fail(ctx, err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	if status, err = l.replace(ctx, tx, k, f, all.count, []any{k.Machine, k.Store, text(k.Unit), text(format), all.count["sessions"], digest}); err == nil {
		err = tx.Commit(ctx)
	}
	if pe := (*pgconn.PgError)(nil); errors.As(err, &pe) && (strings.HasPrefix(pe.Code, "22") || strings.HasPrefix(pe.Code, "54")) {
		// A value that no column or index takes, such as a very long path.
		return 0, "", fmt.Errorf("%w: %w", ErrRows, l.fail(ctx, err))
	}
	return all.count["sessions"], status, l.fail(ctx, err)
}

// replace loads rows in a transaction. receipt is the row of the table stores.
func (l *Loader) replace(ctx context.Context, tx pgx.Tx, k Key, f io.ReadSeeker, count map[string]int64, receipt []any) (status string, err error) {
	if err := l.lock(ctx, tx, "store", k.Machine, k.Store); err != nil {
		return "", err
	}
	var same bool
	err = tx.QueryRow(ctx, "SELECT digest = $3 AND unit_id IS NOT DISTINCT FROM $4 FROM "+l.table("stores")+" WHERE machine = $1 AND store = $2", k.Machine, k.Store, receipt[5], receipt[2]).Scan(&same)
	switch {
	case same && err == nil:
		return Unchanged, nil
	case err != nil && !errors.Is(err, pgx.ErrNoRows):
		return "", err
	case err == nil:
		for _, name := range []string{"stores", "sessions", "losses", "findings"} {
			if _, err := tx.Exec(ctx, "DELETE FROM "+l.table(name)+" WHERE machine = $1 AND store = $2", k.Machine, k.Store); err != nil {
				return "", err
			}
		}
	}
	for _, s := range shapes() {
		if count[s.table] == 0 {
			continue
		}
		in, _, err := readRows(f, &s, [placeColumns]any{k.Machine, receipt[2], k.Store})
		if err != nil {
			return "", err
		}
		n, err := tx.CopyFrom(ctx, pgx.Identifier{l.Schema(), s.table}, names(s.columns), in)
		if err = cmp.Or(in.err, err); err == nil && n != count[s.table] {
			err = fmt.Errorf("%d of %d rows of %s were written", n, count[s.table], s.table)
		}
		if err != nil {
			return "", err
		}
	}
	_, err = tx.CopyFrom(ctx, pgx.Identifier{l.Schema(), "stores"}, []string{"machine", "store", "unit_id", "format", "sessions", "digest"}, pgx.CopyFromRows([][]any{receipt}))
	return Loaded, err
}

// text returns NULL for "".
func text(s string) any {
	if s, _ = noNUL(s); s == "" {
		return nil
	}
	return s
}

func names(columns []tables.Column) (out []string) {
	for _, c := range columns {
		out = append(out, c.Name)
	}
	return out
}

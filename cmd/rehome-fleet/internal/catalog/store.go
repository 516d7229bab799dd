package catalog

import (
	"context"
	"errors"
	"fmt"
	"path"
	"reflect"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"rehome/cmd/rehome-fleet/internal/tables"
	"rehome/formats/loss"
)

// loader loads stores through one connection.
type loader struct {
	*database
	conn *pgx.Conn
	meta tables.Meta
	base string
}

// version is that of the tables. Tables of another version are refused.
const version = "rehome catalog 1"

func (l *loader) table(name string) string { return pgx.Identifier{l.Schema(), name}.Sanitize() }

// open connects, and creates the tables.
func (l *loader) open(ctx context.Context) (err error) {
	if l.conn, err = l.connect(ctx); err != nil {
		return l.fail(ctx, err)
	}
	if err = l.prepare(ctx); err != nil {
		_ = l.conn.Close(context.WithoutCancel(ctx))
	}
	return l.fail(ctx, err)
}

// begin starts a transaction that does not depend on settings of the role or the database:
// it sees what others committed before it got a lock, calls PostgreSQL's own functions, and
// fails where a policy would hide rows, which would be loaded twice.
func (l *loader) begin(ctx context.Context) (pgx.Tx, error) {
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
func (l *loader) prepare(ctx context.Context) error {
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
	for name, columns := range map[string][]tables.Column{"sessions": tables.Columns[tables.Session](), "losses": tables.Columns[tables.Loss]()} {
		script += l.create(name, columns)
	}
	script += fmt.Sprintf("CREATE TABLE %s (machine text NOT NULL, unit_id text, store text NOT NULL, rule text, severity text, title text, count bigint); CREATE INDEX ON %s (machine, store);", l.table("findings"), l.table("findings"))
	if _, err := tx.Exec(ctx, script); err != nil {
		return err
	}
	return tx.Commit(ctx)
}

// create returns the SQL of a table.
func (l *loader) create(name string, columns []tables.Column) string {
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
func (l *loader) lock(ctx context.Context, tx pgx.Tx, what ...string) error {
	_, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtextextended($1, 0))`, strings.Join(append([]string{version, l.Schema()}, what...), "\x1f"))
	return err
}

// load loads one store.
func (l *loader) load(ctx context.Context, c *content) error {
	digest, err := c.digest()
	if err != nil {
		return err
	}
	machine, _ := noNUL(l.meta.Machine)
	store, _ := noNUL(path.Join(l.base, c.report.Path))
	tx, err := l.begin(ctx)
	if err != nil {
		return l.fail(ctx, err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	err = l.replace(ctx, tx, c, machine, store, digest)
	if err == nil {
		err = tx.Commit(ctx)
	}
	return l.fail(ctx, err)
}

// replace replaces what was loaded of a store before, unless it is the same.
func (l *loader) replace(ctx context.Context, tx pgx.Tx, c *content, machine, store, digest string) error {
	if err := l.lock(ctx, tx, "store", machine, store); err != nil {
		return err
	}
	sessions, losses, findings := c.rows(machine, store, l.meta.Unit)
	r := c.report
	r.Status, r.Sessions, r.Losses, r.Findings = Loaded, len(sessions), len(losses), len(findings)
	var was string
	err := tx.QueryRow(ctx, "SELECT digest FROM "+l.table("stores")+" WHERE machine = $1 AND store = $2", machine, store).Scan(&was)
	switch {
	case err == nil && was == digest:
		r.Status = Unchanged
		return nil
	case err != nil && !errors.Is(err, pgx.ErrNoRows):
		return err
	}
	for _, name := range []string{"stores", "sessions", "losses", "findings"} {
		if _, err := tx.Exec(ctx, "DELETE FROM "+l.table(name)+" WHERE machine = $1 AND store = $2", machine, store); err != nil {
			return err
		}
	}
	for _, one := range []struct {
		name    string
		columns []string
		rows    [][]any
	}{
		{"sessions", names(tables.Columns[tables.Session]()), sessions},
		{"losses", names(tables.Columns[tables.Loss]()), losses},
		{"findings", []string{"machine", "unit_id", "store", "rule", "severity", "title", "count"}, findings},
		{"stores", []string{"machine", "store", "unit_id", "format", "sessions", "digest"}, [][]any{{machine, store, text(l.meta.Unit), text(r.Format), int64(len(sessions)), digest}}},
	} {
		if len(one.rows) == 0 {
			continue
		}
		n, err := tx.CopyFrom(ctx, pgx.Identifier{l.Schema(), one.name}, one.columns, pgx.CopyFromRows(one.rows))
		if err == nil && n != int64(len(one.rows)) {
			err = fmt.Errorf("%d of %d rows of %s were written", n, len(one.rows), one.name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// rows returns the rows of a store, as PostgreSQL can hold them.
func (c *content) rows(machine, store, unit string) (sessions, losses, findings [][]any) {
	place := func(o *tables.Origin) { o.Machine, o.Store = machine, store }
	for _, s := range c.Sessions {
		place(&s.Origin)
		row, n := clean(s.Origin, tables.Values(s))
		if n == 0 {
			sessions = append(sessions, row)
			continue
		}
		s.LossesReported += n
		row, _ = clean(s.Origin, tables.Values(s))
		sessions = append(sessions, row)
		g := loss.Loss{Code: loss.TextRepaired}.Group()
		l := &tables.Loss{Origin: s.Origin, Code: string(g.Code), Kind: g.Kind.String(), Consequence: string(g.Consequence), What: g.What, Count: n}
		row, _ = clean(l.Origin, tables.Values(l))
		losses = append(losses, row)
	}
	for _, l := range c.Losses {
		place(&l.Origin)
		row, _ := clean(l.Origin, tables.Values(l))
		losses = append(losses, row)
	}
	for _, f := range c.Findings {
		findings = append(findings, []any{machine, text(unit), store, f.Rule, f.Severity, f.Title, f.Count})
	}
	return sessions, losses, findings
}

// clean replaces U+0000 in the values of a row, and counts the values that have any.
func clean(o tables.Origin, row []any) (_ []any, repaired int64) {
	for i, v := range row {
		switch v := v.(type) {
		case string:
			if s, some := noNUL(v); some {
				row[i] = s
				repaired++
			}
		case []string:
			for k, s := range v {
				if s, some := noNUL(s); some {
					v[k] = s
					repaired++
				}
			}
		}
	}
	row[0], row[2] = o.Machine, o.Store // never NULL here
	return row, repaired
}

func noNUL(s string) (string, bool) {
	return strings.ReplaceAll(s, "\x00", "\uFFFD"), strings.Contains(s, "\x00")
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

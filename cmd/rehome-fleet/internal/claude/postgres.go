package claude

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"rehome/formats"
	"rehome/formats/loss"
)

// postgres is a table with a row for each entry.
type postgres struct {
	config *pgx.ConnConfig
	table  pgx.Identifier // with its schema, if the address has one
}

const defaultTable = "claude_session_entries"

func newPostgres(u *url.URL, options url.Values) (layout, string, error) {
	name := option(options, "table")
	if name == "" {
		name = defaultTable
	}
	// The adapter puts the name into its statements as it is, so that PostgreSQL folds it.
	if !regexp.MustCompile(`^([A-Za-z_][A-Za-z0-9_]{0,62}\.)?[A-Za-z_][A-Za-z0-9_]{0,55}$`).MatchString(name) {
		return nil, "", errors.New("table is not a name of letters, digits and _, with or without a schema")
	}
	server := *u
	server.Scheme, server.RawQuery = "postgres", options.Encode()
	config, err := pgx.ParseConfig(server.String())
	if err != nil { // the error quotes parts of the address
		return nil, "", &formats.Error{Err: errors.New("invalid address or environment of PostgreSQL"), Hint: "such as claude+postgres://host/database?table=" + defaultTable}
	}
	p := &postgres{config: config, table: strings.Split(strings.ToLower(name), ".")}
	return p, fmt.Sprintf("%s:%d/%s?table=%s", config.Host, config.Port, config.Database, strings.ToLower(name)), nil
}

// connect begins a transaction. The errors of pgx name the server and the user, not the password.
func (p *postgres) connect(ctx context.Context, o pgx.TxOptions) (*pgx.Conn, pgx.Tx, error) {
	c, err := pgx.ConnectConfig(ctx, p.config.Copy())
	if err != nil {
		return nil, nil, &formats.Error{Err: serverError(err), Hint: "check the server, and give credentials in PGPASSWORD, a password file or a service file"}
	}
	tx, err := c.BeginTx(ctx, o)
	if err == nil { // rows that a policy hides are an error, and not left out
		_, err = tx.Exec(ctx, "SET LOCAL row_security = off")
	}
	if err != nil {
		c.Close(context.WithoutCancel(ctx))
		return nil, nil, serverError(err)
	}
	return c, tx, nil
}

// serverError returns an error without what the server quotes of the data.
func serverError(err error) error {
	if pe := (*pgconn.PgError)(nil); errors.As(err, &pe) {
		hint := ""
		switch {
		case pe.Code == "42P01": // no such table
			return &formats.Error{Err: errors.New("no sessions: the table does not exist"), Hint: "name the table in the address: ?table=NAME"}
		case pe.Code == "42703": // no such column
			hint = "name a table of this layout in the address: ?table=NAME"
		case strings.Contains(pe.Message, "row-level security"):
			hint = "connect as a role that sees all rows, such as the owner or one with BYPASSRLS"
		}
		return &formats.Error{Err: fmt.Errorf("%s (%s)", pe.Message, pe.Code), Hint: hint}
	}
	if ce := (*pgconn.ConnectError)(nil); errors.As(err, &ce) {
		return fmt.Errorf("cannot connect:\n%w", ce.Unwrap()) // a line for each attempt
	}
	return err
}

// columns are those of the layout, with entries as text. One that is too long is null.
const columns = `SELECT e.project_key, e.session_id, e.subpath, CASE WHEN octet_length(t.entry) <= %d THEN t.entry END
FROM %s e CROSS JOIN LATERAL (SELECT e.entry::text OFFSET 0) t (entry) WHERE %s
ORDER BY e.project_key, e.session_id, e.subpath, e.id`

// rows calls put with the rows of the layout that meet a condition.
func (p *postgres) rows(ctx context.Context, tx pgx.Tx, put func(k key, line []byte) error, note func(code loss.Code, place string), where string, args ...any) error {
	format := []any{pgx.QueryResultFormats{pgx.TextFormatCode}}
	rows, err := tx.Query(ctx, fmt.Sprintf(columns, maxLine, p.table.Sanitize(), where), append(format, args...)...)
	if err != nil {
		return serverError(err)
	}
	defer rows.Close()
	for rows.Next() {
		v := rows.RawValues()
		k := key{string(v[0]), string(v[1]), string(v[2])}
		switch {
		case v[2] != nil && len(v[2]) == 0:
			note(loss.RowNoSubpath, k.String())
		case v[3] == nil:
			note(loss.EntryUnusable, k.String())
		default:
			if err := put(k, v[3]); err != nil {
				return err
			}
		}
	}
	return serverError(rows.Err())
}

func (p *postgres) fetch(ctx context.Context, project string, put func(key, []byte, bool) error, note func(code loss.Code, place string)) error {
	c, tx, err := p.connect(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return err
	}
	defer c.Close(context.WithoutCancel(ctx))
	return p.rows(ctx, tx, func(k key, line []byte) error { return put(k, line, false) }, note, "$1 IN ('', e.project_key)", project)
}

// Package postgres keeps stores of the Cursor SDK in PostgreSQL: a schema for each store, with
// the tables of adapter/schema.sql.
//
// An address is a URL as libpq takes it, with one more parameter, schema, which is
// cursor_agents unless given. Passwords can stay out of it: a service file, a password file
// and the environment work as in psql.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"rehome/cmd/rehome-fleet/internal/home"
	"rehome/formats"
)

const hintURL = "use postgres://USER@HOST:PORT/DATABASE?schema=NAME, with %25, %40, %3A, %2F, %3F, %23 for % @ : / ? #"

// Address is the address of a schema of a database.
type Address struct {
	config  *pgconn.Config
	schema  string
	name    string
	secrets home.Secrets
}

// Home is a schema that holds a store.
type Home struct{ *Address }

var _ home.Home = (*Home)(nil)

// Schemes returns the schemes of addresses.
func Schemes() []string { return []string{"postgres", "postgresql"} }

// New returns the home at an address. It does not connect.
func New(address string) (*Home, error) {
	a, err := Parse(address, "cursor_agents")
	return &Home{a}, err
}

// Parse parses an address. schema is used if it names none. No error repeats a password.
func Parse(address, schema string) (*Address, error) {
	bad := func(what string) error {
		return &formats.Error{At: "PostgreSQL address", Err: errors.New(what), Hint: hintURL}
	}
	// What a URL that cannot be parsed says of itself may be a piece of its password.
	u, err := url.Parse(address)
	if err != nil || !slices.Contains(Schemes(), u.Scheme) {
		return nil, bad("not a valid postgres:// URL")
	}
	h := &Address{schema: schema}
	plain, query, _ := strings.Cut(address, "?")
	if strings.Count(plain, "@") > 1 { // the driver takes another one than this package
		return nil, bad("not a valid URL: more than one @")
	}
	var kept []string
	given := false
	for _, pair := range strings.Split(query, "&") {
		k, v, _ := strings.Cut(pair, "=")
		if name, err := url.QueryUnescape(k); err != nil || name != "schema" {
			if pair != "" {
				kept = append(kept, pair)
			}
			continue
		}
		if h.schema, err = url.QueryUnescape(v); err != nil || given {
			return nil, bad("schema is not one name")
		}
		given = true
	}
	switch {
	case h.schema == "" || len(h.schema) > 63 || !utf8.ValidString(h.schema) || strings.ContainsFunc(h.schema, unicode.IsControl):
		return nil, bad("schema is not a name of 1 to 63 bytes")
	case u.Fragment != "":
		return nil, bad("not a valid URL: # in it")
	}
	if len(kept) > 0 {
		plain += "?" + strings.Join(kept, "&")
	}
	password, _ := u.User.Password()
	h.secrets = home.Secrets{password, u.Query().Get("password"), u.Query().Get("sslpassword")}
	if h.config, err = pgconn.ParseConfig(plain); err != nil {
		// The driver may take another part for the password than this package.
		if password != "" || strings.Contains(query, "password") {
			return nil, bad("invalid host, port or parameter")
		}
		_, reason, _ := strings.Cut(err.Error(), "`: ")
		return nil, bad(h.secrets.Clean(reason))
	}
	h.secrets = append(h.secrets, h.config.Password)
	h.config.RuntimeParams["client_encoding"] = "UTF8"
	if h.config.RuntimeParams["application_name"] == "" {
		h.config.RuntimeParams["application_name"] = "rehome"
	}
	h.config.OnNotice, h.config.OnNotification = nil, nil
	h.name = h.display()
	return h, nil
}

func (h *Address) display() string {
	u := url.URL{Scheme: "postgres", Path: "/" + h.config.Database}
	q := url.Values{"schema": {h.schema}}
	if strings.HasPrefix(h.config.Host, "/") {
		q.Set("host", h.config.Host)
	} else {
		u.Host = h.config.Host
		if h.config.Port != 5432 {
			u.Host = net.JoinHostPort(h.config.Host, strconv.Itoa(int(h.config.Port)))
		}
	}
	u.RawQuery = q.Encode()
	return u.String()
}

// Config is how to connect.
func (h *Address) Config() *pgconn.Config { return h.config }

// Schema is the name of the schema.
func (h *Address) Schema() string { return h.schema }

// Name returns the address without the user and the password.
func (h *Address) Name() string { return h.name }

// Format returns cursor-ndjson.
func (h *Home) Format() string { return "cursor-ndjson" }

// Many is false: a schema holds one store.
func (*Home) Many() bool { return false }

// Fail adds the place to an error, and makes it safe to print.
func (h *Address) Fail(err error) error {
	if e := (*formats.Error)(nil); err == nil || errors.As(err, &e) {
		return err
	}
	out := &formats.Error{At: h.name, Err: h.secrets.Error(err)}
	if ce := (*pgconn.ConnectError)(nil); errors.As(err, &ce) {
		out.Hint = "try the same address, without schema, with psql"
	}
	pe := (*pgconn.PgError)(nil)
	if !errors.As(err, &pe) {
		return out
	}
	switch pe.Code {
	case "55P03": // lock_not_available
		out.Err = fmt.Errorf("%w: another program holds a lock", formats.ErrBusy)
		out.Hint = "stop the programs that use it and try again"
	case "53100": // disk_full
		out.Err = fmt.Errorf("%w on the server", formats.ErrFull)
	case "42501": // insufficient_privilege
		out.Hint = "grant this role what it lacks, such as CREATE on the database"
	}
	return out
}

// conn is a connection in use.
type conn struct {
	*pgconn.PgConn
	schema string // quoted
}

func (h *Home) connect(ctx context.Context) (*conn, error) {
	pg, err := pgconn.ConnectConfig(ctx, h.config)
	if err != nil {
		return nil, err
	}
	c := &conn{pg, pgx.Identifier{h.schema}.Sanitize()}
	if e := pg.ParameterStatus("server_encoding"); e != "UTF8" {
		c.close()
		return nil, fmt.Errorf("the encoding of the database is %s, not UTF8", e)
	}
	return c, nil
}

// close ends the connection, and what was not committed.
func (c *conn) close() {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	c.Close(ctx)
}

func (c *conn) exec(ctx context.Context, sql string) error {
	_, err := c.Exec(ctx, sql).ReadAll()
	return err
}

// query returns rows of text; nil is null.
func (c *conn) query(ctx context.Context, sql string, args ...string) ([][][]byte, error) {
	params := make([][]byte, len(args))
	for i, a := range args {
		params[i] = []byte(a)
	}
	r := c.ExecParams(ctx, sql, params, nil, nil, nil).Read()
	return r.Rows, r.Err
}

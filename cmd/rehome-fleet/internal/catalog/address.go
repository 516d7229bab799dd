package catalog

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"unicode"

	"github.com/jackc/pgx/v5"

	"rehome/formats"
)

const hintAddress = "use postgres://HOST/DATABASE?schema=NAME; the password can be in PGPASSWORD or ~/.pgpass"

// database is a schema of a database.
type database struct {
	config  *pgx.ConnConfig
	schema  string
	name    string // for people
	secrets []string
}

// parse parses an address. No error repeats it, because it can hold a password.
func parse(address string) (*database, error) {
	bad := func(what string) error {
		return &formats.Error{At: "address of PostgreSQL", Err: errors.New(what), Hint: hintAddress}
	}
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" || u.Fragment != "" {
		return nil, bad("not a valid postgres:// URL")
	}
	q, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return nil, bad("not a valid postgres:// URL")
	}
	d := &database{schema: "rehome"}
	if q.Has("schema") {
		d.schema = q.Get("schema")
	}
	if d.schema == "" || len(d.schema) > 63 || strings.ContainsFunc(d.schema, func(r rune) bool { return unicode.IsControl(r) || r == unicode.ReplacementChar }) {
		return nil, bad("the schema is not a name of 1 to 63 bytes")
	}
	q.Del("schema")
	u.RawQuery = q.Encode()
	if d.config, err = pgx.ParseConfig(u.String()); err != nil {
		return nil, bad("PostgreSQL does not accept it: check its host, port and parameters")
	}
	d.config.RuntimeParams["client_encoding"] = "UTF8"
	given, _ := u.User.Password()
	d.secrets = []string{d.config.Password, given, q.Get("password"), q.Get("sslpassword")}
	d.name = (&url.URL{Scheme: "postgres", Host: d.config.Host, Path: "/" + d.config.Database, RawQuery: url.Values{"schema": {d.schema}}.Encode()}).String()
	return d, nil
}

// fail returns an error of the server or the driver in one line, without the password.
func (d *database) fail(ctx context.Context, err error) error {
	if err == nil || ctx.Err() != nil {
		return ctx.Err()
	}
	text := strings.ToValidUTF8(err.Error(), "?")
	for _, secret := range d.secrets {
		if secret == "" {
			continue
		}
		for _, form := range []string{secret, url.QueryEscape(secret), url.PathEscape(secret), url.UserPassword("", secret).String()[1:]} {
			text = strings.ReplaceAll(text, form, "xxxxx")
		}
	}
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
	return &formats.Error{At: d.name, Err: errors.New(text)}
}

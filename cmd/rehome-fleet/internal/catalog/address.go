package catalog

import (
	"context"

	"github.com/jackc/pgx/v5"

	"rehome/cmd/rehome-fleet/internal/postgres"
	"rehome/convert"
)

// database is a schema of a database.
type database struct{ *postgres.Address }

func parse(address string) (*database, error) {
	a, err := postgres.Parse(address, "rehome")
	if err != nil {
		err = convert.Misuse{Err: err}
	}
	return &database{a}, err
}

func (d *database) connect(ctx context.Context) (*pgx.Conn, error) {
	config, err := pgx.ParseConfig("")
	if err != nil {
		return nil, err
	}
	config.Config = *d.Config()
	return pgx.ConnectConfig(ctx, config)
}

// fail returns an error of the server or the driver that can be printed.
func (d *database) fail(ctx context.Context, err error) error {
	if err == nil || ctx.Err() != nil {
		return ctx.Err()
	}
	return d.Fail(err)
}

package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"rehome/cmd/rehome-fleet/adapter"
	"rehome/formats"
)

// room makes room for the tables and creates them.
func (p *placing) room(ctx context.Context) error {
	state, err := p.home.look(ctx, p.conn)
	if err != nil {
		return err
	}
	if state == occupied {
		if !p.o.Replace {
			return &formats.Error{At: p.home.name, Err: formats.ErrExists, Hint: "pass --replace to replace it, which keeps the old store as the schema " + p.home.secrets.Clean(p.home.backup(1)) + " (_2, ...), or name another with ?schema="}
		}
		if err := p.aside(ctx); err != nil {
			return err
		}
	}
	if state != empty {
		if err := p.exec(ctx, "create schema "+p.schema); err != nil {
			return err
		}
	}
	if err := p.exec(ctx, "set local search_path to "+p.schema+", pg_temp; "+adapter.Schema); err != nil {
		return err
	}
	return p.indexes(ctx)
}

// indexes drops the indexes of the empty tables, and remembers how to make them: that takes a
// third of the time once the rows are there. An empty schema may have functions of others.
func (p *placing) indexes(ctx context.Context) error {
	rows, err := p.query(ctx, `select pg_catalog.format('alter table %I drop constraint %I', t.relname, c.conname),
			pg_catalog.format('alter table %I add constraint %I %s', t.relname, c.conname, pg_get_constraintdef(c.oid))
		from pg_constraint c join pg_class t on t.oid = c.conrelid join pg_namespace n on n.oid = t.relnamespace
		where n.nspname = $1 and c.contype in ('p', 'u')
		union all
		select pg_catalog.format('drop index %I', i.relname), pg_get_indexdef(i.oid)
		from pg_index x join pg_class i on i.oid = x.indexrelid join pg_namespace n on n.oid = i.relnamespace
		where n.nspname = $1 and not exists (select from pg_constraint c where c.conindid = i.oid)`, p.home.schema)
	if err != nil {
		return err
	}
	var drop []string
	for _, r := range rows {
		drop, p.build = append(drop, string(r[0])), append(p.build, string(r[1]))
	}
	return p.exec(ctx, strings.Join(drop, "; "))
}

// aside renames the schema of the old store, once no transaction writes to it.
func (p *placing) aside(ctx context.Context) error {
	tables := []string{}
	for _, line := range strings.Split(strings.TrimSpace(columns), "\n") {
		table, _, _ := strings.Cut(line, " ")
		tables = append(tables, p.schema+"."+table)
	}
	if err := p.exec(ctx, "lock table "+strings.Join(tables, ", ")+" in access exclusive mode"); err != nil {
		return err
	}
	live, err := p.query(ctx, "select agent_id from "+p.schema+".leases where until > clock_timestamp() order by 1 limit 1")
	if err != nil {
		return err
	}
	if len(live) > 0 {
		return &formats.Error{At: p.home.name, Err: fmt.Errorf("%w: agent %s", formats.ErrBusy, p.home.secrets.Clean(string(live[0][0]))), Hint: "stop the program that runs it, or wait until its lease ends, and try again"}
	}
	for i := 1; i < 10_000; i++ {
		name := p.home.backup(i)
		taken, err := p.query(ctx, "select 1 from pg_namespace where nspname = $1", name)
		if err != nil {
			return err
		}
		if len(taken) == 0 {
			p.placed.Backup = name
			return p.exec(ctx, "alter schema "+p.schema+" rename to "+pgx.Identifier{name}.Sanitize())
		}
	}
	return errors.New("too many backups")
}

// backup returns the name of the i-th backup, of at most 63 bytes.
func (h *Home) backup(i int) string {
	end, name := fmt.Sprintf("_bak_%d", i), h.schema
	for len(name)+len(end) > 63 {
		_, n := utf8.DecodeLastRuneInString(name)
		name = name[:len(name)-n]
	}
	return name + end
}

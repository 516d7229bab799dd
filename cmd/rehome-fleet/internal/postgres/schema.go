package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"rehome/formats"
)

// columns are the tables of adapter/schema.sql, with the types of their columns.
const columns = `
agents ord:bigint agent_id:text cwd:text updated_at:double_precision rev:bigint doc:json
checkpoints ord:bigint agent_id:text blob_id:text data:bytea
leases agent_id:text owner:text fence:bigint until:timestamp_with_time_zone
rehome name:text digest:bytea data:bytea
run_events ord:bigint run_id:text seq:bigint idempotency_key:text doc:json
runs ord:bigint agent_id:text run_id:text turn_number:double_precision status:text rev:bigint doc:json
streams run_id:text last_seq:bigint`

// state is what a schema is.
type state int

const (
	missing state = iota
	empty
	occupied
)

// look returns the state of the schema. A schema that is neither empty nor a store of this
// layout is an error that names the difference.
func (h *Home) look(ctx context.Context, c *conn) (state, error) {
	// A view has no columns here: it could run what its owner likes.
	rows, err := c.query(ctx, `select coalesce(c.relname, ''), coalesce(a.attname || ':' ||
			replace(format_type(a.atttypid, a.atttypmod), ' ', '_'), '')
		from pg_namespace n
		left join pg_class c on c.relnamespace = n.oid and c.relkind in ('r', 'p', 'v', 'm', 'f')
		left join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and c.relkind in ('r', 'p')
		where n.nspname = $1 order by c.relname, a.attnum`, h.schema)
	if err != nil {
		return missing, err
	}
	if len(rows) == 0 {
		return missing, nil
	}
	has := map[string][]string{}
	for _, r := range rows {
		if t := string(r[0]); t != "" {
			has[t] = append(has[t], string(r[1]))
		}
	}
	if len(has) == 0 {
		return empty, nil
	}
	var wrong []string
	for _, line := range strings.Split(strings.TrimSpace(columns), "\n") {
		want := strings.Fields(line)
		table, want := want[0], want[1:]
		got, ok := has[table]
		if !ok {
			wrong = append(wrong, "no table "+table)
		}
		delete(has, table)
		for _, col := range want {
			if ok && !slices.Contains(got, col) {
				wrong = append(wrong, fmt.Sprintf("no column %s of type %s", spell(table, col)...))
			}
		}
		for _, col := range got {
			if col != "" && !slices.Contains(want, col) {
				wrong = append(wrong, fmt.Sprintf("unknown column %s of type %s", spell(table, col)...))
			}
		}
	}
	for table := range has {
		wrong = append(wrong, "unknown table "+table)
	}
	if len(wrong) == 0 {
		return occupied, nil
	}
	slices.Sort(wrong)
	if len(wrong) > 5 {
		wrong = append(wrong[:5], fmt.Sprintf("%d more differences", len(wrong)-5))
	}
	return occupied, &formats.Error{At: h.name, Err: errors.New(h.secrets.Clean("not a store of this layout: " + strings.Join(wrong, ", "))),
		Hint: "name another schema, or use a version of rehome that knows this one"}
}

func spell(table, col string) []any {
	name, kind, _ := strings.Cut(col, ":")
	return []any{table + "." + name, strings.ReplaceAll(kind, "_", " ")}
}

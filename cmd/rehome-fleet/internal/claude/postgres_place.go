package claude

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"rehome/formats/loss"
)

func (p *postgres) begin(ctx context.Context) (target, error) {
	c, tx, err := p.connect(ctx, pgx.TxOptions{})
	if err != nil {
		return nil, err
	}
	t := &postgresTarget{postgres: p, conn: c, tx: tx, placed: map[key]int64{}}
	if err := t.prepare(ctx); err != nil {
		t.close()
		return nil, err
	}
	return t, nil
}

// postgresTarget is a placement in one transaction.
type postgresTarget struct {
	*postgres
	conn   *pgx.Conn
	tx     pgx.Tx
	binary bool           // entries are jsonb
	backup pgx.Identifier // nil before the first session is moved to it
	placed map[key]int64  // rows of each session
}

// prepare makes the table if it does not exist, and keeps other placements out until the end.
func (t *postgresTarget) prepare(ctx context.Context) error {
	name := t.table.Sanitize()
	if _, err := t.tx.Exec(ctx, "SELECT pg_advisory_xact_lock(hashtext('rehome ' || $1))", name); err != nil {
		return serverError(err)
	}
	exists := false
	if err := t.tx.QueryRow(ctx, "SELECT to_regclass($1) IS NOT NULL", name).Scan(&exists); err != nil {
		return serverError(err)
	}
	if !exists {
		if err := t.create(ctx, name); err != nil {
			return err
		}
	}
	// The table may have been locked under a name with another spelling.
	kind := ""
	if _, err := t.tx.Exec(ctx, "SELECT pg_advisory_xact_lock(1919248488 * 4294967296 + $1::text::regclass::oid::bigint)", name); err != nil {
		return serverError(err)
	}
	err := t.tx.QueryRow(ctx, "SELECT atttypid::regtype::text FROM pg_attribute WHERE attrelid = $1::text::regclass AND attname = 'entry' AND NOT attisdropped", name).Scan(&kind)
	if errors.Is(err, pgx.ErrNoRows) {
		err = errors.New("not a table of this layout: it has no column named entry")
	}
	t.binary = kind == "jsonb"
	return serverError(err)
}

func (t *postgresTarget) create(ctx context.Context, name string) error {
	index := pgx.Identifier{t.table[len(t.table)-1] + "_key_idx"}.Sanitize()
	_, err := t.tx.Exec(ctx, fmt.Sprintf(`CREATE TABLE %s (id BIGSERIAL PRIMARY KEY, project_key TEXT NOT NULL, session_id TEXT NOT NULL,
subpath TEXT, entry JSONB NOT NULL, created_at TIMESTAMPTZ NOT NULL DEFAULT NOW());
CREATE INDEX %s ON %[1]s (project_key, session_id, subpath, id)`, name, index))
	return serverError(err)
}

func (t *postgresTarget) refuse(has traits) string {
	switch {
	case has.Bytes:
		return "not UTF-8, which PostgreSQL cannot hold"
	case !t.binary:
	case has.Null:
		return "a string with U+0000, which jsonb cannot hold"
	case has.Lone:
		return "a string with half a surrogate pair, which jsonb cannot hold"
	case has.Range:
		return "a number out of range for jsonb"
	}
	return ""
}

func (t *postgresTarget) change(has traits) []loss.Code {
	if !t.binary {
		return nil
	}
	changes := []loss.Code{loss.ServerSpelling}
	if has.Doubled {
		changes = append(changes, loss.ServerDoubled)
	}
	if has.MinusZero {
		changes = append(changes, loss.ServerMinusZero)
	}
	return changes
}

func (t *postgresTarget) has(ctx context.Context, session []*transcript) (has bool, err error) {
	k := session[0].Key
	err = t.tx.QueryRow(ctx, "SELECT EXISTS (SELECT 1 FROM "+t.table.Sanitize()+" WHERE project_key = $1 AND session_id = $2)", k.Project, k.Session).Scan(&has)
	return has, serverError(err)
}

func (t *postgresTarget) read(ctx context.Context, k key, put func(key, []byte) error) error {
	drop := func(loss.Code, string) {}
	return t.rows(ctx, t.tx, put, drop, "e.project_key = $1 AND e.session_id = $2", k.Project, k.Session)
}

func (t *postgresTarget) setAside(ctx context.Context, k key) error {
	for n := 1; t.backup == nil; n++ {
		name := append(pgx.Identifier{}, t.table...)
		name[len(name)-1] += fmt.Sprintf("_bak_%d", n)
		taken := false
		if err := t.tx.QueryRow(ctx, "SELECT to_regclass($1) IS NOT NULL", name.Sanitize()).Scan(&taken); err != nil {
			return serverError(err)
		}
		if taken {
			continue
		}
		if _, err := t.tx.Exec(ctx, fmt.Sprintf("CREATE TABLE %s (LIKE %s)", name.Sanitize(), t.table.Sanitize())); err != nil {
			return serverError(err)
		}
		t.backup = name
	}
	_, err := t.tx.Exec(ctx, fmt.Sprintf(`WITH moved AS (DELETE FROM %s WHERE project_key = $1 AND session_id = $2 RETURNING *)
INSERT INTO %s SELECT * FROM moved`, t.table.Sanitize(), t.backup.Sanitize()), k.Project, k.Session)
	return serverError(err)
}

func (t *postgresTarget) put(ctx context.Context, session []*transcript, entries func(*transcript, func(entry) error) error) error {
	now := time.Now()
	for _, tr := range session {
		r, w := io.Pipe()
		wrong, sent := make(chan error, 1), int64(0)
		go func() {
			out := bufio.NewWriterSize(w, 1<<16)
			at := time.Time{} // entries without a time have that of the one before
			err := entries(tr, func(e entry) error {
				if when := e.Time(); !when.IsZero() && when.Before(now) {
					at = when
				}
				return copyRow(out, tr.Key, e.Line, at, now)
			})
			if err == nil {
				err = out.Flush()
			}
			w.CloseWithError(err)
			wrong <- err
		}()
		tag, err := t.conn.PgConn().CopyFrom(ctx, r, "COPY "+t.table.Sanitize()+" (project_key, session_id, subpath, entry, created_at) FROM STDIN")
		r.CloseWithError(errStopped)
		if cause := <-wrong; cause != nil && !errors.Is(cause, errStopped) {
			return cause
		}
		if sent = tag.RowsAffected(); err == nil && sent != tr.Entries {
			err = fmt.Errorf("%d entries written of %d", sent, tr.Entries)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", copyPlace(tr, err), serverError(err))
		}
		t.placed[tr.Key.session()] += sent
	}
	return nil
}

// errStopped ends the writer of a COPY that the server has ended.
var errStopped = errors.New("stopped")

// copyPlace names the entry that the server rejected.
func copyPlace(tr *transcript, err error) string {
	if pe := (*pgconn.PgError)(nil); errors.As(err, &pe) {
		if m := regexp.MustCompile(`, line (\d+)`).FindStringSubmatch(pe.Where); m != nil {
			return fmt.Sprintf("%v: entry %s", tr.Key, m[1])
		}
	}
	return tr.Key.String()
}

// copyRow writes a row of COPY.
func copyRow(w *bufio.Writer, k key, line []byte, at, now time.Time) error {
	if at.IsZero() {
		at = now
	}
	subpath := `\N`
	escaped := strings.NewReplacer(`\`, `\\`, "\n", `\n`, "\r", `\r`, "\t", `\t`)
	if k.Subpath != "" {
		subpath = escaped.Replace(k.Subpath)
	}
	fmt.Fprintf(w, "%s\t%s\t%s\t", escaped.Replace(k.Project), escaped.Replace(k.Session), subpath)
	for _, c := range line {
		switch c { // in valid JSON, these are between values only
		case '\\':
			w.WriteByte('\\')
		case '\n', '\r', '\t':
			c = ' '
		}
		w.WriteByte(c)
	}
	_, err := fmt.Fprintf(w, "\t%s\n", at.UTC().Format("2006-01-02T15:04:05.999999Z"))
	return err
}

// commit looks for entries that others appended since the sessions were read again.
func (t *postgresTarget) commit(ctx context.Context) (string, error) {
	for k, want := range t.placed {
		n := int64(0)
		if err := t.tx.QueryRow(ctx, "SELECT count(*) FROM "+t.table.Sanitize()+" WHERE project_key = $1 AND session_id = $2", k.Project, k.Session).Scan(&n); err != nil {
			return "", serverError(err)
		}
		if n != want {
			return "", errRaced()
		}
	}
	if err := t.tx.Commit(ctx); err != nil {
		return "", serverError(err)
	}
	return strings.Join(t.backup, "."), nil
}

func (t *postgresTarget) close() { t.conn.Close(context.Background()) }

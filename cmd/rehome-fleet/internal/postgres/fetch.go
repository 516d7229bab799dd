package postgres

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"rehome/cmd/rehome-fleet/internal/documents"
	"rehome/cmd/rehome-fleet/internal/home"
	"rehome/formats"
)

// settings are those of every transaction. Rows that a policy hides are an error: a part of a
// store is none. Names mean what they mean to the server, not to whoever owns a schema, nor to
// whom a pooler gave the connection before.
const settings = `set local statement_timeout = 0; set local idle_in_transaction_session_timeout = 0;
	set local row_security = off; set local search_path to pg_catalog, pg_temp; set local max_parallel_workers_per_gather = 0`

// Fetch writes the store to path, as it is at one moment.
func (h *Home) Fetch(ctx context.Context, path string) error {
	c, err := h.connect(ctx)
	if err != nil {
		return h.Fail(err)
	}
	defer c.close()
	if err := c.exec(ctx, "begin isolation level repeatable read read only; "+settings); err != nil {
		return h.Fail(err)
	}
	state, err := h.look(ctx, c)
	if err != nil {
		return h.Fail(err)
	}
	if state != occupied {
		return &formats.Error{At: h.name, Err: &home.Failure{Text: "no store in this schema", Err: fs.ErrNotExist}, Hint: "name the schema of a store with ?schema=NAME"}
	}
	files, err := documents.Create(path)
	if err != nil {
		return err
	}
	err = c.fetch(ctx, files)
	if e := files.Close(err != nil); err == nil {
		err = e
	}
	return h.Fail(err)
}

func (c *conn) fetch(ctx context.Context, files *documents.Files) error {
	digest, manifest, err := c.manifest(ctx)
	if err != nil {
		return err
	}
	var now documents.Digest
	if _, err := c.join(ctx, manifest, files, &now, false); err != nil {
		return err
	}
	if err := c.kept(ctx, "file", files.Put); err != nil || string(digest) != string(now.Sum()) {
		return err // what clients changed, no sidecar describes
	}
	return c.kept(ctx, "sidecar", files.Put)
}

// manifest returns the digest of the documents that were placed, and the manifest; nil if
// clients created the store.
func (c *conn) manifest(ctx context.Context) (digest, manifest []byte, err error) {
	err = c.copyOut(ctx, "copy (select digest, data from "+c.schema+".rehome where name = 'store') to stdout (format binary)", func(f [][]byte) error {
		if len(f) != 2 {
			return errColumns
		}
		digest, manifest = append([]byte(nil), f[0]...), append([]byte(nil), f[1]...)
		return nil
	})
	return digest, manifest, err
}

var errColumns = errors.New("unexpected columns")

// join writes the files of all sets, or only their digests if files is nil. It returns the
// number of documents. Tables that were just copied are in order.
func (c *conn) join(ctx context.Context, manifest []byte, files *documents.Files, d *documents.Digest, copied bool) (int64, error) {
	has, err := documents.ReadManifest(manifest)
	if err != nil {
		return 0, err
	}
	total := int64(0)
	for set := range documents.Sets {
		w, err := files.Set(set, has[set] || manifest == nil && set == documents.Agents, d)
		if err != nil {
			return 0, err
		}
		n, err := c.lines(ctx, set, w, copied)
		total += n
		if e := w.Close(); err == nil {
			err = e
		}
		if err != nil {
			return 0, fmt.Errorf("%s: %w", set.Table(), err)
		}
	}
	return total, nil
}

// lines writes the file of a set.
func (c *conn) lines(ctx context.Context, set documents.Set, w io.Writer, copied bool) (documentCount int64, err error) {
	order, last := "order by kind = 4, ord, kind, part", int64(0)
	if copied {
		raw, err := c.query(ctx, fmt.Sprintf("select 1 from %s.rehome where name >= 'line/%s/' and name < 'line/%[2]s0' limit 1", c.schema, set.Table()))
		if err != nil {
			return 0, err
		}
		if len(raw) == 0 {
			order = "" // checked below
		}
	}
	columns := "null::text, null::text, doc, null::bytea"
	if set == documents.Checkpoints {
		columns = "agent_id, blob_id, null::json, data"
	}
	sql := fmt.Sprintf(`copy (select * from (
		select ord, 1::bigint kind, 0::bigint part, %s from %s.%s union all
		select split_part(name, '/', 3)::bigint, split_part(name, '/', 4)::bigint, split_part(name, '/', 5)::bigint,
			null, null, null, data from %[2]s.rehome where name >= 'line/%[3]s/' and name < 'line/%[3]s0'
		) lines %[4]s) to stdout (format binary)`, columns, c.schema, set.Table(), order)
	j := documents.NewJoiner(set, w)
	err = c.copyOut(ctx, sql, func(f [][]byte) error {
		if len(f) != 7 || len(f[0]) != 8 || len(f[1]) != 8 || len(f[2]) != 8 {
			return errColumns
		}
		it := documents.Item{Ord: number(f[0]), Part: int(number(f[2])), Raw: f[6]}
		if order == "" && it.Ord <= last {
			return fmt.Errorf("line %d follows line %d", it.Ord, last)
		}
		last = it.Ord
		kind := number(f[1])
		if kind < 0 || kind > int64(documents.Tail) {
			return fmt.Errorf("line %d: unknown kind %d", it.Ord, kind)
		}
		if it.Kind = documents.Kind(kind); it.Kind == documents.Document {
			documentCount++
			it.Row = documents.Row{Agent: f[3], Blob: f[4], Doc: f[5], Data: f[6]}
		}
		return j.Put(&it)
	})
	if err != nil {
		return 0, err
	}
	return documentCount, j.Close()
}

func number(b []byte) int64 { return int64(binary.BigEndian.Uint64(b)) }

// kept calls put for the parts of files that are no documents.
func (c *conn) kept(ctx context.Context, kind string, put func(name string, part []byte) error) error {
	return c.copyOut(ctx, fmt.Sprintf("copy (select name, data from %s.rehome where name >= '%s/' and name < '%[2]s0' order by name) to stdout (format binary)", c.schema, kind), func(f [][]byte) error {
		if len(f) != 2 {
			return errColumns
		}
		return put(string(f[0]), f[1])
	})
}

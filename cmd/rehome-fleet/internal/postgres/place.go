package postgres

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"rehome/cmd/rehome-fleet/internal/documents"
	"rehome/cmd/rehome-fleet/internal/home"
	"rehome/internal/scratch"
)

// Place makes the files at path the store, in one transaction, which also reads them again.
func (h *Home) Place(ctx context.Context, path string, o home.PlaceOptions) (home.Placed, error) {
	src, err := documents.Open(path)
	if err != nil {
		return home.Placed{}, err
	}
	defer src.Close()
	rest, err := scratch.NewFile("fleet")
	if err != nil {
		return home.Placed{}, err
	}
	defer rest.Close()
	c, err := h.connect(ctx)
	if err != nil {
		return home.Placed{}, h.Fail(err)
	}
	defer c.close()
	p := &placing{conn: c, home: h, src: src, o: o, count: src.Counter(o.Progress), rest: newTuples(rest), file: rest.File}
	if err := p.place(ctx); err != nil {
		return home.Placed{}, h.Fail(err)
	}
	return p.placed, nil
}

// placing is a Place at work.
type placing struct {
	*conn
	home   *Home
	src    *documents.Store
	o      home.PlaceOptions
	placed home.Placed
	count  *documents.Counter
	digest documents.Digest
	build  []string // SQL that makes the indexes
	rest   tuples   // rows of the table rehome, which are written after the others
	file   *os.File
}

// lz4 makes rows of long documents in less time than the default, where the server has it.
const lz4 = "select set_config(name, 'lz4', true) from pg_settings where name = 'default_toast_compression' and 'lz4' = any (enumvals)"

func (p *placing) place(ctx context.Context) error {
	if err := p.exec(ctx, "begin; set local lock_timeout = '10s'; set local synchronous_commit = on; set local synchronize_seqscans = off; "+settings+"; "+lz4); err != nil {
		return err
	}
	if _, err := p.query(ctx, "select pg_advisory_xact_lock(hashtextextended('rehome ' || $1, 0))", p.home.schema); err != nil {
		return err
	}
	if err := p.room(ctx); err != nil {
		return err
	}
	for set := range documents.Sets {
		if err := p.load(ctx, set); err != nil {
			return err
		}
	}
	if err := p.remainder(ctx); err != nil {
		return err
	}
	if err := p.verify(ctx); err != nil {
		return err
	}
	return p.commit(ctx)
}

// load copies a set into its table, and what is no document into p.rest.
func (p *placing) load(ctx context.Context, set documents.Set) error {
	if !p.src.Has[set] {
		return nil
	}
	f, err := p.src.Open(set.File())
	if err != nil {
		return err
	}
	defer f.Close()
	last := int64(0)
	columns := [...]string{"ord, agent_id, cwd, updated_at, doc", "ord, agent_id, run_id, turn_number, status, doc",
		"ord, run_id, seq, idempotency_key, doc", "ord, agent_id, blob_id, data"}[set]
	// The tables are of this transaction: frozen rows need not be written again later.
	sql := fmt.Sprintf("copy %s (%s) from stdin (format binary, freeze)", set.Table(), columns)
	err = p.copyIn(ctx, sql, func(w io.Writer) error {
		t := newTuples(w)
		from := io.TeeReader(p.count.Reader(f), p.digest.Set(set))
		lines, err := documents.Split(set, from, func(it *documents.Item) error {
			if it.Kind != documents.Document {
				return p.keep(documents.LineName(set, it), nil, it.Raw)
			}
			p.placed.Documents++
			return t.document(set, it)
		})
		last = lines
		if err != nil {
			return err
		}
		return t.end()
	})
	if err != nil {
		return fmt.Errorf("%s: %w", set.File(), err)
	}
	// New documents come after all lines, also after raw ones.
	return p.exec(ctx, fmt.Sprintf("alter table %s alter column ord restart with %d", set.Table(), last+1))
}

func (t tuples) document(set documents.Set, it *documents.Item) error {
	r := &it.Row
	switch set {
	case documents.Agents:
		t.row(5)
		t.int(it.Ord)
		t.bytes(r.Agent)
		t.bytes(r.Cwd)
		t.float(r.Number, r.HasNumber)
		t.bytes(r.Doc)
	case documents.Runs:
		t.row(6)
		t.int(it.Ord)
		t.bytes(r.Agent)
		t.bytes(r.Run)
		t.float(r.Number, r.HasNumber)
		t.bytes(r.Status)
		t.bytes(r.Doc)
	case documents.Events:
		t.row(5)
		t.int(it.Ord)
		t.bytes(r.Run)
		t.int(r.Seq)
		t.bytes(r.Idem)
		t.bytes(r.Doc)
	case documents.Checkpoints:
		t.row(4)
		t.int(it.Ord)
		t.bytes(r.Agent)
		t.bytes(r.Blob)
		t.bytes(r.Data)
	}
	return t.failed()
}

// keep writes a row of the table rehome to the temporary file.
func (p *placing) keep(name string, digest, data []byte) error {
	p.rest.row(3)
	p.rest.bytes([]byte(name))
	p.rest.bytes(digest)
	if data == nil {
		data = []byte{}
	}
	p.rest.bytes(data)
	return p.rest.failed()
}

// remainder copies what is no document.
func (p *placing) remainder(ctx context.Context) error {
	err := p.src.Kept(func(name string, part []byte) error {
		p.count.Add(len(part))
		return p.keep(name, nil, part)
	})
	if err == nil {
		err = p.keep("store", p.digest.Sum(), p.src.Manifest())
	}
	if err == nil {
		err = p.rest.end()
	}
	if err != nil {
		return err
	}
	if _, err := p.file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	err = p.copyIn(ctx, "copy rehome (name, digest, data) from stdin (format binary, freeze)", func(w io.Writer) error {
		_, err := io.Copy(w, bufio.NewReaderSize(p.file, 256<<10))
		return err
	})
	if err != nil {
		return err
	}
	return p.exec(ctx, strings.Join(p.build, "; ")+`; insert into streams (run_id, last_seq)
		select run_id, greatest(max(seq), 0) from run_events group by run_id`)
}

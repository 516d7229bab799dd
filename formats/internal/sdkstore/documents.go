package sdkstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"path/filepath"

	"rehome/formats"
	"rehome/formats/internal/sdkdoc"
	"rehome/formats/internal/tally"
	"rehome/formats/loss"
	"rehome/formats/store"
)

// Source is a store of rows that documents are made of: a catalog, a database
// of checkpoints for each agent, and files. What holds the rows is its own
// matter. Paths are slash paths inside the store.
type Source struct {
	Place       string   // of the store, for messages
	Root        string   // of the catalog, inside the store: "" or "sdk-agent-store/…/"
	Stores      []string // the databases of checkpoints, sorted
	Transcripts []string // sorted
	Strays      []string // files that no document speaks of
	Open        func(ctx context.Context, path string) (Database, error)
	File        func(path string) (io.ReadCloser, error)
	// Plain gives the pieces of a transcript, as records of a set.
	Plain func(ctx context.Context, path string, set int, give func(*store.Batch) error) error
}

// Database is a database of a Source.
type Database interface {
	Pragmas() store.Pragmas
	Objects() []store.Object
	Tables() []store.TableSchema
	// Scan yields the rows of a table, as batches of a set.
	Scan(ctx context.Context, set int, t store.TableSchema) iter.Seq2[*store.Batch, error]
	Close() error
}

// documents reads a Source as the lines that its relatives are made of.
// What a line cannot say is told as leftover; what an earlier conversion kept
// beside the databases is put back into the lines.
type documents struct {
	Source
	view    formats.View
	schema  *store.Schema
	db      Database // the catalog, until it is read
	summary store.Summary
}

// NewReader reads a source as documents.
func NewReader(ctx context.Context, src Source, v formats.View) (store.Reader, error) {
	if v.Secrets == formats.WithholdSecrets && v.OnLeftover != nil {
		v.OnLeftover = bareLeftover(v.OnLeftover)
	}
	d := &documents{Source: src, view: v, schema: sdkdoc.Schema()}
	for _, p := range src.Transcripts {
		d.schema.Sets = append(d.schema.Sets, store.Set{File: p, Kind: store.Plain, Columns: []string{"bytes"}})
	}
	var err error
	if d.db, err = src.Open(ctx, d.index()); err != nil {
		return nil, err
	}
	return d, nil
}

// index is the path of the catalog.
func (s *Source) index() string { return s.Root + IndexName }

func (d *documents) Schema() *store.Schema { return d.schema }

func (d *documents) Summary() store.Summary { return d.summary }

// Close lets go of the catalog and reports one that changed underneath.
func (d *documents) Close() error {
	if d.db == nil {
		return nil
	}
	err := d.db.Close()
	d.db = nil
	return err
}

// Batches yields the lines kind by kind, then the transcripts.
func (d *documents) Batches(ctx context.Context) iter.Seq2[*store.Batch, error] {
	return func(yield func(*store.Batch, error) bool) {
		d.summary = tally.Scan(len(d.schema.Sets), yield, func(t *tally.Tally) error {
			s := &docScan{documents: d, ctx: ctx, tally: t, rows: newAdmission(), back: newPutBack(d.view.Sidecar)}
			defer s.lines.drop()
			return s.run()
		})
	}
}

// docScan is one pass.
type docScan struct {
	*documents
	ctx    context.Context
	tally  *tally.Tally
	lines  lineSink
	back   *putBack
	rows   *admission
	agents []agent // of the catalog, in its order
	parser sdkdoc.Parser
	bare   map[string]bool // places of secrets that were left out
}

// agent is what checkpoints need to know of their agent.
type agent struct {
	id      string
	created int64 // ms
}

func (s *docScan) run() error {
	if s.db == nil {
		return errors.New("the store is closed")
	}
	design := DesignOf(s.db)
	s.leftDesign(s.index(), s.Root == "", design, indexDesign(), store.NullCell())
	for k := range sdkdoc.Checkpoint {
		s.lines.start(s, int(k), s.back.wholes[k])
		if t, ok := design.Table(k.Table()); ok {
			if err := s.table(s.db, s.index(), k, t, !design.equal(indexDesign())); err != nil {
				return err
			}
		}
		if err := s.lines.finish(); err != nil {
			return err
		}
	}
	if err := s.strangers(s.db, s.index(), design, indexDesign()); err != nil {
		return err
	}
	if err := s.checkpoints(); err != nil {
		return err
	}
	s.spent()
	for _, p := range s.Strays {
		if err := s.leftFile(p); err != nil {
			return err
		}
	}
	for i, p := range s.Transcripts {
		if err := s.Plain(s.ctx, p, sdkdoc.Kinds+i, s.give); err != nil {
			return err
		}
	}
	return s.ctx.Err()
}

// table makes lines of the rows of a table of the catalog.
func (s *docScan) table(db Database, file string, k sdkdoc.Kind, t store.TableSchema, odd bool) error {
	m := &maker{docScan: s, file: file, table: t, Columns: Pair(k, t), odd: odd, sink: &s.lines}
	scan := func(ctx context.Context) iter.Seq2[*store.Batch, error] { return db.Scan(ctx, int(k), t) }
	if err := store.EachRow(Ahead(s.ctx, s.view.Jobs, scan), m.record); err != nil {
		return err
	}
	return s.ctx.Err()
}

func (s *docScan) give(b *store.Batch) error {
	if err := s.tally.Give(b); err != nil {
		return err
	}
	return s.ctx.Err()
}

func (s *docScan) note(n loss.Loss) { s.view.OnLoss.Add(n) }

func (s *docScan) leftover(it store.SidecarItem) {
	if sdkdoc.IsOmission(&it) {
		if s.bare == nil {
			s.bare = map[string]bool{}
		}
		s.bare[it.At.String()] = true
	}
	if s.view.OnLeftover != nil {
		s.view.OnLeftover(it)
	}
}

// where names a file of the store for people.
func (d *documents) where(p string) string { return filepath.Join(d.Place, filepath.FromSlash(p)) }

func (d *documents) fail(p string, err error) error {
	return &formats.Error{Format: FormatName, At: d.where(p), Err: fmt.Errorf("%w", err)}
}

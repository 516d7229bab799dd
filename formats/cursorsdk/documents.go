package cursorsdk

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"rehome/formats"
	"rehome/formats/internal/sdkdoc"
	"rehome/formats/internal/sqlitefile"
	"rehome/formats/internal/sqlitestore"
	"rehome/formats/internal/tally"
	"rehome/formats/loss"
	"rehome/formats/store"
)

// documents reads a state root as the lines that its relatives are made of.
// What a line cannot say is told as leftover; what an earlier conversion kept
// beside the databases is put back into the lines.
type documents struct {
	view    formats.View
	place   string // of the source, for messages
	root    string // the state root inside the store: "" or "sdk-agent-store/…/"
	index   sqlitestore.File
	stores  []sqlitestore.File
	plain   []sqlitestore.File // transcripts
	strange []sqlitestore.File // files that no document speaks of
	schema  *store.Schema
	db      *sqlitefile.DB // the catalog, until it is read
	summary store.Summary
}

func openDocuments(ctx context.Context, l *formats.Location, v formats.View) (store.Reader, error) {
	databases, plain, err := shape(project(l)).FilesFor(l, v)
	if err != nil {
		return nil, err
	}
	if v.Secrets == formats.WithholdSecrets && v.OnLeftover != nil {
		v.OnLeftover = bareLeftover(v.OnLeftover)
	}
	place := l.Path
	d := &documents{view: v, place: place, schema: sdkdoc.Schema()}
	for _, p := range databases {
		if path.Base(p.Path) != indexName {
			d.stores = append(d.stores, p)
			continue
		}
		if d.index.Name != "" {
			return nil, &formats.Error{Format: name, At: place, Err: errors.New("contains stores of several workspaces"),
				Hint: "convert one state root at a time, such as " + filepath.Join(place, filepath.FromSlash(path.Dir(p.Path)))}
		}
		d.index, d.root = p, strings.TrimSuffix(p.Path, indexName)
	}
	if d.index.Name == "" {
		return nil, &formats.Error{Format: name, At: place, Err: errors.New(indexName + " not found"), Hint: "name the folder that contains it"}
	}
	for _, p := range plain {
		if strings.HasPrefix(p.Path, sdkdoc.Transcripts+"/") {
			d.plain = append(d.plain, p)
		} else {
			d.strange = append(d.strange, p)
		}
	}
	byPath := func(a, b sqlitestore.File) int { return strings.Compare(a.Path, b.Path) }
	slices.SortFunc(d.plain, byPath)
	slices.SortFunc(d.stores, byPath)
	for _, p := range d.plain {
		d.schema.Sets = append(d.schema.Sets, store.Set{File: p.Path, Kind: store.Plain, Columns: []string{"bytes"}})
	}
	if d.db, err = d.openDB(ctx, d.index); err != nil {
		return nil, err
	}
	return d, nil
}

func (d *documents) openDB(ctx context.Context, p sqlitestore.File) (*sqlitefile.DB, error) {
	return sqlitefile.Open(ctx, p.Name, sqlitefile.Options{Live: d.view.Live, OnNotice: d.view.OnNotice, Verbose: d.view.Verbose})
}

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
	design := designOf(s.db)
	s.leftDesign(s.index.Path, s.root == "", design, indexDesign(), store.NullCell())
	for k := range sdkdoc.Checkpoint {
		s.lines.start(s, int(k), s.back.wholes[k])
		if t, ok := design.table(k.Table()); ok {
			if err := s.table(s.db, s.index.Path, k, t, !design.equal(indexDesign())); err != nil {
				return err
			}
		}
		if err := s.lines.finish(); err != nil {
			return err
		}
	}
	if err := s.strangers(s.db, s.index.Path, design, indexDesign()); err != nil {
		return err
	}
	if err := s.checkpoints(); err != nil {
		return err
	}
	s.spent()
	for _, p := range s.strange {
		if err := s.leftFile(p); err != nil {
			return err
		}
	}
	for i, p := range s.plain {
		if err := sqlitestore.ReadPlain(s.ctx, p.Name, sdkdoc.Kinds+i, s.give); err != nil {
			return err
		}
	}
	return s.ctx.Err()
}

// table makes lines of the rows of a table of the catalog.
func (s *docScan) table(db *sqlitefile.DB, file string, k sdkdoc.Kind, t sqlitefile.Table, odd bool) error {
	m := &maker{docScan: s, file: file, table: t, columns: pair(k, t), odd: odd, sink: &s.lines}
	scan := func(ctx context.Context) iter.Seq2[*store.Batch, error] { return db.Scan(ctx, int(k), t) }
	for b, err := range ahead(s.ctx, s.view.Jobs, scan) {
		if err != nil {
			return err
		}
		err = m.batch(b)
		b.Release()
		if err != nil {
			return err
		}
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
	if s.view.OnLeftover != nil {
		s.view.OnLeftover(it)
	}
}

// where names a file of the store for people.
func (d *documents) where(p string) string { return filepath.Join(d.place, filepath.FromSlash(p)) }

func (d *documents) fail(p string, err error) error {
	return &formats.Error{Format: name, At: d.where(p), Err: fmt.Errorf("%w", err)}
}

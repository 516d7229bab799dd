// Package read makes sessions of state roots, and lists them.
// Package read makes sessions of state roots, and lists them.
package read

import (
	"context"
	"errors"
	"iter"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"rehome/formats"
	"rehome/formats/cursorsdk/internal/layout"
	"rehome/formats/internal/sdkdoc"
	"rehome/formats/internal/sdksession"
	"rehome/formats/internal/sdkstore"
	"rehome/formats/internal/sqlitefile"
	"rehome/formats/internal/sqlitestore"
	"rehome/formats/internal/transcript"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/formats/store"
)

// Decode makes sessions of a state root, or of all those of a project. The rows
// of the catalogs wait as documents in a spool, where each can be read again.
func Decode(ctx context.Context, l *formats.Location, v formats.View, sel session.Selection) iter.Seq2[*session.Session, error] {
	return func(yield func(*session.Session, error) bool) {
		d := newDecoder(ctx, v)
		d.Lines, d.Checkpoints = d, d.checkpoints
		d.Names = sdksession.Names{Catalog: sdkstore.IndexName, Runs: sdkstore.IndexName + ": runs", Events: sdkstore.IndexName + ": run_events", State: sdkstore.StoreName, One: true}
		d.Decode(ctx, sel, func() error { return d.open(l, sel.IDs) }, d.close)(yield)
	}
}

// decoder is one pass over a store.
type decoder struct {
	*sdksession.Store
	ctx    context.Context
	view   formats.View
	place  string
	rows   sdkstore.Spool
	parts  []part                      // which table the rows of a stretch of the spool are from
	stores map[string]sqlitestore.File // by agent
	around layout.Surroundings         // of a state root
}

// part is a stretch of the spool: the rows of one table.
type part struct {
	from int64
	addr store.Addr
}

func newDecoder(ctx context.Context, v formats.View) *decoder {
	d := &decoder{ctx: ctx, view: v, Store: sdksession.NewStore(v), stores: map[string]sqlitestore.File{}}
	d.Fail = d.fail
	return d
}

func (d *decoder) open(l *formats.Location, ids []string) error {
	l, err := layout.StateRoot(l)
	if err != nil {
		return err
	}
	d.place, d.around = l.Path, layout.Around(l.Path)
	if !l.IsDir() {
		return &formats.Error{Format: sdkstore.FormatName, At: l.Path, Err: errors.New("not a folder"), Hint: "name the folder that contains " + sdkstore.IndexName}
	}
	if d.Root, err = os.OpenRoot(l.Path); err != nil {
		return &formats.Error{Format: sdkstore.FormatName, At: l.Path, Err: err}
	}
	databases, plain, err := layout.Shape(layout.Project(l)).FilesFor(l, formats.View{OnLoss: d.view.OnLoss})
	if err != nil && (!errors.Is(err, sqlitestore.ErrNoDatabase) || !l.Has(transcript.Folder)) {
		return err
	}
	for _, p := range plain {
		if !strings.HasPrefix(p.Path, transcript.Folder+"/") {
			d.Note(loss.Loss{Code: loss.FileNotPart, At: store.Addr{File: p.Path}})
		}
	}
	slices.SortFunc(databases, func(a, b sqlitestore.File) int { return strings.Compare(a.Path, b.Path) })
	if layout.Project(l) {
		ids = nil // another catalog can have more of a run
	}
	for _, p := range databases {
		if path.Base(p.Path) == sdkstore.IndexName {
			if err := d.catalog(p, ids); err != nil {
				return err
			}
		}
	}
	if err := d.owners(databases); err != nil {
		return err
	}
	if err := d.FindTranscripts(d.ctx, ""); err != nil || len(d.Transcripts) > 0 || layout.Project(l) {
		return err
	}
	return d.besideScripts()
}

func (d *decoder) openDB(p sqlitestore.File) (*sqlitefile.DB, error) {
	return sqlitefile.Open(d.ctx, p.Name, layout.Options(d.view))
}

// Line reads a document from the spool.
func (d *decoder) Line(ctx context.Context, _ sdkdoc.Kind, p sdksession.Place) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return d.rows.Read(p.Offset, int(p.Len))
}

// At is the address of the row that a document was made of.
func (d *decoder) At(_ sdkdoc.Kind, p sdksession.Place) store.Addr {
	i, _ := slices.BinarySearchFunc(d.parts, p.Offset+1, func(a part, at int64) int {
		if a.from < at {
			return -1
		}
		return 1
	})
	if i == 0 {
		return store.Addr{}
	}
	a := d.parts[i-1].addr
	a.RowID = p.Row
	return a
}

func (d *decoder) fail(p string, err error) error {
	if fe := (*formats.Error)(nil); errors.As(err, &fe) || d.ctx.Err() != nil {
		return err
	}
	return &formats.Error{Format: sdkstore.FormatName, At: filepath.Join(d.place, filepath.FromSlash(p)), Err: err}
}

func (d *decoder) close() error {
	err := d.rows.Close()
	if d.Root != nil {
		err = errors.Join(err, d.Root.Close())
	}
	return err
}

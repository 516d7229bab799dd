// Package audit applies the rules of `rehome check` to state roots.
package audit

import (
	"context"
	"errors"
	"path"
	"path/filepath"
	"strings"

	"rehome/formats"
	"rehome/formats/cursorsdk/internal/layout"
	"rehome/formats/internal/filename"
	"rehome/formats/internal/sdkcheck"
	"rehome/formats/internal/sdkdoc"
	"rehome/formats/internal/sdkstore"
	"rehome/formats/internal/sqlitecheck"
	"rehome/formats/internal/sqlitefile"
	"rehome/formats/internal/sqlitestore"
	"rehome/formats/internal/storecheck"
	"rehome/formats/rule"
	"rehome/formats/store"
)

// Caches are what all stores of one process share.
type Caches struct {
	index  sqlitefile.Known
	stores storecheck.Bench
}

// pointers are the columns that findings point at.
func pointers() sdkcheck.Places {
	ends := map[string]string{}
	for status, column := range sdkdoc.RunEnds {
		if column >= 0 {
			ends[status] = "/" + sdkdoc.Run.Columns()[column]
		}
	}
	return sdkcheck.Places{Status: "/status", Active: "/active_run_id",
		Checkpoint: "/latest_checkpoint_ref_json", Turn: "/turn_number", Agent: "/agent_id",
		Offset: "/offset", Seq: "/seq", Key: "/idempotency_key", Ends: ends,
		Start: "/start_checkpoint_ref_json", Latest: "/latest_checkpoint_ref_json"}
}

// indexTables are the catalog's tables in all versions. A foreign key between
// them is what RH312 asks about.
var indexTables = func() (out []sqlitecheck.Table) {
	for k := range sdkdoc.Checkpoint {
		out = append(out, sqlitecheck.Table{Name: k.Table(), Needed: true, Columns: sqlitecheck.Columns(k.Declared()...)})
	}
	return out
}()

// Check asks about a state root, or about all of a project.
func (b *Caches) Check(ctx context.Context, l *formats.Location, v formats.View, q *rule.Pass) error {
	l, err := layout.StateRoot(l)
	if err != nil {
		return err
	}
	if v.OnNotice != nil {
		for _, s := range layout.LeftAside(l) {
			v.OnNotice(s)
		}
	}
	databases, plain, err := layout.Shape(layout.Project(l)).FilesFor(l, formats.View{})
	if err != nil {
		return err
	}
	stores := map[string][]sqlitestore.File{} // by state root
	for _, d := range databases {
		if path.Base(d.Path) == sdkstore.StoreName { // agents/…/store.db
			root := strings.TrimPrefix(path.Dir(path.Dir(path.Dir(d.Path)))+"/", "./")
			stores[root] = append(stores[root], d)
		}
	}
	for _, index := range databases {
		if path.Base(index.Path) != sdkstore.IndexName {
			continue
		}
		c := &checker{Caches: b, view: v, q: q, place: l.Path, index: index, root: strings.TrimSuffix(index.Path, sdkstore.IndexName)}
		c.stores = stores[c.root]
		delete(stores, c.root)
		if err := c.run(ctx); err != nil {
			return err
		}
		if c.catalog != nil {
			c.transcripts(plain)
		}
	}
	for root, list := range stores { // without an index.db the client finds none of them
		c := &checker{Caches: b, view: v, q: q, place: l.Path, root: root, stores: list, catalog: sdkcheck.New(q, pointers())}
		c.catalog.Finish()
		if err := c.checkStores(ctx); err != nil {
			return err
		}
	}
	return nil
}

// checker is one walk over one state root.
type checker struct {
	*Caches
	view    formats.View
	q       *rule.Pass
	place   string // of the store
	root    string // of the state root in it
	index   sqlitestore.File
	stores  []sqlitestore.File
	folders map[string]bool // that they lie in
	catalog *sdkcheck.Catalog
}

func (c *checker) run(ctx context.Context) (err error) {
	rows := newRows(c)
	known := sqlitecheck.Known{Declared: sdkstore.DeclaredSQL, Tables: indexTables, Shared: &c.Caches.index, Own: []string{"runs"}}
	f, err := sqlitecheck.Examine(ctx, c.index.Name, c.index.Path, c.view, c.q, known, rows.of)
	if f != nil {
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return err
	}
	if f != nil {
		rows.release()
		c.catalog = rows.catalog
		c.catalog.Finish()
		c.workspaces()
	}
	return c.checkStores(ctx)
}

// workspaces compares the folder's name with what the agents say.
func (c *checker) workspaces() {
	dir := c.place
	if c.root != "" {
		dir = filepath.Join(c.place, filepath.FromSlash(c.root))
	}
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	if layout.Around(dir).Data() {
		return // what the folder is named by there is not known
	}
	folder := filepath.Base(dir)
	for _, a := range c.catalog.Agents() {
		hash := filename.HashOf(a.Workspace)
		switch {
		case hash == folder:
		case filename.IsHash(folder):
			c.q.OwnedBy(a.ID).Reportf("RH310", a.At, "the MD5 of its workspace is %s", hash)
		default: // the folder itself is a copy
			c.q.Reportf("RH310", store.Addr{File: strings.TrimSuffix(c.root, "/")}, "the MD5 of its workspace is %s", hash)
			return
		}
	}
}

// transcripts asks whose the readable copies are.
func (c *checker) transcripts(plain []sqlitestore.File) {
	var files []string
	for _, p := range plain {
		if strings.HasPrefix(p.Path, sdkdoc.Transcripts+"/") {
			files = append(files, p.Path)
		}
	}
	c.catalog.Transcripts(files)
}

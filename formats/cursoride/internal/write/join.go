package write

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"io"
	"iter"
	"maps"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"rehome/formats"
	"rehome/formats/cursoride/internal/lists"
	"rehome/formats/internal/filename"
	"rehome/formats/internal/lines"
	"rehome/formats/internal/members"
	"rehome/formats/internal/object"
	"rehome/formats/internal/tally"
	"rehome/formats/session"
	"rehome/formats/store"
	"rehome/internal/rawjson"
)

// The statements with which the client creates its tables.
const (
	itemSQL = "CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)"
	diskSQL = "CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)"
	headSQL = "CREATE TABLE composerHeaders (composerId TEXT PRIMARY KEY, workspaceId TEXT, createdAt INTEGER, lastUpdatedAt INTEGER, " +
		"isArchived INTEGER, isSubagent INTEGER, recency INTEGER, checkpointAt INTEGER, value TEXT, subagentTypeName TEXT)"
	spaceIndexSQL   = "CREATE INDEX idx_composerHeaders_0 ON composerHeaders (workspaceId, isSubagent, isArchived, recency)"
	recencyIndexSQL = "CREATE INDEX idx_composerHeaders_1 ON composerHeaders (recency, composerId)"
)

var headColumns = []string{"composerId", "workspaceId", "createdAt", "lastUpdatedAt", "isArchived", "isSubagent", "recency", "checkpointAt", "value", "subagentTypeName"}

// joined reads many drafts as one user dir.
type joined struct {
	schema  *store.Schema
	drafts  []string
	heads   []head // the newest first
	spaces  []*space
	summary store.Summary
}

// head is what the lists say of a composer.
type head struct {
	doc              []byte
	id, space        string
	created, updated int64
	archived         bool
	subagent         bool
	kind             string
}

// space is a workspace with a folder.
type space struct {
	id, uri          string
	identifier       []byte // as heads have it
	selected         string // the composer that was changed last
	created, updated int64
}

// join opens drafts as the tables of one user dir.
func join(ctx context.Context, drafts []string, _ formats.View) (store.Reader, error) {
	r := &joined{drafts: drafts}
	for _, dir := range drafts {
		if err := r.draft(ctx, dir); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(r.heads, func(a, b head) int { return cmp.Or(cmp.Compare(b.updated, a.updated), strings.Compare(a.id, b.id)) })
	spaces := map[string]*space{}
	for i := range r.heads {
		h := &r.heads[i]
		at := rawjson.Last(h.doc, "workspaceIdentifier")
		uri := rawjson.TextAt(at, "uri", "external")
		s := spaces[h.space]
		if s == nil && uri != "" {
			s = &space{id: h.space, uri: uri, identifier: at, created: h.created, updated: h.updated}
			spaces[h.space] = s
		}
		if s != nil {
			s.created = min(s.created, h.created)
		}
		if s != nil && !h.subagent && s.selected == "" {
			s.selected = h.id
		}
	}
	for _, id := range slices.Sorted(maps.Keys(spaces)) {
		r.spaces = append(r.spaces, spaces[id])
	}
	r.layOut()
	return r, nil
}

// draft reads the heads of a draft.
func (r *joined) draft(ctx context.Context, dir string) error {
	f, err := os.Open(filepath.Join(dir, headsFile))
	if err != nil {
		return err
	}
	defer f.Close()
	for l, err := range lines.Each(ctx, f, lists.MaxValue) {
		if err != nil {
			return err
		}
		h := head{doc: slices.Clone(l.Bytes)}
		text := func(name string) string { return rawjson.TextAt(h.doc, name) }
		h.id, h.space = text("composerId"), rawjson.TextAt(h.doc, "workspaceIdentifier", "id")
		h.created, _ = members.Whole(rawjson.Last(h.doc, "createdAt"))
		h.updated, _ = members.Whole(rawjson.Last(h.doc, "lastUpdatedAt"))
		h.archived = string(rawjson.Last(h.doc, "isArchived")) == "true"
		if of := rawjson.Last(h.doc, "subagentInfo"); of != nil {
			h.subagent, h.kind = true, rawjson.TextAt(of, "subagentTypeName")
		}
		r.heads = append(r.heads, h)
	}
	return nil
}

// layOut makes the schema: of the global database, of those of workspaces, and their
// files.
func (r *joined) layOut() {
	table := func(file, name string, columns ...string) store.Set {
		return store.Set{File: file, Name: name, Kind: store.Table, Columns: columns, RowIDs: true}
	}
	object := func(kind, name, of, sql string) store.Object {
		return store.Object{Type: kind, Name: name, Table: of, SQL: sql}
	}
	pairs := []store.Object{object("table", lists.ItemTable, lists.ItemTable, itemSQL), object("table", lists.DiskTable, lists.DiskTable, diskSQL)}
	pragmas := store.Pragmas{PageSize: 4096, Encoding: "UTF-8", JournalMode: "delete", UserVersion: 1}
	r.schema = &store.Schema{Origin: "cursor-ide"}
	add := func(file string, more ...store.Object) {
		r.schema.Databases = append(r.schema.Databases, store.Database{Path: file, Pragmas: pragmas, Objects: append(slices.Clone(pairs), more...)})
		r.schema.Sets = append(r.schema.Sets, table(file, lists.ItemTable, "key", "value"), table(file, lists.DiskTable, "key", "value"))
	}
	add(lists.GlobalDB, object("table", lists.HeadTable, lists.HeadTable, headSQL),
		object("index", "idx_composerHeaders_0", lists.HeadTable, spaceIndexSQL), object("index", "idx_composerHeaders_1", lists.HeadTable, recencyIndexSQL))
	r.schema.Sets = append(r.schema.Sets, table(lists.GlobalDB, lists.HeadTable, headColumns...))
	for _, s := range r.spaces {
		add(lists.SpacesName + "/" + s.id + "/" + lists.DbName)
	}
	for _, s := range r.spaces {
		r.schema.Sets = append(r.schema.Sets, store.Set{File: lists.SpacesName + "/" + s.id + "/" + lists.WhichName, Kind: store.Plain, Columns: []string{"bytes"}})
	}
}

func (r *joined) Schema() *store.Schema  { return r.schema }
func (r *joined) Summary() store.Summary { return r.summary }
func (r *joined) Close() error           { return nil }

// Batches yields the rows of each table, then the files.
func (r *joined) Batches(ctx context.Context) iter.Seq2[*store.Batch, error] {
	return func(yield func(*store.Batch, error) bool) {
		r.summary = tally.Scan(len(r.schema.Sets), yield, func(t *tally.Tally) error {
			g := &giver{tally: t}
			if err := r.global(ctx, g); err != nil {
				return g.stop(err)
			}
			for i, s := range r.spaces {
				g.pair(globalSets+2*i, lists.ComposersKey, []byte(`{"selectedComposerIds":`+selected(s)+`,"lastFocusedComposerIds":`+selected(s)+`,"hasMigratedComposerData":true,"hasMigratedMultipleComposers":true}`), store.Text)
			}
			for i, s := range r.spaces {
				g.reach(globalSets+2*len(r.spaces)+i, 1)
				g.batch.Row(0)
				o := object.New(nil)
				o.Text("folder", s.uri)
				g.batch.AddBytes(store.Blob, o.Done())
			}
			return errors.Join(g.give(), ctx.Err())
		})
	}
}

func selected(s *space) string {
	if s.selected == "" {
		return "[]"
	}
	return "[" + string(session.AppendString(nil, s.selected)) + "]"
}

// globalSets is how many tables the global database has.
const globalSets = 3

// global gives the rows of the global database.
func (r *joined) global(ctx context.Context, g *giver) error {
	list := []byte(`{"allComposers":[`)
	for i := range r.heads {
		if i > 0 {
			list = append(list, ',')
		}
		list = append(list, r.heads[i].doc...)
	}
	g.pair(0, lists.HeadersKey, append(list, "]}"...), store.Text)
	projects, members := r.sidebar()
	g.pair(0, lists.ProjectsKey, projects, store.Text)
	g.pair(0, lists.MembersKey, members, store.Text)
	blobs := map[short]struct{}{}
	for _, dir := range r.drafts {
		if err := r.rows(ctx, g, dir, blobs); err != nil {
			return err
		}
	}
	for i := range r.heads {
		h := &r.heads[i]
		g.reach(2, len(headColumns))
		b := g.next()
		b.AddText(h.id)
		b.AddText(h.space)
		b.AddInt(h.created)
		b.AddInt(h.updated)
		b.AddInt(flag(h.archived))
		b.AddInt(flag(h.subagent))
		b.AddInt(h.updated) // recency
		b.AddInt(h.updated) // checkpointAt
		b.AddBytes(store.Text, h.doc)
		if h.kind == "" {
			b.AddNull()
		} else {
			b.AddText(h.kind)
		}
	}
	return g.err
}

// sidebar returns the projects of the agents' sidebar, which are the workspaces, and which
// composer belongs to which of them: clients since 3.12 show no other composer.
func (r *joined) sidebar() (projects, members []byte) {
	id := func(space string) string { return filename.NamedUUID(namespace, "project", space) }
	projects = []byte{'['}
	for i, s := range r.spaces {
		if i > 0 {
			projects = append(projects, ',')
		}
		o := object.New(projects)
		o.Text("id", id(s.id))
		name, err := url.PathUnescape(path.Base(s.uri))
		if err != nil {
			name = path.Base(s.uri)
		}
		o.Text("name", name)
		o.Raw("workspace", s.identifier)
		o.Raw("createdAt", strconv.AppendInt(nil, s.created, 10))
		o.Raw("lastUpdatedAt", strconv.AppendInt(nil, s.updated, 10))
		o.B = append(o.B, `,"isArchived":false`...)
		projects = o.Done()
	}
	o := object.New(nil)
	for i := range r.heads {
		if h := &r.heads[i]; !h.subagent && slices.ContainsFunc(r.spaces, func(s *space) bool { return s.id == h.space }) {
			o.Text(h.id, id(h.space))
		}
	}
	return append(projects, ']'), o.Done()
}

func flag(set bool) int64 {
	if set {
		return 1
	}
	return 0
}

// rows gives the rows of a draft. Two drafts can have the same blob, and the same content.
func (r *joined) rows(ctx context.Context, g *giver, dir string, blobs map[short]struct{}) error {
	f, err := os.Open(filepath.Join(dir, rowsFile))
	if err != nil {
		return err
	}
	defer f.Close()
	in := bufio.NewReaderSize(f, bufferSize)
	var one row
	for n := 0; ; n++ {
		if one, err = readRow(in, one); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		class := store.Text
		if one.blob {
			class = store.Blob
		}
		if key, shared := sharedKey(one.key); shared {
			if _, there := blobs[key]; there {
				continue
			}
			blobs[key] = struct{}{}
		}
		if g.pair(1, string(one.key), one.value, class); g.err != nil {
			return g.err
		}
		if n%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// giver gives rows in batches.
type giver struct {
	tally *tally.Tally
	batch *store.Batch
	set   int
	rows  int64 // of the set
	err   error // the first one
}

// reach makes room for a row of a set.
func (g *giver) reach(set, width int) {
	if g.batch != nil && (g.set != set || g.batch.Full()) {
		g.give()
	}
	if g.set != set {
		g.rows = 0
	}
	if g.batch == nil {
		g.batch, g.set = store.NewBatch(set, width), set
	}
}

// next begins a row of a table.
func (g *giver) next() *store.Batch {
	g.rows++
	g.batch.Row(g.rows)
	return g.batch
}

func (g *giver) pair(set int, key string, value []byte, class store.Class) {
	g.reach(set, 2)
	b := g.next()
	b.AddText(key)
	b.AddBytes(class, value)
}

func (g *giver) give() error {
	b := g.batch
	if g.batch = nil; g.err == nil && b != nil {
		g.err = g.tally.Give(b)
	} else if b != nil {
		b.Release()
	}
	return g.err
}

// stop releases what is not given.
func (g *giver) stop(err error) error {
	if g.batch != nil {
		g.batch.Release()
	}
	return err
}

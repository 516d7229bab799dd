package cursorsdk

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"rehome/formats"
	"rehome/formats/internal/sdkdoc"
	"rehome/formats/internal/sqlitefile"
	"rehome/formats/internal/sqlitestore"
	"rehome/formats/session"
	"rehome/formats/store"
)

const (
	name      = "cursor-sdk"
	indexName = "index.db"
	storeName = "store.db"
	rootsName = "sdk-agent-store"

	projectsName = "projects" // of Cursor's data folder
)

// Format is the codec.
func Format() *formats.Format {
	return &formats.Format{
		Name:    name,
		Title:   "the Cursor SDK's agents (index.db and one store.db per agent)",
		Clients: []string{session.CursorSDK},
		Records: &formats.Records{
			Kinds:       []formats.Kind{{Name: formats.Tables, Schema: name}, {Name: formats.SDKDocuments}},
			Open:        open,
			Create:      create,
			Shard:       shard,
			Regenerated: "row ids, the meta row of each agent, and tables and columns that the SDK does not create",
		},
		Schemas: []string{"cursor-sdk-agent-row-1", "cursor-sdk-run-row-1", "cursor-sdk-event-row-1", "cursor-sdk-meta-1"},
		Probe:   probe,
		Home: &formats.Home{
			Store:       ProjectPath,
			External:    ExternalDir,
			Roots:       home,
			StoreInside: within,
		},
		Sessions: &formats.Sessions{
			Decode: decode,
			Heads:  heads,
		},
		Check: new(benches).check,
	}
}

func probe(ctx context.Context, l *formats.Location) (formats.Match, error) {
	switch {
	case l.IsRegular() && l.Name() == indexName && sqlitefile.IsDatabase(l.Head()):
		root, err := formats.Locate(filepath.Dir(l.Path))
		if err != nil {
			return formats.Match{}, nil // opening it will say why
		}
		return probe(ctx, root)
	case !l.IsDir():
		return formats.Match{}, nil
	case project(l):
		return formats.Match{Score: 95, Evidence: []string{"contains a folder " + rootsName}}, nil
	case !l.Has(indexName) || !sqlitestore.HasHeader(l.Path, indexName):
		return formats.Match{}, nil
	case l.Has("agents"):
		return formats.Match{Score: 95, Evidence: []string{indexName + " starts with the SQLite header", "an agents folder next to it"}}, nil
	}
	tables, err := sqlitefile.Peek(ctx, filepath.Join(l.Path, indexName))
	if err != nil || !slices.Contains(tables, "agents") || !slices.Contains(tables, "run_events") {
		return formats.Match{}, nil // opening it will say why
	}
	return formats.Match{Score: 90, Evidence: []string{indexName + " has tables agents and run_events"}}, nil
}

// shape is what a state root looks like, or a project folder around some.
func shape(project bool) sqlitestore.Shape {
	s := textShape(project)
	s.Use = func(rel string) sqlitestore.Use {
		if as := use(rel, project); as != sqlitestore.Database || own(rel, project) {
			return as
		}
		return sqlitestore.Aside
	}
	return s
}

// textShape is what text of an earlier version may become: that took every
// database of the right name for the SDK's, wherever it lay.
func textShape(project bool) sqlitestore.Shape {
	return sqlitestore.Shape{Origin: name, Hollow: true, Use: func(rel string) sqlitestore.Use { return use(rel, project) }}
}

// own reports a place where the SDK keeps a database: index.db in a state root,
// store.db in the folder of an agent.
func own(rel string, project bool) bool {
	if project {
		parts := strings.SplitN(rel, "/", 3)
		rel = parts[len(parts)-1]
	}
	dir, base := path.Split(rel)
	return base == indexName && dir == "" || base == storeName && path.Dir(path.Clean(dir)) == "agents"
}

func open(ctx context.Context, l *formats.Location, v formats.View) (store.Reader, error) {
	if l.IsRegular() && l.Name() == indexName { // means its state root
		root, err := formats.Locate(filepath.Dir(l.Path))
		if err != nil {
			return nil, err
		}
		l = root
	}
	if v.OnNotice != nil {
		for _, s := range leftAside(l) {
			v.OnNotice(s)
		}
	}
	if v.Kind == formats.SDKDocuments {
		return openDocuments(ctx, l, v)
	}
	// Sidecar items of documents say nothing about tables: they are handed on.
	v.Sidecar = slices.DeleteFunc(slices.Clone(v.Sidecar), func(it store.SidecarItem) bool {
		_, lines := kindOf(it.At.File)
		if lines && v.OnLeftover != nil {
			v.OnLeftover(it)
		}
		return lines
	})
	return shape(project(l)).Open(ctx, l, v)
}

func create(ctx context.Context, b formats.Build) (store.Writer, error) {
	if len(b.Schema.Databases) == 0 {
		return createDocuments(ctx, b)
	}
	project := strings.HasPrefix(b.Schema.Databases[0].Path, rootsName+"/")
	return textShape(project).Create(ctx, b)
}

// use takes the databases of a state root, and of a project folder its state
// roots; of both the transcripts. Else the SDK keeps nothing there: what lies
// about may be anything, a copy of a database included.
func use(rel string, project bool) sqlitestore.Use {
	top, rest, _ := strings.Cut(rel, "/")
	if project && (top != rootsName && top != sdkdoc.Transcripts || top == rootsName && setAside(rest)) {
		return sqlitestore.Skip
	}
	switch base := path.Base(rel); {
	case sdkdoc.Noise(base) && !strings.HasSuffix(rel, "/"):
		return sqlitestore.Skip
	case top == sdkdoc.Transcripts && rest != "" || strings.HasSuffix(rel, "/"):
		return sqlitestore.Plain
	case base == indexName || base == storeName:
		return sqlitestore.Database
	}
	return sqlitestore.Aside
}

// setAside reports what an earlier conversion into a project has left beside
// the state root: an older one, and sidecars.
func setAside(rel string) bool {
	root, _, _ := strings.Cut(rel, "/")
	return strings.Contains(root, ".bak-") || formats.IsSidecar(root)
}

// within is the one state root of a project folder, or that of an index.db.
func within(l *formats.Location) (root string) {
	if l.IsRegular() && l.Name() == indexName {
		return filepath.Dir(l.Path)
	}
	if !l.IsDir() || !project(l) {
		return ""
	}
	at := filepath.Join(l.Path, rootsName)
	list, _ := os.ReadDir(at)
	for _, e := range list {
		if setAside(e.Name()) || !sqlitestore.HasHeader(filepath.Join(at, e.Name()), indexName) {
			continue
		}
		if root != "" {
			return ""
		}
		root = filepath.Join(at, e.Name())
	}
	return root
}

// leftAside says what of a project is set aside.
func leftAside(l *formats.Location) (out []string) {
	if !l.IsDir() || !project(l) {
		return nil
	}
	list, _ := os.ReadDir(filepath.Join(l.Path, rootsName))
	for _, e := range list {
		if setAside(e.Name()) && !formats.IsSidecar(e.Name()) {
			out = append(out, filepath.Join(l.Path, rootsName, e.Name())+" skipped: a backup made by --replace")
		}
	}
	return out
}

// shard keeps the events of a run together.
func shard(set *store.Set, r store.Record) string {
	if set.Name == "run_events" {
		if i := slices.Index(set.Columns, "run_id"); i >= 0 {
			return string(r.Cell(i).Bytes())
		}
	}
	if n := uint64(r.RowID()) >> 16; set.RowIDs && n > 0 {
		return fmt.Sprintf("r-%04x", n)
	}
	return ""
}

package cursorsdk

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"rehome/formats"
	"rehome/formats/cursorsdk/internal/audit"
	"rehome/formats/cursorsdk/internal/layout"
	"rehome/formats/cursorsdk/internal/move"
	"rehome/formats/cursorsdk/internal/read"
	"rehome/formats/internal/filename"
	"rehome/formats/internal/sdkdoc"
	"rehome/formats/internal/sdkstore"
	"rehome/formats/internal/sqlitefile"
	"rehome/formats/internal/sqlitestore"
	"rehome/formats/session"
	"rehome/formats/store"
)

// Format is the codec.
func Format() *formats.Format {
	return &formats.Format{
		Name:    sdkstore.FormatName,
		Title:   "the Cursor SDK's agents (index.db and one store.db per agent)",
		Clients: []string{session.CursorSDK},
		Records: &formats.Records{
			Kinds:       []formats.Kind{{Name: formats.Tables, Schema: sdkstore.FormatName}, {Name: formats.SDKDocuments}},
			Open:        open,
			Create:      create,
			Shard:       shard,
			Regenerated: "row ids, the meta row of each agent, and tables and columns that the SDK does not create",
		},
		Schemas:     []string{"cursor-sdk-agent-row-1", "cursor-sdk-run-row-1", "cursor-sdk-event-row-1", "cursor-sdk-meta-1"},
		Probe:       probe,
		IsStoreName: isStoreName,
		Writer:      writer(),
		Home: &formats.Home{
			Title:       "Cursor SDK",
			Code:        resumeCode,
			Config:      func(m formats.Machine) string { return m.Home },
			Folder:      ".cursor/" + layout.ProjectsName,
			Store:       layout.ProjectPath,
			External:    layout.ExternalDir,
			Hash:        filename.HashOf,
			IsHash:      filename.IsHash,
			Slug:        layout.ProjectSlug,
			SideFiles:   sqlitefile.SideFiles(),
			Roots:       layout.Home,
			StoreInside: layout.Within,
		},
		Sessions: &formats.Sessions{
			Decode: read.Decode,
			Heads:  read.Heads,
			Scan:   read.Scan,
		},
		Mover:  &formats.Mover{Find: move.Find, File: move.File, InUse: move.InUse},
		Check:  new(audit.Caches).Check,
		Repair: repair,
		Merge:  &formats.Merge{Via: "cursor-ndjson"},
	}
}

// isStoreName reports whether a path is named like the index of a store, with the
// folder of its agents next to it: other programs have an index.db, too.
func isStoreName(path string) bool {
	if filepath.Base(path) != sdkstore.IndexName {
		return false
	}
	_, err := os.Lstat(filepath.Join(filepath.Dir(path), "agents"))
	return err == nil
}

func probe(ctx context.Context, l *formats.Location) (formats.Match, error) {
	switch {
	case l.IsRegular() && l.Name() == sdkstore.IndexName && sqlitefile.IsDatabase(l.Head()):
		root, err := formats.Locate(filepath.Dir(l.Path))
		if err != nil {
			return formats.Match{}, nil // opening it will say why
		}
		return probe(ctx, root)
	case !l.IsDir():
		return formats.Match{}, nil
	case layout.Project(l) && layout.IsText(l):
		return formats.Match{}, nil // archives, each a store of its own
	case layout.Project(l):
		return formats.Match{Score: 95, Evidence: []string{"contains a folder " + layout.RootsName}}, nil
	case !l.Has(sdkstore.IndexName) || !sqlitestore.HasHeader(l.Path, sdkstore.IndexName):
		return formats.Match{}, nil
	case l.Has("agents"):
		return formats.Match{Score: 95, Evidence: []string{sdkstore.IndexName + " starts with the SQLite header", "an agents folder next to it"}}, nil
	}
	tables, err := sqlitefile.Peek(ctx, filepath.Join(l.Path, sdkstore.IndexName))
	if err != nil || !slices.Contains(tables, "agents") || !slices.Contains(tables, "run_events") {
		return formats.Match{}, nil // opening it will say why
	}
	return formats.Match{Score: 90, Evidence: []string{sdkstore.IndexName + " has tables agents and run_events"}}, nil
}

func open(ctx context.Context, l *formats.Location, v formats.View) (store.Reader, error) {
	l, err := layout.StateRoot(l)
	if err != nil {
		return nil, err
	}
	if v.OnNotice != nil {
		for _, s := range layout.LeftAside(l) {
			v.OnNotice(s)
		}
	}
	if v.Kind == formats.SDKDocuments {
		return openDocuments(ctx, l, v)
	}
	// Sidecar items of documents say nothing about tables: they are handed on.
	v.Sidecar = slices.DeleteFunc(slices.Clone(v.Sidecar), func(it store.SidecarItem) bool {
		_, lines := sdkdoc.KindOf(it.At.File)
		if lines && v.OnLeftover != nil {
			v.OnLeftover(it)
		}
		return lines
	})
	return layout.Shape(layout.Project(l)).Open(ctx, l, v)
}

func create(ctx context.Context, b formats.Build) (store.Writer, error) {
	if len(b.Schema.Databases) == 0 {
		return createDocuments(ctx, b)
	}
	project := strings.HasPrefix(b.Schema.Databases[0].Path, layout.RootsName+"/")
	return layout.TextShape(project).Create(ctx, b)
}

// shard keeps the rows of an agent together, and the events of a run.
func shard(set *store.Set, r store.Record) formats.Shard {
	owner := "agent_id"
	if set.Name == sdkdoc.Event.Table() {
		owner = "run_id"
	}
	if i := slices.Index(set.Columns, owner); i >= 0 {
		return formats.Shard{Name: string(r.Cell(i).Bytes())}
	}
	if n := uint64(r.RowID()) >> 16; set.RowIDs && n > 0 {
		return formats.Shard{Name: fmt.Sprintf("r-%04x", n)}
	}
	return formats.Shard{}
}

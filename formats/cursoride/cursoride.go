package cursoride

import (
	"context"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"rehome/formats"
	"rehome/formats/cursoride/internal/audit"
	"rehome/formats/cursoride/internal/lists"
	"rehome/formats/cursoride/internal/part"
	"rehome/formats/cursoride/internal/refile"
	"rehome/formats/cursoride/internal/write"
	"rehome/formats/internal/sqlitefile"
	"rehome/formats/internal/sqliterepair"
	"rehome/formats/internal/sqlitestore"
	"rehome/formats/session"
)

const name = "cursor-ide"

// Format is the codec.
func Format() *formats.Format {
	known := new(sqlitefile.Known)
	shape := sqlitestore.Shape{Origin: name, Single: true, Tables: []string{"ItemTable"}, Use: use, Known: known, Part: part.Finder(known)}
	return &formats.Format{
		Name:    name,
		Title:   "the Cursor IDE's state.vscdb, alone or a whole user dir",
		Clients: []string{session.CursorIDE},
		Records: &formats.Records{
			Kinds:   []formats.Kind{{Name: formats.Tables, Schema: name}},
			Open:    shape.Open,
			Create:  shape.Create,
			Changes: shape.Changes(shard, lists.Split()...),
			Shard:   shard,
			Lists:   lists.Split(),
			Keyed:   []string{lists.ItemTable, lists.DiskTable, lists.HeadTable},
			Partial: true,
		},
		Probe:       probe,
		IsStoreName: func(path string) bool { return filepath.Base(path) == lists.DbName },
		Schemas: []string{"cursor-ide-head-1", "cursor-ide-composer-1", "cursor-ide-bubble-1", "cursor-ide-checkpoint-1", "cursor-ide-diff-1",
			"cursor-ide-fates-1", "cursor-ide-request-1", "cursor-ide-workspace-1"},
		Sessions: &formats.Sessions{
			Decode: decoder(known),
			Heads:  lister(known),
			Scan:   scanner(known),
		},
		Home: &formats.Home{
			Roots:     home,
			IsCopy:    copied,
			SideFiles: append(sqlitefile.SideFiles(), ".json"),
		},
		Check:  audit.Check,
		Repair: sqliterepair.Repair(false),
		Writer: write.Writer(),
		Mover:  &formats.Mover{Refiler: &formats.Refiler{Find: refile.Find(home), Refile: refile.Refile, Undo: refile.Undo}},
	}
}

func probe(ctx context.Context, l *formats.Location) (formats.Match, error) {
	if l.IsDir() {
		switch {
		case l.Has("globalStorage") && sqlitestore.HasHeader(l.Path, lists.GlobalDB):
			return formats.Match{Score: 95, Evidence: []string{lists.GlobalDB + " starts with the SQLite header"}}, nil
		case l.Has(lists.DbName) && sqlitestore.HasHeader(l.Path, lists.DbName):
			return formats.Match{Score: 85, Evidence: []string{lists.DbName + " starts with the SQLite header"}}, nil
		}
		return formats.Match{}, nil
	}
	if !sqlitefile.IsDatabase(l.Head()) {
		return formats.Match{}, nil
	}
	if l.Name() == lists.DbName {
		return formats.Match{Score: 90, Evidence: []string{"a SQLite database named " + lists.DbName}}, nil
	}
	tables, err := sqlitefile.Peek(ctx, l.Path)
	if err != nil {
		return formats.Match{}, nil // opening it will say why
	}
	for _, t := range [...]string{lists.ItemTable, lists.DiskTable} {
		if slices.Contains(tables, t) {
			return formats.Match{Score: 80, Evidence: []string{"a SQLite database with a table " + t}}, nil
		}
	}
	return formats.Match{}, nil
}

// copied is a name that the client gives to copies of a database: the one it
// makes when it ends, and one that it could not open.
func copied(name string) bool {
	rest, ok := strings.CutPrefix(name, lists.DbName+".")
	return ok && (rest == "backup" || strings.HasPrefix(rest, "corrupted"))
}

// use says what belongs to the store: in a user dir the databases, which
// workspace each is of, and the pictures; in a folder with just a state.vscdb
// the same of that one.
func use(rel string) sqlitestore.Use {
	dir, base := path.Split(rel)
	parts := strings.Split(strings.TrimSuffix(dir, "/"), "/")
	if base == "" { // a folder
		top := parts[0] == "globalStorage" || parts[0] == "workspaceStorage" || parts[0] == "images"
		if top && (len(parts) == 1 || parts[0] == "workspaceStorage" && (len(parts) == 2 || parts[2] == "images")) {
			return sqlitestore.Plain
		}
		return sqlitestore.Skip
	}
	workspace := dir == "" || parts[0] == "workspaceStorage" && len(parts) == 2
	switch {
	case base == lists.DbName && (workspace || rel == lists.GlobalDB):
		return sqlitestore.Database
	case base == "workspace.json" && workspace:
		return sqlitestore.Plain
	case parts[len(parts)-1] == "images" && (len(parts) == 1 || len(parts) == 3):
		return sqlitestore.Plain
	}
	return sqlitestore.Skip
}

package cursorchat

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"rehome/formats"
	"rehome/formats/internal/agentwrite"
	"rehome/formats/internal/filename"
	"rehome/formats/internal/sqlitefile"
	"rehome/formats/internal/sqlitestore"
	"rehome/formats/internal/storecheck"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/formats/store"
)

const name = "cursor-chat"

// Format is the codec.
func Format() *formats.Format {
	shape := sqlitestore.Shape{Origin: name, Single: true, Tables: []string{"blobs", "meta"}, Use: use, Known: new(sqlitefile.Known)}
	bench := new(storecheck.Bench)
	return &formats.Format{
		Name:    name,
		Title:   "a chat of the Cursor CLI (store.db)",
		Clients: []string{session.CursorCLI},
		Records: &formats.Records{
			Kinds:   []formats.Kind{{Name: formats.Tables, Schema: name}},
			Open:    shape.Open,
			Create:  shape.Create,
			Changes: shape.Changes(shard),
			Shard:   shard,
		},
		Probe:       probe,
		IsStoreName: func(path string) bool { return filepath.Base(path) == storeName },
		Sessions: &formats.Sessions{
			Decode: codec{shape}.decode,
			Heads:  heads,
			Scan:   codec{shape}.scan,
		},
		Writer: &formats.Writer{
			New:        func() formats.Sink { return &sink{bench: bench} },
			Path:       sessionPath,
			ID:         sessionID,
			Folders:    true,
			Into:       &formats.Into{Extend: extend, Undo: undo},
			Losses:     append(agentwrite.Losses(), loss.TitleFromPrompt),
			Unmodified: unmodified,
			State:      state,
		},
		Home: &formats.Home{
			Title:     "Cursor CLI",
			Resume:    []string{"cursor-agent", "--resume"},
			Variable:  configVariable,
			Roots:     home,
			Folder:    folder,
			Config:    config,
			MCP:       &formats.MCP{Files: mcpFiles, Key: "mcpServers"},
			Allowed:   &formats.Allowed{Files: ruleFiles, Member: []string{"permissions", "allow"}, Tool: "Shell"},
			Hash:      filename.HashOf,
			IsHash:    filename.IsHash,
			SideFiles: append(sqlitefile.SideFiles(), ".json"),
		},
		Mover:  mover(),
		Check:  check(bench),
		Repair: repair,
		Merge:  merge(shape),
	}
}

const storeName = "store.db"

var uuidName = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)

func probe(ctx context.Context, l *formats.Location) (formats.Match, error) {
	file := l.Path
	if l.IsDir() {
		if !l.Has(storeName) || !sqlitestore.HasHeader(l.Path, storeName) {
			return formats.Match{}, nil
		}
		if m := byPlace(l); m.Score > 0 {
			return m, nil
		}
		if hasFolders(l.Path) {
			return formats.Match{}, nil // claiming this folder would hide stores below it
		}
		file = filepath.Join(l.Path, storeName)
	} else if !sqlitefile.IsDatabase(l.Head()) {
		return formats.Match{}, nil
	}
	tables, err := sqlitefile.Peek(ctx, file)
	if err != nil {
		return formats.Match{}, nil // opening it will say why
	}
	slices.Sort(tables)
	if !slices.Equal(tables, []string{"blobs", "meta"}) {
		return formats.Match{}, nil
	}
	return formats.Match{Score: 80, Evidence: []string{"a SQLite database with exactly the tables blobs and meta"}}, nil
}

// hasFolders reports whether a folder contains folders, which that of a chat does not.
func hasFolders(dir string) bool {
	list, err := os.ReadDir(dir)
	return err != nil || slices.ContainsFunc(list, fs.DirEntry.IsDir)
}

// byPlace recognizes a chat by its folder, without opening anything.
func byPlace(l *formats.Location) formats.Match {
	abs, err := filepath.Abs(l.Path)
	if err != nil || !uuidName.MatchString(filepath.Base(abs)) {
		return formats.Match{}
	}
	parent := filepath.Base(filepath.Dir(abs))
	if !filename.IsHash(parent) && parent != "acp-sessions" {
		return formats.Match{}
	}
	return formats.Match{Score: 95, Evidence: []string{
		"the folder name is a chat id, and its parent's is a workspace hash or acp-sessions",
		storeName + " starts with the SQLite header",
	}}
}

// use returns what a file in the folder of a chat is: the database and the JSON files
// beside it belong to the chat.
func use(rel string) sqlitestore.Use {
	switch {
	case rel == storeName:
		return sqlitestore.Database
	case !strings.Contains(rel, "/") && strings.HasSuffix(rel, ".json"):
		return sqlitestore.Plain
	case formats.IsSidecar(rel): // an earlier conversion's
		return sqlitestore.Skip
	}
	return sqlitestore.Aside
}

func shard(set *store.Set, r store.Record) formats.Shard {
	if n := uint64(r.RowID()) >> 16; set.RowIDs && n > 0 {
		return formats.Shard{Name: fmt.Sprintf("r-%04x", n)}
	}
	return formats.Shard{}
}

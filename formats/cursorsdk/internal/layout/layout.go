// Package layout knows where the Cursor SDK keeps its files: state roots, the
// projects around them, and what else may lie there.
package layout

import (
	"cmp"
	"os"
	"path/filepath"

	"rehome/formats"
	"rehome/formats/internal/sdkstore"
	"rehome/formats/internal/sqlitefile"
)

const (
	RootsName = "sdk-agent-store"

	ProjectsName = "projects" // of Cursor's data folder
)

// StateRoot is the location itself; for an index.db, the state root that it
// stands for.
func StateRoot(l *formats.Location) (*formats.Location, error) {
	if l.IsRegular() && l.Name() == sdkstore.IndexName {
		return formats.Locate(filepath.Dir(l.Path))
	}
	return l, nil
}

// Project reports a folder of the client's for one project: its state roots lie
// in a folder of it. Newer versions keep those of all projects in a folder of
// that name in Cursor's data folder, which is no store: chats and projects lie
// beside it.
func Project(l *formats.Location) bool {
	return l.Has(RootsName) && !l.Has(ProjectsName) && !l.Has("chats") && l.Name() != ".cursor"
}

// IsText reports whether all state roots of a project are text, as in a backup: their
// databases are folders.
func IsText(l *formats.Location) (text bool) {
	list, _ := os.ReadDir(filepath.Join(l.Path, RootsName))
	for _, e := range list {
		if info, err := os.Stat(filepath.Join(l.Path, RootsName, e.Name(), sdkstore.IndexName)); err == nil {
			if !info.IsDir() {
				return false
			}
			text = true
		}
	}
	return text
}

// Surroundings are where a state root lies: in a project, or in Cursor's data
// folder.
type Surroundings struct {
	folder     string            // "" for a state root that lies in neither
	Workspaces map[string]string // by agent; nil in a project
}

func (s Surroundings) Data() bool { return s.Workspaces != nil }

// Around looks at the path of a state root.
func Around(root string) Surroundings {
	real, _ := filepath.EvalSymlinks(root)
	real, err := filepath.Abs(cmp.Or(real, root))
	if err != nil || filepath.Base(filepath.Dir(real)) != RootsName {
		return Surroundings{}
	}
	s := Surroundings{folder: filepath.Dir(filepath.Dir(real))}
	if l, err := formats.Locate(s.folder); err == nil && !Project(l) {
		s.Workspaces = map[string]string{}
	}
	return s
}

// Project is the folder of the project that an agent works in, "" if it is not
// known.
func (s Surroundings) Project(agent string) string {
	if !s.Data() {
		return s.folder
	}
	if workspace := s.Workspaces[agent]; workspace != "" {
		return filepath.Join(s.folder, ProjectsName, Slug(workspace))
	}
	return ""
}

// Options are those of a view for its databases.
func Options(v formats.View) sqlitefile.Options {
	return sqlitefile.Options{Live: v.Live, OnNotice: v.OnNotice, Verbose: v.Verbose}
}

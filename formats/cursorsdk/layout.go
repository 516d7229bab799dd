package cursorsdk

import (
	"cmp"
	"path/filepath"

	"rehome/formats"
	"rehome/formats/internal/sdkstore"
	"rehome/formats/internal/sqlitefile"
)

const (
	rootsName = "sdk-agent-store"

	projectsName = "projects" // of Cursor's data folder
)

// stateRoot is the location itself; for an index.db, the state root that it
// stands for.
func stateRoot(l *formats.Location) (*formats.Location, error) {
	if l.IsRegular() && l.Name() == sdkstore.IndexName {
		return formats.Locate(filepath.Dir(l.Path))
	}
	return l, nil
}

// project reports a folder of the client's for one project: its state roots lie
// in a folder of it. Newer versions keep those of all projects in a folder of
// that name in Cursor's data folder, which is no store: chats and projects lie
// beside it.
func project(l *formats.Location) bool {
	return l.Has(rootsName) && !l.Has(projectsName) && !l.Has("chats") && l.Name() != ".cursor"
}

// surroundings are where a state root lies: in a project, or in Cursor's data
// folder.
type surroundings struct {
	folder     string            // "" for a state root that lies in neither
	workspaces map[string]string // by agent; nil in a project
}

func (s surroundings) data() bool { return s.workspaces != nil }

// around looks at the path of a state root.
func around(root string) surroundings {
	real, _ := filepath.EvalSymlinks(root)
	real, err := filepath.Abs(cmp.Or(real, root))
	if err != nil || filepath.Base(filepath.Dir(real)) != rootsName {
		return surroundings{}
	}
	s := surroundings{folder: filepath.Dir(filepath.Dir(real))}
	if l, err := formats.Locate(s.folder); err == nil && !project(l) {
		s.workspaces = map[string]string{}
	}
	return s
}

// project is the folder of the project that an agent works in, "" if it is not
// known.
func (s surroundings) project(agent string) string {
	if !s.data() {
		return s.folder
	}
	if workspace := s.workspaces[agent]; workspace != "" {
		return filepath.Join(s.folder, projectsName, slug(workspace))
	}
	return ""
}

// options are those of a view for its databases.
func options(v formats.View) sqlitefile.Options {
	return sqlitefile.Options{Live: v.Live, OnNotice: v.OnNotice, Verbose: v.Verbose}
}

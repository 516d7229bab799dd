package layout

import (
	"os"
	"path"
	"path/filepath"
	"strings"

	"rehome/formats"
	"rehome/formats/internal/sdkdoc"
	"rehome/formats/internal/sdkstore"
	"rehome/formats/internal/sqlitestore"
)

// Shape is what a state root looks like, or a project folder around some.
func Shape(project bool) sqlitestore.Shape {
	s := TextShape(project)
	s.Use = func(rel string) sqlitestore.Use {
		if as := use(rel, project); as != sqlitestore.Database || own(rel, project) {
			return as
		}
		return sqlitestore.Aside
	}
	return s
}

// TextShape is what text of an earlier version may become: that took every
// database of the right name for the SDK's, wherever it lay.
func TextShape(project bool) sqlitestore.Shape {
	return sqlitestore.Shape{Origin: sdkstore.FormatName, Hollow: true, Use: func(rel string) sqlitestore.Use { return use(rel, project) }}
}

// own reports a place where the SDK keeps a database: index.db in a state root,
// store.db in the folder of an agent.
func own(rel string, project bool) bool {
	if project {
		parts := strings.SplitN(rel, "/", 3)
		rel = parts[len(parts)-1]
	}
	dir, base := path.Split(rel)
	return base == sdkstore.IndexName && dir == "" || base == sdkstore.StoreName && path.Dir(path.Clean(dir)) == "agents"
}

// use takes the databases of a state root, and of a project folder its state
// roots; of both the transcripts. Else the SDK keeps nothing there: what lies
// about may be anything, a copy of a database included.
func use(rel string, project bool) sqlitestore.Use {
	top, rest, _ := strings.Cut(rel, "/")
	if project && (top != RootsName && top != sdkdoc.Transcripts || top == RootsName && SetAside(rest)) {
		return sqlitestore.Skip
	}
	switch base := path.Base(rel); {
	case sdkdoc.Noise(base) && !strings.HasSuffix(rel, "/"):
		return sqlitestore.Skip
	case top == sdkdoc.Transcripts && rest != "" || strings.HasSuffix(rel, "/"):
		return sqlitestore.Plain
	case base == sdkstore.IndexName || base == sdkstore.StoreName:
		return sqlitestore.Database
	}
	return sqlitestore.Aside
}

// SetAside reports what an earlier conversion into a project has left beside
// the state root: an older one, and sidecars.
func SetAside(rel string) bool {
	root, _, _ := strings.Cut(rel, "/")
	return strings.Contains(root, ".bak-") || formats.IsSidecar(root)
}

// Within is the one state root of a project folder, or that of an index.db.
func Within(l *formats.Location) (root string) {
	if l.IsRegular() && l.Name() == sdkstore.IndexName {
		return filepath.Dir(l.Path)
	}
	if !l.IsDir() || !Project(l) {
		return ""
	}
	at := filepath.Join(l.Path, RootsName)
	list, _ := os.ReadDir(at)
	for _, e := range list {
		if SetAside(e.Name()) || !sqlitestore.HasHeader(filepath.Join(at, e.Name()), sdkstore.IndexName) {
			continue
		}
		if root != "" {
			return ""
		}
		root = filepath.Join(at, e.Name())
	}
	return root
}

// LeftAside says what of a project is set aside.
func LeftAside(l *formats.Location) (out []string) {
	if !l.IsDir() || !Project(l) {
		return nil
	}
	list, _ := os.ReadDir(filepath.Join(l.Path, RootsName))
	for _, e := range list {
		if SetAside(e.Name()) && !formats.IsSidecar(e.Name()) {
			out = append(out, filepath.Join(l.Path, RootsName, e.Name())+" skipped: a backup made by --replace")
		}
	}
	return out
}

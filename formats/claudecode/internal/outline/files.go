package outline

import (
	"cmp"
	"context"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"rehome/formats"
	"rehome/formats/internal/rawjson"
)

// Store is an open config folder, project folder or file.
type Store struct {
	Root     *os.Root
	Backups  *os.Root // earlier contents of changed files; nil if there are none
	Sessions []*File  // parents before their children
	Others   int      // files that are not sessions
}

// File is the file of a session.
type File struct {
	Path   string // relative to the root, with slashes
	ID     string
	Parent *File
	Kids   []*File
	Named  map[string]bool // ids of Kids
	// Of a subagent, from its .meta.json file.
	Kind, Title, Call string
}

// Side returns the folder with the other files of a session.
func (e *File) Side() string { return strings.TrimSuffix(e.Path, Ending) }

// OpenStore opens a config folder, a project's folder or a file, and lists its sessions.
func OpenStore(l *formats.Location) (*Store, error) {
	dir, only := l.Path, ""
	if !l.IsDir() {
		dir, only = filepath.Dir(l.Path), filepath.Base(l.Path)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	s := &Store{Root: root, Backups: openBackups(l)}
	if only != "" {
		s.add(&File{Path: only, ID: strings.TrimSuffix(only, Ending)})
	} else if err := s.list(l.Has("projects")); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Close closes the folders.
func (s *Store) Close() {
	s.Root.Close()
	if s.Backups != nil {
		s.Backups.Close()
	}
}

// Projects lists the folders of projects: dir itself, or for a config folder those
// below projects. others counts what else is there.
func Projects(fsys fs.FS, config bool) (dirs []string, others int, err error) {
	if !config {
		return []string{"."}, 0, nil
	}
	list, err := fs.ReadDir(fsys, "projects")
	for _, e := range list {
		if e.IsDir() {
			dirs = append(dirs, path.Join("projects", e.Name()))
		} else {
			others++
		}
	}
	return dirs, others, err
}

// Subagents lists the files of the subagents of a session, by its side folder.
func Subagents(fsys fs.FS, side string) (files []string) {
	fs.WalkDir(fsys, path.Join(side, "subagents"), func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return fs.SkipDir // a folder that cannot be listed counts as empty
		}
		if d.Type().IsRegular() && strings.HasPrefix(d.Name(), "agent-") && path.Ext(d.Name()) == Ending {
			files = append(files, p)
		}
		return nil
	})
	return files
}

func (s *Store) list(config bool) error {
	dirs, others, err := Projects(s.Root.FS(), config)
	s.Others = others
	for i := 0; i < len(dirs) && err == nil; i++ {
		err = s.project(dirs[i])
	}
	return err
}

// project lists the sessions of a project. Older clients store the files of
// subagents in the same folder.
func (s *Store) project(dir string) error {
	list, err := fs.ReadDir(s.Root.FS(), dir)
	if err != nil {
		return err
	}
	for _, e := range list {
		id, ok := strings.CutSuffix(e.Name(), Ending)
		switch {
		case ok && e.Type().IsRegular() && (IsUUID(id) || strings.HasPrefix(id, "agent-")):
			s.add(&File{Path: path.Join(dir, e.Name()), ID: id})
		case !e.IsDir():
			s.Others++
		}
	}
	return nil
}

// add adds a session and its subagents.
func (s *Store) add(e *File) {
	s.Sessions = append(s.Sessions, e)
	for _, p := range Subagents(s.Root.FS(), e.Side()) {
		kid := &File{Path: p, ID: strings.TrimSuffix(path.Base(p), Ending), Parent: e}
		s.meta(kid)
		e.Kids = append(e.Kids, kid)
	}
	slices.SortFunc(e.Kids, func(a, b *File) int { return cmp.Compare(a.Path, b.Path) })
	e.Named = map[string]bool{}
	for _, kid := range e.Kids {
		id := kid.ID
		for n := 1; e.Named[kid.ID]; n++ { // two folders can have one name
			if kid.ID = path.Base(path.Dir(kid.Path)) + "-" + id; n > 1 {
				kid.ID += "-" + strconv.Itoa(n)
			}
		}
		e.Named[kid.ID] = true
		s.Sessions = append(s.Sessions, kid)
	}
}

// meta reads the .meta.json file of a subagent.
func (s *Store) meta(e *File) {
	const most = 64 << 10
	name := e.Side() + ".meta.json"
	info, err := s.Root.Stat(name)
	if err != nil || info.Size() > most || !info.Mode().IsRegular() {
		return
	}
	b, err := fs.ReadFile(s.Root.FS(), name)
	if err != nil {
		return
	}
	if doc, _, err := rawjson.Line(b); err == nil {
		e.Kind, e.Title, e.Call = Text(doc, "agentType"), Text(doc, "description"), Text(doc, "toolUseId")
	}
}

// Failure returns err as an error of this format, or the error of ctx if it ended.
func Failure(ctx context.Context, at string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return &formats.Error{Format: FormatName, At: at, Err: formats.Cause(err)}
}

// FormatName is the name of the format.
const FormatName = "claude-code"

// Ending is the extension of a session's file.
const Ending = ".jsonl"

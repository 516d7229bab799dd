package claudecode

import (
	"cmp"
	"context"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"rehome/formats"
	"rehome/formats/internal/rawjson"
)

// shelf is a store opened: its sessions, parents before their children.
type shelf struct {
	root     *os.Root
	backups  *os.Root // of files that sessions changed; nil if there are none
	sessions []*entry
	others   int // files that are no sessions
}

// entry is a file with a session in it.
type entry struct {
	path   string // slash path below the root
	id     string
	parent *entry
	kids   []*entry
	named  map[string]bool // the ids of these
	// Of a subagent, from the file beside it.
	kind, title, call string
}

// side is the folder of what belongs to a session.
func (e *entry) side() string { return strings.TrimSuffix(e.path, ending) }

// openShelf lists the files of a config folder, a project's folder or a file.
func openShelf(l *formats.Location) (*shelf, error) {
	dir, only := l.Path, ""
	if !l.IsDir() {
		dir, only = filepath.Dir(l.Path), filepath.Base(l.Path)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	s := &shelf{root: root, backups: openBackups(l)}
	switch {
	case only != "":
		err = s.one(only)
	case l.Has("projects"):
		err = s.config()
	default:
		err = s.project(".")
	}
	if err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *shelf) close() {
	s.root.Close()
	if s.backups != nil {
		s.backups.Close()
	}
}

func (s *shelf) config() error {
	list, err := fs.ReadDir(s.root.FS(), "projects")
	if err != nil {
		return err
	}
	for _, e := range list {
		if !e.IsDir() {
			s.others++
			continue
		}
		if err := s.project(path.Join("projects", e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// project lists the sessions of a project. Files of older clients that are
// named after a subagent lie beside them.
func (s *shelf) project(dir string) error {
	list, err := fs.ReadDir(s.root.FS(), dir)
	if err != nil {
		return err
	}
	for _, e := range list {
		id, ok := strings.CutSuffix(e.Name(), ending)
		switch {
		case ok && e.Type().IsRegular() && (isUUID(id) || strings.HasPrefix(id, "agent-")):
			s.add(&entry{path: path.Join(dir, e.Name()), id: id})
		case !e.IsDir():
			s.others++
		}
	}
	return nil
}

// one is a file that somebody points at, whatever it is called.
func (s *shelf) one(file string) error {
	s.add(&entry{path: file, id: strings.TrimSuffix(file, ending)})
	return nil
}

// add enters a session and its subagents.
func (s *shelf) add(e *entry) {
	s.sessions = append(s.sessions, e)
	at := path.Join(e.side(), "subagents")
	if info, err := s.root.Stat(at); err != nil || !info.IsDir() {
		return
	}
	fs.WalkDir(s.root.FS(), at, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return fs.SkipDir
		}
		id, ok := strings.CutSuffix(d.Name(), ending)
		if ok && d.Type().IsRegular() && strings.HasPrefix(id, "agent-") {
			kid := &entry{path: p, id: id, parent: e}
			s.meta(kid)
			e.kids = append(e.kids, kid)
		}
		return nil
	})
	slices.SortFunc(e.kids, func(a, b *entry) int { return cmp.Compare(a.path, b.path) })
	e.named = map[string]bool{}
	for _, kid := range e.kids {
		id := kid.id
		for n := 1; e.named[kid.id]; n++ { // two folders can have one name
			if kid.id = path.Base(path.Dir(kid.path)) + "-" + id; n > 1 {
				kid.id += "-" + itoa(int64(n))
			}
		}
		e.named[kid.id] = true
		s.sessions = append(s.sessions, kid)
	}
}

// meta reads what the client keeps beside a subagent's file.
func (s *shelf) meta(e *entry) {
	const most = 64 << 10
	name := e.side() + ".meta.json"
	info, err := s.root.Stat(name)
	if err != nil || info.Size() > most || !info.Mode().IsRegular() {
		return
	}
	b, err := fs.ReadFile(s.root.FS(), name)
	if err != nil {
		return
	}
	if doc, _, err := rawjson.Line(b); err == nil {
		e.kind, e.title, e.call = text(doc, "agentType"), text(doc, "description"), text(doc, "toolUseId")
	}
}

func failure(ctx context.Context, at string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return &formats.Error{Format: name, At: at, Err: formats.Cause(err)}
}

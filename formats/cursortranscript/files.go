package cursortranscript

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"rehome/formats"
	"rehome/formats/internal/transcript"
	"rehome/formats/session"
)

// folder is a store opened: its sessions by their names.
type folder struct {
	root     *os.Root
	within   string // what the root's path is, from the folder of transcripts on
	slug     string
	sessions []*entry // parents, each before its children, by name
	others   int      // files that are no transcripts
}

// entry is a session and its files.
type entry struct {
	id       string
	parent   string
	best     transcript.File
	lesser   []transcript.File
	children []session.Link
	results  bool // the old text has some
}

// open lists the files of a store.
func open(l *formats.Location) (*folder, error) {
	dir, only := l.Path, ""
	if !l.IsDir() {
		dir, only = filepath.Dir(l.Path), filepath.Base(l.Path)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	f := &folder{root: root, within: inside(dir)}
	if f.within == "" {
		f.within = transcript.Folder
	}
	if abs, err := filepath.Abs(dir); err == nil && inside(dir) != "" {
		up := filepath.Dir(filepath.Join(abs, strings.Repeat("../", strings.Count(f.within, "/"))))
		if filepath.Base(filepath.Dir(up)) == "projects" {
			f.slug = filepath.Base(up)
		}
	}
	byID := map[[2]string]*entry{}
	if only != "" {
		f.add(byID, only)
	} else if err = f.walk(byID); err != nil {
		root.Close()
		return nil, err
	}
	f.order(byID)
	return f, nil
}

func (f *folder) walk(byID map[[2]string]*entry) error {
	return fs.WalkDir(f.root.FS(), ".", func(p string, e fs.DirEntry, err error) error {
		switch {
		case err != nil && p == ".":
			return err
		case err != nil:
			f.others++
			return fs.SkipDir
		case e.IsDir() && strings.Count(path.Join(f.within, p), "/") > 2:
			return fs.SkipDir
		case e.Type().IsRegular():
			f.add(byID, p)
		}
		return nil
	})
}

// add takes a file in. A file that was pointed at needs no place of its own.
func (f *folder) add(byID map[[2]string]*entry, p string) {
	t, ok := transcript.Named(path.Join(f.within, p))
	if !ok {
		t, ok = transcript.Named(path.Join(transcript.Folder, path.Base(p)))
		if !ok || strings.Contains(p, "/") || f.within != transcript.Folder && strings.Count(f.within, "/") < 3 {
			f.others++
			return
		}
	}
	t.Path = p
	key := [2]string{t.Parent, t.Name}
	e := byID[key]
	if e == nil {
		byID[key] = &entry{id: t.Name, parent: t.Parent, best: t}
		return
	}
	if rank(t) < rank(e.best) {
		t, e.best = e.best, t
	}
	e.lesser = append(e.lesser, t)
}

// rank orders the files of one session, the best first.
func rank(t transcript.File) int {
	n := 0
	if t.Text {
		n = 2
	}
	if path.Dir(t.Path) == "." || path.Base(path.Dir(t.Path)) == transcript.Folder {
		n++
	}
	return n
}

// order puts parents in front of their children, who stand where their parent
// would if it is not there.
func (f *folder) order(byID map[[2]string]*entry) {
	for key, e := range byID {
		f.sessions = append(f.sessions, e)
		if p := byID[[2]string{"", key[0]}]; key[0] != "" && p != nil {
			p.children = append(p.children, session.Link{Session: e.id})
		}
	}
	slices.SortFunc(f.sessions, func(a, b *entry) int { return slices.Compare(a.key(), b.key()) })
	for _, e := range f.sessions {
		slices.SortFunc(e.children, func(a, b session.Link) int { return strings.Compare(a.Session, b.Session) })
	}
}

func (e *entry) key() []string {
	if e.parent != "" {
		return []string{e.parent, e.id}
	}
	return []string{e.id}
}

// agent is the client whose session this is, as far as its name tells.
func (e *entry) agent() string {
	if strings.HasPrefix(e.id, "agent-") || strings.HasPrefix(e.parent, "agent-") {
		return session.CursorSDK
	}
	return session.CursorCLI
}

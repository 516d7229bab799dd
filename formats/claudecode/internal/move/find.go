// Package move copies the sessions of a project folder that was moved to where Claude Code
// looks for those of the new one.
//
// The names of the folders of projects are lossy, so a session belongs to the folder that
// its lines state. The client lists and resumes by that name and by the member cwd of the
// lines. What else names a folder is what somebody said, and stays as it is.
package move

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"rehome/formats"
	"rehome/formats/claudecode/internal/outline"
	"rehome/formats/claudecode/internal/shape"
	"rehome/formats/internal/lines"
	"rehome/internal/rawjson"
)

// memory is the folder in which the client keeps what it learned about a project.
const memory = "memory"

// finder finds the pieces below one folder of projects.
type finder struct {
	ctx   context.Context
	mv    *formats.Moved
	root  string
	yield func(formats.Piece, error) bool
}

// Find returns formats.Mover.Find for config folders, and the file with the settings of projects.
func Find(home func(formats.Machine) []string, settings func(formats.Machine) string) func(context.Context, formats.Machine, *formats.Moved) iter.Seq2[formats.Piece, error] {
	return func(ctx context.Context, m formats.Machine, mv *formats.Moved) iter.Seq2[formats.Piece, error] {
		return func(yield func(formats.Piece, error) bool) {
			for _, config := range home(m) {
				f := &finder{ctx, mv, filepath.Join(config, "projects"), yield}
				if !f.projects() {
					return
				}
			}
			if file := settings(m); names(file, mv) {
				yield(formats.Piece{From: file, Left: "the client's settings of this folder, such as MCP servers and allowed tools, in a file that it keeps rewriting",
					Hint: "add the MCP servers again in " + mv.New + "; the client asks for the rest"}, nil)
			}
		}
	}
}

// maxSettings bounds the file with the settings.
const maxSettings = 16 << 20

// names reports whether the file with the settings of projects has some of the folder.
func names(file string, mv *formats.Moved) bool {
	if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() || info.Size() > maxSettings {
		return false
	}
	doc, err := os.ReadFile(file)
	if err != nil || !rawjson.Valid(doc) {
		return false
	}
	for name := range rawjson.Members(rawjson.Last(doc, "projects")) {
		if _, in := mv.Path(string(name)); in {
			return true
		}
	}
	return false
}

// projects looks into the folders whose names can be those of the folder that was moved, or
// of one in it.
func (f *finder) projects() bool {
	list, err := os.ReadDir(f.root)
	if errors.Is(err, fs.ErrNotExist) {
		return true
	}
	if err != nil {
		return f.yield(formats.Piece{}, err)
	}
	for _, e := range list {
		for _, old := range f.mv.Old {
			if !named(e.Name(), old) {
				continue
			}
			if !f.project(filepath.Join(f.root, e.Name())) {
				return false
			}
			break
		}
	}
	return true
}

// maxStart is how much of a long name is not its hash.
const maxStart = 200

// named reports whether a name can be that of a folder, or of one in it.
func named(name, folder string) bool {
	whole := outline.FolderName(folder)
	start := outline.FolderName(folder + "/")
	return name == whole || strings.HasPrefix(name, start[:min(len(start), maxStart)])
}

// project yields the pieces of the folder of a project.
func (f *finder) project(dir string) bool {
	list, err := os.ReadDir(dir)
	if err != nil {
		return f.yield(formats.Piece{}, err)
	}
	shared, name := false, filepath.Base(dir)
	own := f.mv.Named(func(old string) bool { return outline.FolderName(strings.TrimRight(old, "/")) == name })
	cwds := map[string]string{} // of the sessions
	for _, e := range list {
		if !isSession(e) {
			continue
		}
		cwd, err := f.cwd(filepath.Join(dir, e.Name()), name)
		if err != nil && !f.yield(formats.Piece{}, err) {
			return false
		}
		to, in := f.mv.Path(cwd)
		switch {
		case in:
			cwds[e.Name()] = to
			if outline.FolderName(cwd) == name && own == "" {
				own = to // the folder is that of one inside
			}
		case cwd != "":
			shared = true
		default:
			cwds[e.Name()] = ""
		}
	}
	for _, e := range list {
		if !f.entry(dir, e, cwds, own, shared) {
			return false
		}
	}
	return true
}

func isSession(e fs.DirEntry) bool {
	return e.Type().IsRegular() && filepath.Ext(e.Name()) == outline.Ending
}

// entry yields the piece that an entry of the folder of a project is, and says why if it
// stays. Folders of sessions are yielded with their sessions.
func (f *finder) entry(dir string, e fs.DirEntry, cwds map[string]string, own string, shared bool) bool {
	p := formats.Piece{From: filepath.Join(dir, e.Name()), Cwd: own, Root: f.root, Folder: e.IsDir()}
	cwd, known := cwds[e.Name()]
	id := strings.TrimSuffix(e.Name(), outline.Ending)
	if _, of := cwds[id+outline.Ending]; e.IsDir() && (of || formats.IsUUID(id)) {
		return of || shared || own == "" || f.send(p, id) // else what is left of a session that was deleted
	}
	switch {
	case isSession(e) && cwd != "":
		p.ID, p.Prompts, p.Cwd = id, true, cwd
	case own == "" || isSession(e) && !known:
		return true // of another folder with the same name
	case isSession(e):
		p.ID, p.Prompts = id, true
		if shared {
			p.Left = "none of its lines says to which folder it belongs"
		}
	case !e.IsDir() && !e.Type().IsRegular():
		p.Left = "not a regular file"
	case shared:
		p.Left = "other folders have the same name in Claude Code, so it may be theirs"
	}
	if p.Left != "" {
		p.Hint = "copy it yourself if it belongs to " + f.mv.New
		return f.yield(p, nil)
	}
	if !f.side(dir, id, p) {
		return false
	}
	return f.send(p, e.Name())
}

// side yields the folder with the other files of a session, before the session.
func (f *finder) side(dir, id string, of formats.Piece) bool {
	info, err := os.Lstat(filepath.Join(dir, id))
	if !of.Prompts || err != nil || !info.IsDir() {
		return true
	}
	to := filepath.Join(f.root, outline.FolderName(of.Cwd))
	return f.send(formats.Piece{ID: id, From: filepath.Join(dir, id), Cwd: of.Cwd, Root: f.root, Folder: true, Of: filepath.Join(to, id+outline.Ending)}, id)
}

// send yields a piece that goes into the folder of its project.
func (f *finder) send(p formats.Piece, name string) bool {
	p.To = filepath.Join(f.root, outline.FolderName(p.Cwd), name)
	if name != memory || !p.Folder {
		return f.yield(p, nil)
	}
	return f.memories(p)
}

// memories yields the files of a folder one by one: the client may have one for NEW already.
func (f *finder) memories(p formats.Piece) bool {
	err := filepath.WalkDir(p.From, func(at string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		rel, err := filepath.Rel(p.From, at)
		if err != nil {
			return err
		}
		one := p
		one.From, one.To, one.Folder = at, filepath.Join(p.To, rel), false
		if !e.Type().IsRegular() {
			one.Left, one.Hint = "not a regular file", "copy it yourself"
		}
		if !f.yield(one, nil) {
			return fs.SkipAll
		}
		return nil
	})
	return err == nil || f.yield(formats.Piece{}, err)
}

// cwd returns the folder that a session belongs to: of those that its lines state the one
// after which the folder of its project is named, else the first.
func (f *finder) cwd(file, name string) (string, error) {
	in, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer in.Close()
	first, last := "", ""
	for l, err := range lines.Each(f.ctx, in, maxLine) {
		if err != nil {
			return "", err
		}
		for _, s := range find(l) {
			switch {
			case s.text == last || s.name != shape.Names[shape.Cwd]:
			case outline.FolderName(s.text) == name:
				return s.text, nil
			case first == "":
				first = s.text
			}
			last = s.text
		}
	}
	return first, nil
}
